"""analyze, split and audit: looking at items before, and beside, measuring models on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stereometer.cli.guard import guarded, say
from stereometer.cli.options import Data, Json, NegativeLabel, Resamples, Seed

if TYPE_CHECKING:
    from stereometer.curation.analyze.analyze import Analysis, OfRun, OfShape
    from stereometer.curation.analyze.terms import Term
    from stereometer.curation.audit.audit import Audit, Flagged
    from stereometer.curation.audit.audit import OfRun as AuditedRun
    from stereometer.findings.shift import Shift
    from stereometer.types import Estimate

Name = Annotated[str, typer.Argument(help="A benchmark, or a file of your own.")]
Runs = Annotated[
    list[Path] | None,
    typer.Option("--run", help="Folder of a run on these items; may be given several times."),
]


def register(app: typer.Typer) -> None:
    app.command("analyze")(analyze)
    app.command("split")(split)
    app.command("audit")(audit)


# ------------------------------------------------------------------------------------------- analyze


@guarded
def analyze(
    name: Name,
    data: Data = None,
    run: Runs = None,
    sentiment: Annotated[
        str, typer.Option(help="What judges sentiment: `sentiment` (VADER) or `sentiment:MODEL`.")
    ] = "sentiment",
    negative_label: NegativeLabel = None,
    top: Annotated[int, typer.Option(help="Keywords shown of each domain.")] = 16,
    ends: Annotated[
        int, typer.Option(help="Most and least stereotyped terms shown of each domain.")
    ] = 3,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    json: Json = False,
) -> None:
    """Statistics, sentiment, keywords and annotator agreement of a data set; for runs, terms and agreed items."""
    from stereometer.api import settings_for
    from stereometer.cli.tables import print_json
    from stereometer.curation.analyze.analyze import analyze as analyzed

    found = analyzed(
        name, data=data, run_folders=run or [], model=sentiment, options={"negative_label": negative_label}, top=top, ends=ends,
        settings=settings_for(seed=seed, resamples=resamples),
    )  # fmt: skip
    if json:
        print_json(found.as_json())
    else:
        _print_analysis(found)


def _print_analysis(found: Analysis) -> None:
    from rich.markup import escape

    from stereometer.cli.tables import console

    console().print(f"\n[bold]{escape(found.benchmark)}[/] · content {found.digest[:12]}")
    for note in found.notes:
        console().print(f"  note: {escape(note)}")
    for shape in found.shapes:
        _heading(f"{shape.items} items of shape {shape.shape}")
        _table(shape.statistics)
        _print_sentiment(shape, found.sentiment)
        _print_keywords(shape)
        _print_labels(shape)
        for run in shape.runs:
            _print_run(run)


def _heading(text: str) -> None:
    from rich.markup import escape

    from stereometer.cli.tables import console

    console().print(f"\n[bold]{escape(text)}[/]")


def _table(rows: Sequence[Mapping[str, Any]]) -> None:
    from stereometer.cli.tables import console, rows_table

    if rows:
        console().print(rows_table(rows))


def _print_sentiment(shape: OfShape, judge: str) -> None:
    from stereometer.cli.tables import p_value

    _heading(f"sentiment in percent, by {judge}")
    _table([dict(vars(one)) for one in shape.tones])
    _table(
        [
            {
                "negative, stereotype - other": one.group,
                "n": one.n,
                "difference": f"{one.difference:+.1f} {_span(one.low, one.high)}",
                "p": p_value(one.p_adjusted),
                "verdict": one.verdict,
                "test": one.test,
            }
            for one in shape.contrasts
        ]
    )


def _span(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"[{low:+.1f}, {high:+.1f}]"


def _print_keywords(shape: OfShape) -> None:
    from rich.markup import escape

    from stereometer.cli.tables import console

    _heading("keywords (times as frequent as in the language)")
    for group in dict.fromkeys(one.group for one in shape.keywords):
        words = ", ".join(
            f"{escape(one.word)} {one.score:.0f}" for one in shape.keywords if one.group == group
        )
        console().print(f"{escape(group)}: {words}")


def _print_labels(shape: OfShape) -> None:
    from stereometer.cli.tables import console

    _heading("validators")
    alpha = shape.alpha
    if alpha.value is None:
        console().print(f"Krippendorff's alpha: none, {alpha.why}.")
    else:
        span = f" \\[{alpha.low:.3f}, {alpha.high:.3f}]" if alpha.low is not None else ""
        console().print(
            f"Krippendorff's alpha (names): {alpha.value:.3f}{span}, {alpha.labels} labels of {alpha.units} units"
        )
    levels = ", ".join(f"{level}: {count}" for level, count in shape.levels.items())
    console().print(f"items by validators who gave the item's own label: {levels}")
    terms = list(shape.term_agreement)
    if terms:
        console().print("agreement by target term, lowest and highest (all of them: --json)")
        _table(terms[:5] + terms[-5:] if len(terms) > 10 else terms)


def _print_run(run: OfRun) -> None:
    from stereometer.cli.tables import console

    if run.terms:
        _heading(
            f"most and least stereotyped terms · {run.model} · {run.measure} · variant {run.variant}"
        )
        _table([_term(one) for one in run.terms])
        console().print(
            "[dim]A term has few items; the ends of a ranking are where chance collects. p: Holm over all terms.[/]"
        )
    for part in run.restricted:
        _heading(
            f"where at least {part.validators} validators agree ({part.items} items) · {run.model} · variant {run.variant}"
        )
        print_shifts(part.shifts, "agreed")


def _term(one: Term) -> dict[str, str]:
    from stereometer.cli.tables import p_value

    says = f"{one.ss.verdict} ({p_value(one.ss.p_adjusted)})" if one.ss.verdict else ""
    name = one.domain if not one.target else f"  {one.target}"
    return {
        "": name,
        "end": one.end if one.target else "",
        "n": str(one.ss.n),
        "lms": _value(one.lms),
        "ss": _value(one.ss),
        "icat": _value(one.icat),
        "what ss says": says,
    }


def _value(one: Estimate) -> str:
    return "none" if one.value is None else f"{one.value:.1f} [{one.low:.1f}, {one.high:.1f}]"


def print_shifts(found: Sequence[Shift], kept: str) -> None:
    """Overall, tasks and domains; the finer slices are in --json."""
    from stereometer.cli.tables import named

    rows = [one for one in found if len(one.slice) < 2]
    _table(
        [
            {
                "": named(one.slice).replace("\\", ""),
                "metric": one.name,
                "all": "none" if one.value is None else f"{one.value:.1f}",
                "n": one.n,
                kept: "none" if one.kept is None else f"{one.kept:.1f}",
                f"n {kept}": one.n_kept,
                "shift": one.why or f"{one.difference:+.1f} {_span(one.low, one.high)}",
                "verdict": one.verdict or "",
            }
            for one in rows
        ]
    )


# --------------------------------------------------------------------------------------------- split


@guarded
def split(
    name: Name,
    out: Annotated[Path, typer.Option(help="Folder for the parts.")],
    data: Data = None,
    share: Annotated[
        float,
        typer.Option(help="Share of the items in dev, in whole target terms; the rest is test."),
    ] = 0.25,
    seed: Seed = 0,
    hide: Annotated[
        bool,
        typer.Option("--hide/--no-hide", help="Mark test as held back: runs on it keep no texts."),
    ] = True,
    json: Json = False,
) -> None:
    """Part a set by target term into dev and test; no term is in both, and test is held hidden."""
    from stereometer.cli.tables import print_json
    from stereometer.curation.split import split as parted

    found = parted(name, out, data=data, share=share, seed=seed, hide=hide)
    if json:
        print_json(found)
    else:
        _table(
            [
                {
                    "part": f"{one['part']}{' (hidden)' if one['hidden'] else ''}",
                    "items": one["items"],
                    "terms": "" if one["terms"] is None else one["terms"],
                    "connected groups": one["connected"],
                    "file": one["file"],
                }
                for one in found["parts"]
            ]
        )
    say(f"Written to {out}. Licence: {found['licence']}.")


# --------------------------------------------------------------------------------------------- audit


@guarded
def audit(
    name: Name,
    data: Data = None,
    run: Runs = None,
    flag: Annotated[
        list[str] | None,
        typer.Option(help="Only these flags make an item unclean; by default all."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="Flags that do not make an item unclean.")
    ] = None,
    agreement: Annotated[
        float, typer.Option(help="Share of validators who must have given an item's own label.")
    ] = 0.6,
    errata: Annotated[
        Path | None,
        typer.Option(help="A list of items to drop, keep or correct: docs/hygiene.md."),
    ] = None,
    examples: Annotated[int, typer.Option(help="Examples of each flag.")] = 3,
    show_texts: Annotated[
        bool,
        typer.Option("--show-texts", help="Show the texts of examples, many of them offensive."),
    ] = False,
    write: Annotated[
        Path | None, typer.Option(help="Folder for files of the clean items, to be run on.")
    ] = None,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    json: Json = False,
) -> None:
    """Check the items for what is known to go wrong, and what that does to the numbers of runs."""
    from stereometer.api import settings_for
    from stereometer.cli.tables import print_json
    from stereometer.curation.audit.audit import Asked
    from stereometer.curation.audit.audit import audit as audited

    wanted = Asked(flag or [], ignore or [], agreement, examples, show_texts, errata, write)
    found = audited(
        name,
        data=data,
        run_folders=run or [],
        asked=wanted,
        settings=settings_for(seed=seed, resamples=resamples),
    )
    if json:
        print_json(found.as_json())
    else:
        _print_audit(found, show_texts)
    for folder in run or []:
        say(f"Stored beside {folder}; `stereometer report` shows it.")
    if write is not None:
        say(f"Clean items are in {write}.")


def _print_audit(found: Audit, show_texts: bool) -> None:
    from rich.markup import escape

    from stereometer.cli.tables import console

    if show_texts:
        console().print(
            "[bold]Content warning:[/] the examples state stereotypes about people, many of them offensive."
        )
    for shape in found.shapes:
        _heading(
            f"{found.benchmark} · {shape.items} items of shape {shape.shape}: {shape.clean} clean, {shape.flagged} not"
        )
        if found.errata:
            console().print(
                f"errata {escape(found.errata)}: {shape.dropped} dropped, {shape.kept} kept whatever the flags say, {shape.corrected} corrected"
            )
        _table([_flag_row(one, one.name in found.counting) for one in shape.flags])
        for one in shape.flags:
            console().print(f"[bold]{one.name}[/]: {escape(one.definition)}", soft_wrap=True)
            for example in one.examples:
                texts = "".join(f"\n      {key}: {text}" for key, text in example.texts.items())
                console().print(
                    escape(
                        f"    {example.id}{': ' + example.found if example.found else ''}{texts}"
                    ),
                    soft_wrap=True,
                )
        for run in shape.runs:
            _print_audited(run)


def _flag_row(one: Flagged, counts: bool) -> dict[str, str]:
    return {
        "flag": one.name,
        "items": "" if one.count is None else str(one.count),
        "": one.why or ("" if counts else "does not count"),
    }


def _print_audited(run: AuditedRun) -> None:
    from stereometer.cli.tables import console

    _heading(f"all and clean items · {run.model} · {run.measure} · variant {run.variant}")
    print_shifts(run.shifts, "clean")
    _heading("overall, leaving out only the items of one flag")
    _table(
        [
            {
                "flag": name,
                "metric": one.name,
                "left": one.n_kept,
                "shift": one.why or f"{one.difference:+.1f} {_span(one.low, one.high)}",
                "verdict": one.verdict or "",
            }
            for name, found in run.by_flag.items()
            for one in found
        ]
    )
    console().print(
        "[dim]Intervals are of one shift at a time, without correction for the number of shifts shown.[/]"
    )
