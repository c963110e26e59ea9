"""What `pack check` prints: what came out of a pack, and what pack.toml may state of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stereometer.cli import render

if TYPE_CHECKING:
    from stereometer.benchmarks.packs.source import PackCheck


def print_check(outcome: PackCheck) -> None:
    render.line(
        f" ({outcome.language}, {outcome.country}, {outcome.origin}, {outcome.licence})",
        bold=outcome.name,
    )
    if outcome.digest:
        render.line(f"read: {', '.join(outcome.files)}")
        render.line(f"types: {_counts(outcome.types)}")
        if outcome.skipped:
            render.line(f"cannot be scored: {_counts(outcome.skipped)}")
        render.line("what pack.toml may state:\n")
        render.line(_stated(outcome), soft_wrap=True)
    render.notes(outcome.notes)


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _stated(outcome: PackCheck) -> str:
    """The lines to copy."""
    counts = ", ".join(f"{shape} = {count}" for shape, count in outcome.counts.items())
    files = [
        line
        for name, digest in zip(outcome.files, outcome.sha256, strict=False)
        for line in ("[[files]]", f'name = "{name}"', f'sha256 = "{digest}"', "")
    ]
    expect = ("[expect]", f"counts = {{ {counts} }}", f'digest = "{outcome.digest}"')
    return "\n".join((*files, *expect, "verified = true\n"))
