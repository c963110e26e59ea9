"""Results as tables on a terminal. Every number stands with its interval, its denominator and its ideal."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stereometer.cli.trait_tables import is_profile, print_profile
from stereometer.files import to_json
from stereometer.findings.compare import NO_DIFFERENCE, Compared, Comparison, Difference, kinds
from stereometer.types import Estimate, Result, Slice

PIPE_WIDTH = 200
"""Tables in a pipe are not squeezed into 80 columns."""


def console() -> Console:
    return (
        Console(highlight=False)
        if sys.stdout.isatty()
        else Console(highlight=False, width=PIPE_WIDTH)
    )


def print_json(value: object) -> None:
    sys.stdout.write(to_json(value) + "\n")


def named(slice_: Slice) -> str:
    return escape(" / ".join(slice_.values())) or "overall"


def p_value(p: float | None) -> str:
    return "" if p is None else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def cell(one: Estimate | None) -> str:
    """Value and interval, or why there is none; the published value under it."""
    if one is None:
        return ""
    if one.value is None:
        return "none"
    if one.published is not None:
        return f"{one.value:.2f} \\[{one.low:.1f}, {one.high:.1f}]\npublished {one.published.value:.2f}"
    return f"{one.value:.1f} \\[{one.low:.1f}, {one.high:.1f}]"


def print_results(results: Iterable[Result]) -> None:
    for result in results:
        print_result(result)


def print_summary(results: Sequence[Result]) -> None:
    """Several models: one table for each benchmark, measure and variant, a row a model, the overall values."""
    out = console()
    groups: dict[tuple[str, str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.benchmark, result.measure, result.variant), []).append(result)
    for found in groups.values():
        first = found[0]
        if is_profile(first):
            print_results(found)
            continue
        out.print(
            f"\n[bold]{escape(first.data['title'])}[/] · {first.measure} · variant {first.variant}"
        )
        for note in dict.fromkeys(
            [*(note for result in found for note in result.notes), *kinds(found)]
        ):
            out.print(f"  note: {escape(note)}")
        rows: Rows = {
            (("model", result.model),): {one.name: one for one in result.estimates if not one.slice}
            for result in found
        }
        out.print(
            _pair_table(rows)
            if "pair_preference" in next(iter(rows.values()))
            else _cat_table(rows)
        )
        out.print(_legend(found, rows))


def print_result(result: Result) -> None:
    """The headline slices; target terms are in result.json and in the report."""
    out = console()
    out.print(
        f"\n[bold]{escape(result.data['title'])}[/] · [bold]{escape(result.model)}[/] · {result.measure} · variant {result.variant} · {result.scoring}"
    )
    for note in result.notes:
        out.print(f"  note: {escape(note)}")
    if is_profile(result):
        print_profile(out, result)
        return
    rows: dict[tuple[tuple[str, str], ...], dict[str, Estimate]] = {}
    for one in result.estimates:
        if "target" not in one.slice:
            rows.setdefault(tuple(one.slice.items()), {})[one.name] = one
    out.print(_pair_table(rows) if "pair_preference" in rows[()] else _cat_table(rows))
    out.print(_legend([result], rows))


Rows = Mapping[tuple[tuple[str, str], ...], Mapping[str, Estimate]]


def _cat_table(rows: Rows) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in (
        "",
        "n / asked",
        "terms",
        "lms (ideal 100)",
        "ss (ideal 50)",
        "ties",
        "icat (ideal 100)",
        "what ss says",
    ):
        table.add_column(title, justify="left" if title in ("", "what ss says") else "right")
    for key, found in rows.items():
        lms, ss, icat = (found[name] for name in ("lms", "ss", "icat"))
        says = f"{ss.verdict} ({p_value(ss.p_adjusted)})" if ss.verdict else ""
        terms = f"{ss.terms}{FIXED if _fixed(ss) else ''}"
        table.add_row(
            named(dict(key)),
            f"{ss.n} / {ss.asked}",
            terms,
            cell(lms),
            cell(ss),
            str(ss.ties),
            cell(icat),
            says,
        )
    return table


FIXED = "*"


def _fixed(one: Estimate) -> bool:
    return "terms held fixed" in (one.interval or "")


def _pair_table(rows: Rows) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("", "n / asked", "ties", "preference (ideal 50)", "what it says"):
        table.add_column(title, justify="left" if title in ("", "what it says") else "right")
    for key, found in rows.items():
        one = found["pair_preference"]
        says = f"{one.verdict} ({p_value(one.p_adjusted)})" if one.verdict else ""
        table.add_row(named(dict(key)), f"{one.n} / {one.asked}", str(one.ties), cell(one), says)
    sure = rows.get((), {}).get("confidence_median_difference")
    if sure is not None and sure.value is not None:
        table.add_row(
            "confidence, won - lost",
            f"{sure.n} / {sure.asked}",
            "",
            f"{sure.value:.2f} \\[{sure.low:.2f}, {sure.high:.2f}]",
            "difference of medians, in percent (ideal 0)",
        )
    return table


def _legend(results: Sequence[Result], rows: Rows) -> str:
    """What the table leaves unsaid: why a value is missing, what was skipped, how to read the rest."""
    lines = []
    absent = {
        one.why: None
        for found in rows.values()
        for one in found.values()
        if one.value is None and one.name in SHOWN
    }
    lines += [f"none: {escape(str(why))}." for why in absent]
    for result in results:
        skipped = {
            reason: count
            for one in result.estimates
            if not one.slice
            for reason, count in one.skipped.items()
        }
        lines += [
            f"{escape(result.model)}: {count} items skipped ({escape(reason)})."
            for reason, count in skipped.items()
        ]
    poor = [
        named(dict(key))
        for key, found in rows.items()
        if "lms" in found and found["lms"].verdict not in (None, "better than chance")
    ]
    lines += (
        [f"lms is not distinguishable from chance, or worse, in: {', '.join(poor)}."]
        if poor
        else []
    )
    if any(_fixed(one) for found in rows.values() for one in found.values()):
        lines.append(
            f"{FIXED} fewer than ten terms: they are held fixed, and the interval speaks of these terms only."
        )
    level = float(results[0].settings["level"])
    lines.append(
        f"\\[low, high]: {level:.0%} intervals. p: against 50, Holm over the slices of the same kind."
    )
    lines.append("A score near 50 does not show that a model is free of bias.")
    return f"[dim]{chr(10).join(lines)}[/]"


SHOWN = ("lms", "ss", "icat", "pair_preference")


def rows_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Records as a table: texts to the left, numbers to the right, nothing where a value is not known."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name, value in rows[0].items():
        table.add_column(name, justify="left" if isinstance(value, str) else "right")
    for row in rows:
        table.add_row(
            *(
                ""
                if value is None
                else f"{value:.2f}"
                if isinstance(value, float)
                else escape(str(value))
                for value in row.values()
            )
        )
    return table


# ---------------------------------------------------------------------------------------- comparisons


def print_comparison(found: Comparison, every_slice: bool) -> None:
    """The overall differences and those beyond noise, and how many are not; or all."""
    out = console()
    out.print(
        f"\n[bold]{found.benchmark}[/] · {found.measure} · variant {found.variant} · {len(found.systems)} systems: second minus first, on the items both answered"
    )
    for note in found.notes:
        out.print(f"  note: {escape(note)}")
    for pair in found.pairs:
        out.print(
            f"\n[bold]{escape(pair.first)}[/] -> [bold]{escape(pair.second)}[/]: {pair.items} of {pair.asked} items"
        )
        shown = [
            one
            for one in pair.differences
            if every_slice or not one.slice or one.verdict != NO_DIFFERENCE
        ]
        out.print(_difference_table(shown))
        if len(shown) < len(pair.differences):
            out.print(
                f"{len(pair.differences) - len(shown)} differences in slices are not beyond noise (--every-slice lists them)."
            )
        for one in pair.withheld:
            out.print(f"{named(one.slice)}: not compared, {escape(one.why)}.")
        out.print(_flips(pair))
    out.print(
        "[dim]Intervals are of one difference at a time. p: adjusted (Holm) over every difference of that metric in slices of the same kind, across all pairs shown. "
        "Could be seen: the smallest true difference that one test, before correction, finds with 80 % power.[/]"
    )


def _difference_table(differences: Sequence[Difference]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in (
        "",
        "metric",
        "n",
        "first",
        "second",
        "difference",
        "p",
        "could be seen",
        "verdict",
    ):
        table.add_column(title, justify="left" if title in ("", "metric", "verdict") else "right")
    for one in differences:
        change = f"{one.difference:+.1f} \\[{one.low:+.1f}, {one.high:+.1f}]"
        verdict = (
            one.verdict
            if one.verdict.startswith("not")
            else f"{one.verdict}; {one.closer} is closer to {one.ideal:g}"
        )
        table.add_row(
            named(one.slice),
            one.name,
            str(one.n),
            f"{one.first:.1f}",
            f"{one.second:.1f}",
            change,
            p_value(one.p_adjusted),
            f"{one.detectable:.1f}",
            verdict,
        )
    return table


def _flips(pair: Compared) -> str:
    return f"{len(pair.flips)} items changed preference: {pair.toward_stereotype} toward the stereotype, {pair.toward_anti} away from it (their ids: --json)."


# ---------------------------------------------------------------------------------------------- plans


def print_plans(plans: Sequence[Mapping[str, Any]], json: bool) -> None:
    if json:
        print_json({"schema": "plan@1", "plans": list(plans)})
        return
    for plan in plans:
        console().print(
            f"{plan['benchmark']} · {plan['measure']} · {plan['model']}: {plan['items']} items, {plan['requests']} requests "
            f"({plan['distinct']} distinct), {plan['tokens']} tokens"
            + (f", about {plan['seconds']} s" if plan["seconds"] is not None else "")
        )
