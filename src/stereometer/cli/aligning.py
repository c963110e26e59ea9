"""align: a model's profile of groups held against people's ratings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stereometer.cli.guard import guarded
from stereometer.cli.options import Json, Out, Resamples, Seed
from stereometer.cli.traits import Traits, parts

if TYPE_CHECKING:
    from stereometer.types import Estimate, Result

OwnGroups = Annotated[
    Path | None, typer.Option(help="A table of your own groups, with the names the ratings use.")
]


@guarded
def align(
    run: Annotated[Path, typer.Argument(help="Folder of a run of abc.")],
    ratings: Annotated[
        Path,
        typer.Option(
            help="Ratings: the released JSON, or a table of participant, group, trait, rating."
        ),
    ],
    templates: Annotated[
        list[str] | None, typer.Option(help="Only these templates of the run.")
    ] = None,
    pilot: Annotated[
        bool,
        typer.Option(
            "--pilot", help="Choose at most two templates on the pilot groups, judge on the others."
        ),
    ] = False,
    pilot_groups: Annotated[
        list[str] | None, typer.Option(help="By default Asian, Black, Hispanic, immigrant.")
    ] = None,
    groups: OwnGroups = None,
    traits: Traits = None,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    out: Out = None,
    json: Json = False,
) -> None:
    """Hold a run on groups and traits against what people say."""
    from stereometer import studies
    from stereometer.benchmarks.abc.items import Choice
    from stereometer.cli.guard import say
    from stereometer.cli.tables import print_json

    choice = Choice((str(groups),) if groups else (), traits)
    found = studies.align(
        run, ratings=ratings, templates=parts(templates), pilot=pilot, pilot_groups=parts(pilot_groups), choice=choice, seed=seed,
        resamples=resamples, out=out,
    )  # fmt: skip
    if json:
        print_json(found.result.as_json())
    else:
        _print(found.result)
    say(f"Stored in {found.folder}")


def _print(result: Result) -> None:
    from rich.markup import escape
    from rich.table import Table

    from stereometer.cli.tables import console, p_value

    out = console()
    out.print(
        f"\n[bold]Agreement with people[/] · [bold]{escape(result.model)}[/] · {result.measure} · variant {result.variant}"
    )
    for note in result.notes:
        out.print(f"  note: {escape(note)}")
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in (
        "",
        "n / asked",
        "tau",
        "precision at 3",
        "people's split-half tau",
        "what tau says",
    ):
        table.add_column(title, justify="right" if title == "n / asked" else "left")
    by_place: dict[tuple[tuple[str, str], ...], dict[str, Estimate]] = {}
    for one in result.estimates:
        by_place.setdefault(tuple(one.slice.items()), {})[one.name] = one
    for place, found in by_place.items():
        if "tau" in found:
            tau = found["tau"]
            says = f"{tau.verdict or tau.why or ''}{'' if tau.p_adjusted is None else f' ({p_value(tau.p_adjusted)})'}"
            cells = [
                _cell(found.get(name)) for name in ("tau", "precision_at_3", "human_split_half_tau")
            ]
            table.add_row(
                escape(" / ".join(value for _, value in place)) or "overall",
                f"{tau.n} / {tau.asked}",
                *cells,
                says,
            )
    out.print(table)
    best = by_place[()]["precision_at_3"].ideal
    ideal = "" if best is None else f" Precision at 3: people's own order gets {best:.3f}."
    out.print(
        f"[dim]tau: Kendall's tau-b over groups and traits; p of a group is adjusted (Holm) over the groups that are tested. Overall and by dimension p is that of the model's traits permuted for all groups together, and a verdict needs an interval without 0 as well. Halves of the raters are compared on the cells of the same row.{ideal}\n"
        "Agreement says that a model repeats what people think that others think: it is neither truth nor merit.[/]"
    )


def _cell(one: Estimate | None) -> str:
    if one is None:
        return ""
    if one.value is None:
        return "none"
    return (
        f"{one.value:.3f}"
        if one.low is None
        else f"{one.value:.3f} \\[{one.low:.3f}, {one.high:.3f}]"
    )


def register(app: typer.Typer) -> None:
    app.command("align")(align)
