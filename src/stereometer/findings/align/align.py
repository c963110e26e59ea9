"""The verb `align`: a stored run on groups and traits beside people's ratings, as a Result."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from stereometer.benchmarks.abc.files import chosen
from stereometer.benchmarks.abc.items import Choice, Grid, grid
from stereometer.benchmarks.abc.sentences import NO_TEMPLATE
from stereometer.errors import DataError, UsageError
from stereometer.files import UTF8, read_text
from stereometer.findings.align.agreement import (
    GROUPS,
    NO_SCORE,
    Pilot,
    RatedCells,
    averaged,
    both,
    choose,
    split_half,
)
from stereometer.findings.align.estimates import (
    FEW,
    POLARISED,
    CellPart,
    group_tau,
    human_means,
    people_alone,
    precisions,
    taus,
)
from stereometer.findings.align.names import EVERYBODY, Names
from stereometer.findings.align.profile import (
    ALL_GROUPS,
    Profile,
    beside_printed,
    printed_means,
    profile_of,
    ratings_file,
)
from stereometer.findings.align.raters import (
    BESIDE,
    Raters,
    by_raters,
    conditions,
    estimates_by_raters,
)
from stereometer.findings.align.ratings import (
    AS_IT_IS,
    Mean,
    Ratings,
    RatingsFormat,
    read_ratings,
    scale_of,
)
from stereometer.options import (
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
from stereometer.runs.execute import LOG, Announce, execute
from stereometer.runs.job import versions
from stereometer.runs.store import place_of
from stereometer.runs.stored import Run, Stored, run_of
from stereometer.shapes.trait.metrics import summarize as summarize_traits
from stereometer.show.numbers import spelled
from stereometer.stats.intervals import generator
from stereometer.tables import Layout
from stereometer.types import Estimate, Job, Result, Score, Settings, digest_of

KEPT = ("ratings", "scale", "templates", "pilot", "raters", "by", "seed", "resamples", "level")
"""What a result records of the plan."""


@dataclass(frozen=True)
class AlignmentSettings:
    """What is compared, and how."""

    ratings: Path
    settings: Settings
    templates: tuple[str, ...] = ()
    pilot: bool = False
    pilot_groups: tuple[str, ...] = GROUPS
    choice: Choice = field(default_factory=Choice)
    """The user's own groups and traits, whose other names the ratings may use."""
    raters: Raters = field(default_factory=Raters)
    """Which of the raters count, and which are set beside each other."""
    reading: RatingsFormat = AS_IT_IS
    """How the ratings are written."""


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
        Sequence[str],
        Option("Use only these templates of the run.", read=names_in),
    ] = (),
    pilot: Annotated[
        bool, "Choose at most two templates on the pilot groups; test on the others."
    ] = False,
    pilot_groups: Annotated[
        Sequence[str],
        Option("By default Asian, Black, Hispanic, immigrant.", read=names_in),
    ] = (),
    groups: Annotated[
        str | Path | None,
        "Your table of groups, if the ratings use other names than the run.",
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
        str | Path | None,
        "Table of those answers; by default demographics.csv beside the ratings.",
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
        Choice((str(groups),) if groups else (), Path(traits) if traits else None),
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
    profile, known = profile_of(run), grid(wanted.choice)
    if profile.is_survey and (wanted.pilot or wanted.templates):
        raise UsageError(
            f"{run.folder} is a survey that was put to a model. It has repeats and no templates. "
            "Leave out --pilot and --templates."
        )
    names = Names(known.groups, known.traits, profile.domains, profile.dimensions)
    ratings = read_ratings(wanted.ratings, names, wanted.reading)
    ratings, parts = by_raters(ratings, wanted.ratings, wanted.raters)
    if wanted.pilot:
        groups = dict.fromkeys(names.group(name, "--pilot-groups") for name in wanted.pilot_groups)
        wanted = replace(wanted, pilot_groups=tuple(groups))
    pilot, templates = _picked(profile, ratings, wanted)
    model = averaged(profile.scores, templates)
    cells = both(model, ratings, profile.domains, profile.dimensions)
    _check_rated(cells, wanted)
    judged = _judged(cells, pilot)
    compared = {label: both(model, part, cells.groups, cells.traits) for label, part in parts}
    for outlook in _outlook(len(judged.groups)):
        announce(outlook)
    notes = [
        *_notes(profile, ratings, cells, wanted, pilot, templates),
        *(note for _, part in parts for note in part.notes),
        *([] if wanted.raters.only else printed_means(wanted.ratings, ratings, names)),
    ]
    means = ratings.of(cells.groups).means(wanted.settings.level)
    plan = _plan(profile, ratings, wanted, templates, known)

    def summarize(scores: Iterable[Score]) -> list[Estimate]:
        """From the whole table, once the stream of cells is stored."""
        deque(scores, maxlen=0)
        whole = _estimates(cells, judged, means, profile, wanted.settings)
        of_raters = estimates_by_raters(compared, dict(parts), wanted.settings)
        if wanted.raters.only:
            return [*whole, *of_raters]
        left_out = wanted.pilot_groups if wanted.pilot else None
        printed = beside_printed(whole, run.result, ratings, templates, left_out)
        return [*printed, *of_raters]

    job = Job(
        plan=plan,
        kind="alignment",
        source=lambda: _cells(cells, means, profile, _associations(run, templates, wanted)),
        summarize=summarize,
        describe=lambda estimates: _result(profile, plan, notes, estimates, wanted),
    )
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
    if wanted.pilot:
        seed, traits = wanted.settings.seed, profile.dimensions
        pilot = choose(profile.scores, ratings, wanted.pilot_groups, seed, traits)
        return pilot, pilot.templates
    entries = [_Template(name) for name in profile.scores]
    picked = chosen("template", entries, wanted.templates, lambda template: ())
    return None, tuple(template.name for template in picked)


@dataclass(frozen=True)
class _Template:
    name: str


def _judged(cells: RatedCells, pilot: Pilot | None) -> RatedCells:
    """With a pilot, what is left without its groups."""
    judged = cells.among(
        [group for group in cells.groups if pilot is None or group not in pilot.groups]
    )
    if not judged.groups:
        raise UsageError(
            "The run has no rated group besides the pilot groups. Those choose the templates and "
            "cannot judge them. Run more groups, or leave out --pilot."
        )
    return judged


def _estimates(
    cells: RatedCells,
    judged: RatedCells,
    means: Mapping[tuple[str, str], Mean],
    profile: Profile,
    settings: Settings,
) -> Iterator[Estimate]:
    """With a pilot the overall values leave its groups out.

    They are given with them too, as the paper does.
    """
    overall = [CellPart({}, judged)]
    if judged.groups != cells.groups:
        overall.append(CellPart(ALL_GROUPS, cells))
    by_dimension = {
        name: judged.among(traits=[trait for trait, of in profile.dimensions.items() if of == name])
        for name in profile.dimensions.values()
    }
    dimensions = [
        CellPart({"dimension": of}, here) for of, here in by_dimension.items() if here.traits
    ]
    groups = [CellPart({"group": group}, cells.among([group])) for group in cells.groups]
    for part in overall:
        yield from taus(part, settings)
        yield from precisions(part, means, settings)
    for part in dimensions:
        yield from taus(part, settings)
    for part in groups:
        yield group_tau(part, settings)
        yield from precisions(part, means, settings)
    halves = split_half(cells, generator(settings.seed, {}, "split-half"))
    for part in (*overall, *dimensions, *groups):
        yield from people_alone(part, halves, settings)
    yield from human_means(means, cells)


Associations = Mapping[tuple[str, str], Estimate]
"""What the run itself says of each group and trait."""


def _associations(run: Run, templates: Sequence[str], wanted: AlignmentSettings) -> Associations:
    kept = (score for score in run.scores if score.slices["template"] in templates)
    return {
        (estimate.slice["group"], estimate.slice["trait"]): estimate
        for estimate in summarize_traits(kept, wanted.settings)
        if "trait" in estimate.slice
    }


def _cells(
    cells: RatedCells,
    means: Mapping[tuple[str, str], Mean],
    profile: Profile,
    associations: Associations,
) -> Iterator[Score]:
    """Each with the mean rating, and with what the run's own test says of it."""
    for (row, group), (column, trait) in product(enumerate(cells.groups), enumerate(cells.traits)):
        mean, value = means[group, trait], cells.model[row, column]
        slices = {
            "group": group,
            "domain": profile.domains[group],
            "trait": trait,
            "dimension": profile.dimensions.get(trait, ""),
        }
        people = {"people": mean.value, "low": mean.low, "high": mean.high, "spread": mean.spread}
        people |= {POLARISED: 1.0} if mean.polarised else {}
        if np.isnan(value):
            yield Score(f"{group}/{trait}", slices, {}, NO_SCORE, derived=people)
        else:
            values = {"model": float(value), "people": mean.value}
            sure = float(bool(associations[group, trait].beyond_noise))
            derived = people | {"beyond_noise": sure}
            yield Score(f"{group}/{trait}", slices, values, derived=derived)


def _notes(
    profile: Profile,
    ratings: Ratings,
    cells: RatedCells,
    wanted: AlignmentSettings,
    pilot: Pilot | None,
    templates: Sequence[str],
) -> Iterator[str]:
    yield from ratings.notes
    yield from _outlook(len(_judged(cells, pilot).groups))
    shown = ", ".join(templates) if len(templates) <= 4 else f"all {len(templates)} of the run"
    if profile.is_survey:
        yield f"Scores are ratings by the model: {len(templates)} repeats of the survey."
    elif list(templates) == [NO_TEMPLATE]:
        yield "Scores are of sentences of a text."
    else:
        yield f"Templates: {shown}."
    left = [group for group in ratings.groups if group not in cells.groups and group != EVERYBODY]
    left += [trait for trait in ratings.traits if trait not in cells.traits]
    if left:
        yield f"Rated, but not in the run: {', '.join(left)}."
    unrated = [group for group in profile.domains if group not in cells.groups]
    unrated += [trait for trait in profile.dimensions if trait not in cells.traits]
    if unrated:
        yield f"In the run, but not rated: {', '.join(unrated)}."
    if pilot is not None:
        yield (
            f"Templates were chosen among {pilot.tried} ways by tau {pilot.tau:.3f} on "
            f"{', '.join(pilot.groups)} (five raters each): values that include the pilot groups "
            "use the ratings that made the choice."
        )
    elif wanted.templates:
        yield (
            "Templates were named by hand: had they been chosen on these ratings, the values would "
            "flatter the model."
        )


def _outlook(count: int) -> Iterator[str]:
    """What so few groups could show at all."""
    if count < FEW:
        yield (
            f"{spelled(count).capitalize()} {'groups are' if count > 1 else 'group is'} judged. "
            f"Below {FEW} there is no interval and no test of tau: whatever its value, nothing "
            "can be told from chance."
        )


def _plan(
    profile: Profile,
    ratings: Ratings,
    wanted: AlignmentSettings,
    templates: Sequence[str],
    known: Grid,
) -> dict[str, Any]:
    result = profile.run.result
    rated = ratings.text or read_text(wanted.ratings, wanted.reading.layout.encoding)
    return {
        "benchmark": result.benchmark,
        "data": result.data["digest"],
        "measure": str(result.measured_by.plus("alignment")),
        "variant": result.variant,
        "model": result.model,
        "identity": digest_of(result.model_card),
        "scores": digest_of(
            {template: sorted(cells.items()) for template, cells in profile.scores.items()}
        ),
        "ratings": digest_of(rated),
        **_plan_of_reading(wanted.reading),
        "choice": digest_of(
            [asdict(group) for group in known.groups] + [asdict(trait) for trait in known.traits]
        ),
        "templates": list(templates),
        "pilot": list(wanted.pilot_groups) if wanted.pilot else None,
        **_plan_of_raters(wanted),
        "seed": wanted.settings.seed,
        "resamples": wanted.settings.resamples,
        "level": wanted.settings.level,
    }


def _plan_of_reading(reading: RatingsFormat) -> dict[str, Any]:
    """Only where the ratings are not read as they are: other plans stay as they were."""
    asked = read_text(reading.questions) if reading.questions else ""
    scale = asdict(reading.scale) | {"labels": list(reading.scale.labels)}
    own = {"scale": scale, "columns": asdict(reading.layout), "questions": asked}
    return {} if reading == AS_IT_IS else own


def _plan_of_raters(wanted: AlignmentSettings) -> dict[str, Any]:
    """Only where some are asked for: other plans stay as they were."""
    raters = wanted.raters
    if not raters.asked_for:
        return {}
    table = raters.table or wanted.ratings.with_name(BESIDE)
    return {
        "raters": [f"{question}={answer}" for question, answer in raters.only],
        "by": list(raters.by),
        "demographics": digest_of(read_text(table)),
    }


def _result(
    profile: Profile,
    plan: Mapping[str, Any],
    notes: Sequence[str],
    estimates: Sequence[Estimate],
    wanted: AlignmentSettings,
) -> Result:
    run = profile.run.result
    kept = {name: plan[name] for name in KEPT if name in plan}
    return replace(
        run,
        measure=plan["measure"],
        data=dict(run.data) | {"ratings": wanted.ratings.name},
        settings=dict(run.settings) | kept,
        versions=versions(),
        notes=(*run.notes, *notes),
        estimates=tuple(estimates),
        kind="alignment",
    )
