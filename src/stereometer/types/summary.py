"""A result in a few lines, for `print` and for notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stereometer.types.results import Estimate, Result

SHOWN = 12
"""Rows, at most."""
HEAD = ("", "", "value", "n / asked", "verdict")


def title(result: Result) -> str:
    return " · ".join((result.benchmark, result.model, result.measure, result.variant))


def rows(result: Result) -> list[tuple[str, ...]]:
    """Overall values first, then slices as far as there is room."""
    ordered = sorted(result.estimates, key=lambda estimate: len(estimate.slice))
    return [_row(estimate) for estimate in ordered[:SHOWN]]


def _row(estimate: Estimate) -> tuple[str, ...]:
    where = " / ".join(estimate.slice.values())
    used = f"{estimate.n} / {estimate.asked}"
    return (estimate.name, where, _value(estimate), used, estimate.verdict or estimate.why or "")


def _value(estimate: Estimate) -> str:
    if estimate.value is None:
        return "none"
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.4g}"
    return f"{estimate.value:.4g} [{estimate.low:.4g}, {estimate.high:.4g}]"


def rest(result: Result) -> str:
    """How to get at what is not shown."""
    more = len(result.estimates) - SHOWN
    return f"{more} more estimates: result.rows()" if more > 0 else ""


def as_text(result: Result) -> str:
    table = [HEAD, *rows(result)]
    widths = [max(len(row[at]) for row in table) for at in range(len(HEAD))]
    return "\n".join(filter(None, [title(result), *_aligned(table, widths), rest(result)]))


def _aligned(table: Sequence[Sequence[str]], widths: Sequence[int]) -> Iterator[str]:
    for row in table:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width)
        yield "  ".join(cells).rstrip()


def as_html(result: Result) -> str:
    head, *body = (
        "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row)
        for tag, row in [("th", HEAD), *(("td", row) for row in rows(result))]
    )
    lines = "".join(f"<tr>{row}</tr>" for row in body)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    return f"<p><b>{escape(title(result))}</b></p>{table}<p>{escape(rest(result))}</p>"
