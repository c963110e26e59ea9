"""The verb `align`: a stored run on groups and traits beside people's ratings, as a Result."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

from stereometer.core.errors import DataError, UnknownName, UsageError
from stereometer.core.files import UTF8
from stereometer.core.options import (
    Column,
    Encoding,
    Option,
    Out,
    Resamples,
    Seed,
    Traits,
    names_in,
    verb,
)
from stereometer.core.runs.execute import LOG, Announce, execute
from stereometer.core.runs.job import versions
from stereometer.core.runs.store import place_of
from stereometer.core.runs.stored import Run, Stored, run_of
from stereometer.core.tables import Layout
from stereometer.core.types import Estimate, Job, Result, Score, Settings, digest_of
from stereometer.kinds.traits.abc.files import read_groups, read_traits
from stereometer.kinds.traits.abc.items import data_file
from stereometer.kinds.traits.align.agreement import (
    GROUPS,
    Pilot,
    RatedCells,
    averaged,
    both,
    choose,
)
from stereometer.kinds.traits.align.names import Names
from stereometer.kinds.traits.align.profile import (
    AlignmentSettings,
    Profile,
    RunBesidePeople,
    beside_printed,
    printed_means,
    profile_of,
)
from stereometer.kinds.traits.align.raters import Raters, by_raters, conditions, estimates_by_raters
from stereometer.kinds.traits.align.ratings import (
    Ratings,
    RatingsFormat,
    ratings_file,
    read_ratings,
    scale_of,
)

KEPT = ("ratings", "scale", "templates", "pilot", "raters", "by", "seed", "resamples", "level")
"""What a result records of the plan."""


@verb
def align(
    run: Annotated[Stored, "Folder of a run of abc."],
    *,
    ratings: Annotated[
        str | Path,
        "Ratings: a table of participant, group, trait, rating; a table with one column per "
        "question, as Qualtrics exports it; the released JSON; or a run of `ask survey`.",
    ],
    scale: Annotated[
        str, "Lowest and highest answer, such as 1-7, or all answers in words, with commas."
    ] = "0-100",
    column: Column = None,
    encoding: Encoding = UTF8,
    questions: Annotated[
        str | Path | None,
        "A table of column, group, trait: what columns ask whose texts do not say it.",
    ] = None,
    templates: Annotated[
        Sequence[str], Option("Use only these templates of the run.", read=names_in)
    ] = (),
    pilot: Annotated[
        bool, "Choose at most two templates on the pilot groups; test on the others."
    ] = False,
    pilot_groups: Annotated[
        Sequence[str], Option("By default Asian, Black, Hispanic, immigrant.", read=names_in)
    ] = (),
    groups: Annotated[
        str | Path | None, "Your table of groups, if the ratings use other names than the run."
    ] = None,
    traits: Traits = None,
    raters: Annotated[
        Sequence[str],
        Option("Only these raters, such as gender=woman; several must all hold.", read=names_in),
    ] = (),
    by: Annotated[
        Sequence[str],
        Option(
            "Also break results down by raters' own answers, such as race, or race,gender.",
            read=names_in,
        ),
    ] = (),
    demographics: Annotated[
        str | Path | None, "Table of those answers; by default demographics.csv beside the ratings."
    ] = None,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    out: Out = None,
    announce: Announce = LOG.warning,
) -> Run:
    """Compare a run on groups and traits with what people say of the groups."""
    if pilot and templates:
        raise UsageError(
            "A pilot and templates both say which templates count. The pilot chooses by itself. "
            "Give one of them."
        )
    wanted = AlignmentSettings(
        ratings_file(Path(ratings)),
        Settings("sound", seed, resamples),
        tuple(templates),
        pilot,
        tuple(pilot_groups) or GROUPS,
        Path(groups) if groups else None,
        Path(traits) if traits else None,
        Raters(conditions(raters), tuple(by), Path(demographics) if demographics else None),
        RatingsFormat(
            Layout(encoding, column or {}), scale_of(scale), Path(questions) if questions else None
        ),
    )
    return align_run(run_of(run), wanted, Path(out) if out else None, announce)


def align_run(
    run: Run, wanted: AlignmentSettings, out: Path | None = None, announce: Announce = LOG.warning
) -> Run:
    """Agreement of a run with ratings, stored in a folder of its own."""
    profile = profile_of(run)
    if profile.is_survey and (wanted.pilot or wanted.templates):
        raise UsageError(
            f"{run.folder} is a survey that was put to a model. It has repeats and no templates. "
            "Leave out --pilot and --templates."
        )
    groups = read_groups(wanted.groups or data_file("groups.csv"))
    traits = read_traits(wanted.traits or data_file("traits.csv"))
    names = Names(groups, traits, profile.domains, profile.dimensions)
    every = read_ratings(wanted.ratings, names, wanted.reading)
    ratings, parts, said = by_raters(every, wanted.ratings, wanted.raters)
    if wanted.pilot:
        known = (names.group(name, "--pilot-groups") for name in wanted.pilot_groups)
        wanted = replace(wanted, pilot_groups=tuple(dict.fromkeys(known)))
    pilot, templates = _picked(profile, ratings, wanted)
    model = averaged(profile.scores, templates)
    cells = both(model, ratings, profile.domains, profile.dimensions)
    _check_rated(cells, wanted)
    beside = RunBesidePeople(profile, ratings, wanted, pilot, templates, cells)
    for outlook in beside.outlook:
        announce(outlook)
    notes = [
        *beside.notes,
        *(note for _, part in parts for note in part.notes),
        *([] if wanted.raters.only else printed_means(wanted.ratings, ratings, names)),
    ]
    compared = {label: both(model, part, cells.groups, cells.traits) for label, part in parts}
    choice = digest_of([*map(asdict, groups), *map(asdict, traits)])
    plan = beside.plan(choice, said)

    def summarize(scores: Iterable[Score]) -> list[Estimate]:
        """From the whole table, once the stream of cells is stored."""
        deque(scores, maxlen=0)
        estimates: Iterable[Estimate] = beside.estimates()
        if not wanted.raters.only:
            left_out = wanted.pilot_groups if wanted.pilot else None
            estimates = beside_printed(estimates, run.result, ratings, templates, left_out)
        return [*estimates, *estimates_by_raters(compared, dict(parts), wanted.settings)]

    def describe(estimates: Sequence[Estimate]) -> Result:
        return _result(run.result, plan, notes, estimates, wanted)

    job = Job(plan, "alignment", beside.scores, summarize, describe)
    return execute(job, place_of(job, out))


def _check_rated(cells: RatedCells, wanted: AlignmentSettings) -> None:
    for kind, rated in (("group", cells.groups), ("trait", cells.traits)):
        if not rated:
            raise DataError(
                f"{wanted.ratings} rates no {kind} of the run. There is nothing to compare. "
                f"Check the run's {kind}s, or name a file with --{kind}s."
            )


def _picked(
    profile: Profile, ratings: Ratings, wanted: AlignmentSettings
) -> tuple[Pilot | None, tuple[str, ...]]:
    """The templates of the pilot, those named, or all of the run."""
    scores, named = profile.scores, wanted.templates
    if wanted.pilot:
        seed, traits = wanted.settings.seed, profile.dimensions
        pilot = choose(scores, ratings, wanted.pilot_groups, seed, traits)
        return pilot, pilot.templates
    for name in named:
        if name not in scores:
            raise UnknownName(
                "template", name, set(scores), "`stereometer show abc` lists all of them."
            )
    return None, tuple(template for template in scores if not named or template in named)


def _result(
    run: Result,
    plan: Mapping[str, Any],
    notes: Sequence[str],
    estimates: Sequence[Estimate],
    wanted: AlignmentSettings,
) -> Result:
    return replace(
        run,
        measure=plan["measure"],
        data=dict(run.data) | {"ratings": wanted.ratings.name},
        settings=dict(run.settings) | {name: plan[name] for name in KEPT if name in plan},
        versions=versions(),
        notes=(*run.notes, *notes),
        estimates=tuple(estimates),
        kind="alignment",
    )
