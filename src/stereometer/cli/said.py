"""What a model said, as tables on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.markup import escape
from rich.table import Table

from stereometer.cli.tables import cell, console, named, p_value
from stereometer.types import Estimate, Result

SHOWN_REASONS = 3
SHOWN_ANSWERS = 12
"""Out-of-scope answers on a terminal; all of them are in --json and in the run."""

Rows = Mapping[tuple[tuple[str, str], ...], Mapping[str, Estimate]]
HEADLINE = ("accuracy", "precision", "recall", "f1")


def print_asked(result: Result, said: Mapping[str, Any]) -> None:
    out = console()
    asked = result.settings
    out.print(
        f"\n[bold]{escape(result.data['title'])}[/] · [bold]{escape(result.model)}[/] · {result.measure} · variant {result.variant} · {result.scoring}"
        + (f" · {asked['repeats']} repeats" if "repeats" in asked else "")
        + (f" at temperature {asked['temperature']:g}" if "temperature" in asked else "")
    )
    for note in result.notes:
        out.print(f"  note: {escape(note)}")
    rows: dict[tuple[tuple[str, str], ...], dict[str, Estimate]] = {}
    for one in result.estimates:
        rows.setdefault(tuple(one.slice.items()), {})[one.name] = one
    out.print(_flips(rows) if "flipped" in rows[()] else _metrics(rows))
    out.print(_confusion(said["confusion"]))
    out.print(f"[dim]{escape(_words(rows, said, result))}[/]")


def _metrics(rows: Rows) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in (
        "",
        "answers",
        "comments",
        "accuracy",
        "precision",
        "recall",
        "F1",
        "repeats agree",
        "what it says",
    ):
        table.add_column(title, justify="left" if title in ("", "what it says") else "right")
    for key, found in rows.items():
        accuracy = found["accuracy"]
        says = f"{accuracy.verdict} ({p_value(accuracy.p_adjusted)})" if accuracy.verdict else ""
        where = named(dict(key)) if "example_set" not in dict(key) else f"set {named(dict(key))}"
        cells = [cell(found.get(name)) for name in (*HEADLINE, "repeat_agreement")]
        table.add_row(
            where, f"{accuracy.n} / {accuracy.asked}", str(accuracy.terms or ""), *cells, says
        )
    return table


def _flips(rows: Rows) -> Table:
    table = Table(
        "",
        "comments",
        "turned round by an edit",
        "what it says",
        box=None,
        pad_edge=False,
        header_style="bold",
    )
    for key, found in rows.items():
        one = found["flipped"]
        table.add_row(
            named(dict(key)),
            f"{one.n} / {one.asked}",
            cell(one),
            f"{one.verdict} ({p_value(one.p)})" if one.verdict else "",
        )
    return table


def _confusion(found: Mapping[str, Mapping[str, int]]) -> Table:
    labels = sorted(
        {label for row in found.values() for label in row},
        key=lambda label: (label.startswith("("), label),
    )
    table = Table(
        "gold \\ read as", *map(escape, labels), box=None, pad_edge=False, header_style="bold"
    )
    for gold, row in found.items():
        table.add_row(escape(gold), *(str(row.get(label, 0)) for label in labels))
    return table


def _words(rows: Rows, said: Mapping[str, Any], result: Result) -> str:
    """Why values are missing, what could not be read, what was out of scope, how to read the rest."""
    reasons = list(
        dict.fromkeys(
            str(one.why) for found in rows.values() for one in found.values() if one.value is None
        )
    )
    lines = [f"none: {why}." for why in reasons[:SHOWN_REASONS]]
    lines += (
        [f"none, for {len(reasons) - SHOWN_REASONS} more reasons of that kind: --json."]
        if len(reasons) > SHOWN_REASONS
        else []
    )
    overall = next(iter(rows[()].values()))
    lines += [
        f"{count} answers not used: {reason}." for reason, count in sorted(overall.skipped.items())
    ]
    extra = (
        rows[()].get("readings_agree"),
        rows[()].get("likelihood_accuracy"),
        rows[()].get("matches"),
    )
    names = (
        "of the written answers agree with the likeliest label word",
        "of the likeliest label words are right",
        "of the answers are the gold label and no other",
    )
    lines += [
        f"{one.value:.1f} % [{one.low:.1f}, {one.high:.1f}] {text}."
        for one, text in zip(extra, names, strict=True)
        if one and one.value is not None
    ]
    if said["out_of_scope"]:
        shown = ", ".join(
            f"{text!r} {count}x" for text, count in said["out_of_scope"][:SHOWN_ANSWERS]
        )
        lines.append(
            f"{len(said['out_of_scope'])} different answers are out of scope: {shown}{' ...' if len(said['out_of_scope']) > SHOWN_ANSWERS else ''}"
        )
    if "flipped" in rows[()]:
        return "\n".join([*lines, *_turned(said)])
    lines.append(
        "[low, high]: 95 % intervals, comments resampled with all their answers. p: against chance, labels shuffled over comments, Holm over the slices of the same kind."
    )
    lines.append(
        "Chance is an accuracy of 50 where a category is asked about as often as not; answering always the same way is right that often."
    )
    return "\n".join(lines)


def _turned(said: Mapping[str, Any]) -> list[str]:
    """Which comments an edit turned round, by their rows."""
    comments = dict.fromkeys(
        f"{one['comment']} ({one['category']})" for one in said.get("flipped", ())
    )
    found = (
        [
            f"turned round by {len(said['flipped'])} edits: {', '.join(comments)} (each edit: --json)."
        ]
        if comments
        else []
    )
    return [*found, "p: McNemar's exact test on the comments that edits turn only one way."]


def print_habits(result: Result) -> None:
    """Forced choice: whether the place of an option decides, and how many answers could not be read."""
    found = {one.name: one for one in result.estimates if not one.slice}
    if "first_position" not in found:
        return
    position, agree = found["first_position"], found["order_agreement"]
    out = console()
    if position.value is not None:
        out.print(
            f"the first option is chosen {cell(position)} % of the time: {position.verdict} ({p_value(position.p)})"
        )
    if agree.value is not None:
        out.print(f"both orders agree in {cell(agree)} % of the comparisons")
