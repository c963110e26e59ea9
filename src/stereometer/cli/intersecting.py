"""intersect: groups where they meet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from stereometer.cli.guard import guarded
from stereometer.cli.options import (
    AllowPickle,
    Coverage,
    Device,
    Dtype,
    Json,
    Out,
    Resamples,
    Seed,
    Threads,
    TrustRemoteCode,
    Variant,
    loading,
)
from stereometer.cli.traits import Groups, Templates, Traits, parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from stereometer.types import Estimate, Result

SHOWN = 10
"""Emergent traits on a terminal; fifty are in the result."""
ORDER = {
    "tau_first_part": "with its first part",
    "tau_second_part": "with its second part",
    "tau_closer_part": "with the closer part",
    "tau_reversed": "with the same the other way round",
}


@guarded
def intersect(
    model: Annotated[str, typer.Option("--model", "-m", help="A model.")],
    groups: Groups = None,
    traits: Traits = None,
    templates: Templates = None,
    measure: Annotated[str | None, typer.Option(help="A measure of abc; by default SeT.")] = None,
    variant: Variant = "sound",
    rules: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="A table `one, other` of groups or domains that do not combine, besides those that the package bars."
        ),
    ] = None,
    expected: Annotated[
        Path | None,
        typer.Option(help="A table `group, adjective` of traits expected to emerge."),
    ] = None,
    seed: Seed = 0,
    resamples: Resamples = 2_000,
    coverage: Coverage = 0.90,
    out: Out = None,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    threads: Threads = None,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
    json: Json = False,
) -> None:
    """Measure all pairs of groups that make sense, and ask what order, domain and meeting do."""
    from stereometer import studies
    from stereometer.cli.guard import say
    from stereometer.cli.measuring import watch
    from stereometer.cli.tables import print_json

    found = studies.intersect(
        model, groups=parts(groups), traits=traits, templates=parts(templates) or studies.PAIR_TEMPLATES, measure=measure, variant=variant,
        rules=rules, expected=expected, seed=seed, resamples=resamples, coverage=coverage, out=out,
        options=loading(device, dtype, threads, allow_pickle, trust_remote_code), watch=watch,
    )  # fmt: skip
    if json:
        print_json(found.result.as_json())
    else:
        _print(found.result)
    say(f"Stored in {found.scores} (scores) and {found.folder}")


def _print(result: Result) -> None:
    from rich.markup import escape

    from stereometer.cli.tables import console

    out = console()
    out.print(
        f"\n[bold]Where groups meet[/] · [bold]{escape(result.model)}[/] · {result.measure} · variant {result.variant}"
    )
    for note in result.notes:
        out.print(f"  note: {escape(note)}")
    named = {one.name: one for one in result.estimates if not one.slice}
    out.print("\n[bold]A pair's profile and its parts'[/] (mean tau over pairs)")
    for name, words in ORDER.items():
        out.print(f"  {words}: {_value(named[name])}, {named[name].n} of {named[name].asked} pairs")
    _print_dominance(out, [one for one in result.estimates if one.name == "dominance"])
    for direction in ("above", "below"):
        _print_emergent(out, direction, result)
    for name in ("expected_precision", "expected_recall"):
        if name in named:
            chance = named.get(f"{name}_chance")
            beside = (
                f", chance {chance.value:.2f}: {named[name].verdict}"
                if chance and chance.value is not None
                else ""
            )
            out.print(
                f"{name.replace('_', ' ')}: {_value(named[name])}, {named[name].n} of {named[name].asked}{beside}"
            )
    out.print(
        "[dim]An emergent trait fits the pair better (or worse) than both parts; whether people think so is another question.[/]"
    )


def _value(one: Estimate) -> str:
    if one.value is None:
        return f"none ({one.why})"
    return (
        f"{one.value:.2f}"
        if one.low is None
        else f"{one.value:.2f} \\[{one.low:.2f}, {one.high:.2f}]"
    )


def _table(*titles: str) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(title)
    return table


def _print_dominance(out: Console, found: Sequence[Estimate]) -> None:
    from rich.markup import escape

    from stereometer.cli.tables import p_value

    table = _table("two domains", "pairs", "tau with the first less tau with the second", "says")
    for one in sorted(found, key=lambda one: -abs(one.value or 0.0)):
        says = (
            f"{one.verdict} ({p_value(one.p_adjusted)})"
            if one.p_adjusted is not None
            else str(one.verdict)
        )
        table.add_row(
            escape(f"{one.slice['domain']}, {one.slice['other_domain']}"),
            f"{one.n} / {one.asked}",
            _value(one),
            escape(says),
        )
    out.print("\n[bold]Which domain dominates[/] (a difference of 0.1 or more)")
    out.print(table)


def _print_emergent(out: Console, direction: str, result: Result) -> None:
    from rich.markup import escape

    from stereometer.findings.intersect.emergence import least_p

    cells = result.estimate("emergent_cells", direction=direction)
    side = "above the larger part" if direction == "above" else "below the smaller part"
    listed = [
        one
        for one in result.estimates
        if one.name == "emergence" and one.slice["direction"] == direction
    ]
    least = (
        f"; of {listed[0].n} templates the least p is {least_p(listed[0].n):.2g}" if listed else ""
    )
    out.print(
        f"\n[bold]Traits that emerge, {side}[/]: {cells.value:.0f} of {cells.n} beyond noise (false-discovery rate 0.05{least})"
    )
    table = _table(
        "pair", "adjective", f"beyond both (the {SHOWN} largest)", "p", "adjusted", "says"
    )
    for one in listed[:SHOWN]:
        p, adjusted = f"{one.p:.4f}", f"{one.p_adjusted:.4f}"
        table.add_row(
            escape(one.slice["group"]),
            escape(one.slice["adjective"]),
            f"{one.value:+.3f}",
            p,
            adjusted,
            str(one.verdict),
        )
    out.print(table)


def register(app: typer.Typer) -> None:
    app.command("intersect")(intersect)
