"""ensemble and relate: several stored runs taken together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from stereometer.cli.guard import guarded, say
from stereometer.cli.options import Coverage, Json, Out, Require, Resamples, Seed

if TYPE_CHECKING:
    from stereometer.findings.relate import Correlation, Relation
    from stereometer.types import Result

Runs = Annotated[
    list[Path], typer.Argument(help="Folders of runs on the same items, measured alike.")
]


def register(app: typer.Typer) -> None:
    app.command("ensemble")(ensemble)
    app.command("relate")(relate)


@guarded
def ensemble(
    runs: Runs,
    variant: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(
            help="That of the runs: `sound` is a linear combination, `paper` the authors' pairwise winners."
        ),
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the ensemble.")] = "ensemble",
    weights: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            help="Weights of a task in the order of the runs, such as 'intrasentence=1,2'; once for each task. By default fitted."
        ),
    ] = None,
    folds: Annotated[
        int,
        typer.Option(
            help="Parts of the target terms, each scored with weights fitted on the others."
        ),
    ] = 5,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    coverage: Coverage = 0.90,
    out: Out = None,
    require: Require = None,
    json: Json = False,
) -> None:
    """Combine stored runs into one more run."""
    from stereometer.cli.measuring import bars, check
    from stereometer.cli.tables import print_json, print_results
    from stereometer.findings.ensemble.combine import combine

    wanted = bars(require or [])
    done = combine(
        *runs,
        variant=variant,
        name=name,
        weights=weights or [],
        folds=folds,
        seed=seed,
        resamples=resamples,
        coverage=coverage,
        out=out,
    )
    if json:
        print_json(done.result.as_json())
    else:
        print_results([done.result])
        _print_weights(done.result)
    say(f"Stored in {done.folder}")
    check([done.result], wanted)


def _print_weights(result: Result) -> None:
    from rich.markup import escape

    from stereometer.cli.tables import console
    from stereometer.findings.ensemble.combine import mean_weights

    for task, found in mean_weights(result).items():
        weights = ", ".join(f"{escape(member)} {weight:.4g}" for member, weight in found.items())
        console().print(f"weights, {task}: {weights}")


@guarded
def relate(
    runs: Runs,
    facts: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(
            help="A table with system, parameters and corpus_gb, for systems whose card does not say."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Also write the report with the pictures here."),
    ] = None,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    json: Json = False,
) -> None:
    """Is a stronger language model a more stereotyped one? Correlations across systems."""
    from stereometer.api import settings_for
    from stereometer.cli.tables import print_json
    from stereometer.findings.relate import relate as related

    found = related(*runs, facts=facts, settings=settings_for(seed=seed, resamples=resamples))
    if json:
        print_json(found.as_json())
    else:
        _print_relation(found)
    if output is not None:
        from stereometer.report import write_report

        say(
            f"Written to {write_report(list(runs), output, facts)}. Open it in any browser; it needs no network."
        )


def _print_relation(found: Relation) -> None:
    from rich.markup import escape

    from stereometer.cli.tables import console, rows_table

    out = console()
    out.print(
        f"\n[bold]{escape(found.benchmark)}[/] · {found.measure} · variant {found.variant} · {len(found.points)} systems"
    )
    for note in found.notes:
        out.print(f"  note: {escape(note)}")
    out.print(
        rows_table(
            [
                {
                    "system": one.system,
                    "lms": one.lms,
                    "ss": one.ss,
                    "parameters": _big(one.parameters),
                    "corpus, GB": _big(one.corpus_gb),
                }
                for one in found.points
            ]
        )
    )
    for label in found.left_out:
        out.print(f"{escape(label)} is left out: it has no lms or no ss.")
    for one in found.correlations:
        out.print(_told(one))
    out.print(
        "[dim]rho: Spearman, 95 % percentile intervals; p: permutation test, Holm over the correlations with size. Systems that share data or "
        "design are not independent, and a correlation is no cause.[/]"
    )


def _big(value: float | None) -> str:
    return "" if value is None else f"{value / 1e6:,.0f} M" if value >= 1e6 else f"{value:g}"


def _told(one: Correlation) -> str:
    from stereometer.cli.tables import p_value

    pair = f"{one.first} with {one.second}"
    if one.rho is None:
        return f"{pair}: none, {one.why}."
    span = one.interval if one.low is None else f"\\[{one.low:.2f}, {one.high:.2f}] over systems"
    terms = (
        f", \\[{one.low_terms:.2f}, {one.high_terms:.2f}] over {one.terms} target terms, these systems held fixed"
        if one.terms
        else ""
    )
    return f"{pair}: rho {one.rho:.2f}, n {one.n}, {span}{terms}; {one.verdict} ({p_value(one.p_adjusted)})."
