"""A stored run of groups and traits held against people's ratings: an ordinary Result of its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from stereometer.benchmarks.abc.items import Choice, Grid, grid
from stereometer.benchmarks.abc.rows import chosen
from stereometer.benchmarks.abc.sentences import TOLD
from stereometer.errors import DataError, UsageError
from stereometer.files import read_text
from stereometer.findings.align.agreement import NO_SCORE, Both, both, split_half
from stereometer.findings.align.estimates import (
    Part,
    human_means,
    people_alone,
    precisions,
    tau,
    taus_by_group,
)
from stereometer.findings.align.names import EVERYBODY, Names
from stereometer.findings.align.pilot import GROUPS, Chosen, Scores, averaged, choose
from stereometer.findings.align.ratings import Mean, Ratings, differing, read_ratings
from stereometer.runs import store as runs
from stereometer.runs.runner import Tally, stored, versions
from stereometer.shapes.trait.metrics import difference
from stereometer.stats.intervals import generator
from stereometer.types import Estimate, Result, Score, Settings, digest_of

PUBLISHED_MEANS = "Aggregated_scores.json"
RELEASED_RATINGS = "b531611cf2bf4c22df047286d0831e7d5756108c12c3cc10d35ba7f8816a7514"
"""The ratings that the published means are of (Cao et al. 2022), by their content."""
ALL_GROUPS = {"groups": "pilot groups included"}


@dataclass(frozen=True)
class Ask:
    """What is compared, and how."""

    ratings: Path
    settings: Settings
    templates: tuple[str, ...] = ()
    pilot: bool = False
    pilot_groups: tuple[str, ...] = GROUPS
    choice: Choice = field(default_factory=Choice)
    """Groups and traits of one's own, whose other names the ratings may use."""


@dataclass(frozen=True)
class Profile:
    """A run's scores by template, and what its traits belong to."""

    result: Result
    scores: Scores
    dimensions: Mapping[str, str]
    domains: Mapping[str, str]


def load_profile(path: Path) -> Profile:
    """The scores of a run on groups and traits."""
    result = runs.load_result(path)
    scores: dict[str, dict[tuple[str, str], float]] = {}
    dimensions: dict[str, str] = {}
    domains: dict[str, str] = {}
    for score in runs.load_scores(path):
        if "template" not in score.slices or "trait" not in score.slices:
            raise UsageError(
                f"{path} is a run of {result.benchmark}, not of groups and traits. Alignment needs those. Name a run of abc."
            )
        dimensions[score.slices["trait"]] = score.slices["dimension"]
        domains[score.slices["group"]] = score.slices["domain"]
        if score.skipped is None:
            cell = score.slices["group"], score.slices["trait"]
            scores.setdefault(score.slices["template"], {})[cell] = difference(score.values)
    if not scores:
        raise DataError(
            f"{path} has no scores: every item was skipped. There is nothing to compare. See why in its result."
        )
    return Profile(result, scores, dimensions, domains)


def align(path: Path, ask: Ask, out: Path | None = None) -> tuple[Result, Path]:
    """Agreement of a run with ratings, stored in a folder of its own."""
    profile = load_profile(path)
    known = grid(ask.choice)
    names = Names(known.groups, known.traits)
    ratings = read_ratings(ask.ratings, names)
    if ask.pilot:
        ask = replace(
            ask,
            pilot_groups=tuple(
                dict.fromkeys(names.group(one, "--pilot-groups") for one in ask.pilot_groups)
            ),
        )
    found, wanted = _picked(profile, ratings, ask)
    model = averaged(profile.scores, wanted)
    cells = both(model, ratings, profile.domains, profile.dimensions)
    for kind, some in (("group", cells.groups), ("trait", cells.traits)):
        if not some:
            raise DataError(
                f"{ask.ratings} rates no {kind} of the run. There is nothing to compare. Check the run's {kind}s, or name a file with --{kind}s."
            )
    judged = _judged(cells, found)
    notes = _notes(profile, ratings, cells, ask, found, wanted, names)
    means = ratings.of(cells.groups).means(ask.settings.level)
    plan = _plan(profile, ask, wanted, known)

    def summarize(scores: Iterable[Score]) -> list[Estimate]:
        for _ in scores:
            pass
        return list(_estimates(cells, judged, means, profile, ask.settings))

    return stored(
        plan,
        _cells(cells, means, profile),
        summarize,
        lambda made: _result(profile, plan, notes, made, ask),
        out,
        Tally(),
    )


def _picked(profile: Profile, ratings: Ratings, ask: Ask) -> tuple[Chosen | None, tuple[str, ...]]:
    """The templates of the pilot, those named, or all of the run."""
    if ask.pilot:
        found = choose(
            profile.scores, ratings, ask.pilot_groups, ask.settings.seed, profile.dimensions
        )
        return found, found.templates
    entries = [_Template(name) for name in profile.scores]
    return None, tuple(
        one.name for one in chosen("template", entries, ask.templates, lambda one: ())
    )


@dataclass(frozen=True)
class _Template:
    name: str


def _judged(cells: Both, pilot: Chosen | None) -> Both:
    """With a pilot, what is left without its groups."""
    found = cells.among(
        [group for group in cells.groups if pilot is None or group not in pilot.groups]
    )
    if not found.groups:
        raise UsageError(
            "The run has no rated group besides the pilot groups. Those choose the templates and cannot judge them. Run more groups, or leave out --pilot."
        )
    return found


def _estimates(
    cells: Both,
    judged: Both,
    means: Mapping[tuple[str, str], Mean],
    profile: Profile,
    settings: Settings,
) -> Iterator[Estimate]:
    """With a pilot the overall values leave its groups out; they are given with them too, as the paper does."""
    overall = [
        Part({}, judged),
        *([Part(ALL_GROUPS, cells)] if judged.groups != cells.groups else []),
    ]
    dimensions = [Part({"dimension": name}, some) for name, some in _by_dimension(judged, profile)]
    groups = [Part({"group": group}, cells.among([group])) for group in cells.groups]
    for part in overall:
        yield tau(part, settings)
        yield from precisions(part, means, settings)
    yield from (tau(part, settings) for part in dimensions)
    yield from taus_by_group(cells, judged.groups, settings)
    yield from (precisions(part, means, settings)[0] for part in groups)
    halves = split_half(cells, generator(settings.seed, {}, "split-half"))
    yield from (people_alone(part, halves, settings) for part in (*overall, *dimensions, *groups))
    yield from human_means(means, cells)


def _by_dimension(cells: Both, profile: Profile) -> Iterator[tuple[str, Both]]:
    for dimension in dict.fromkeys(profile.dimensions.values()):
        some = cells.among(
            traits=[trait for trait in cells.traits if profile.dimensions.get(trait) == dimension]
        )
        if some.traits:
            yield dimension, some


def _cells(cells: Both, means: Mapping[tuple[str, str], Mean], profile: Profile) -> Iterator[Score]:
    for row, group in enumerate(cells.groups):
        for column, trait in enumerate(cells.traits):
            one, value = means[group, trait], cells.model[row, column]
            slices = {
                "group": group,
                "domain": profile.domains[group],
                "trait": trait,
                "dimension": profile.dimensions.get(trait, ""),
            }
            people = {"people": one.value, "low": one.low, "high": one.high}
            if np.isnan(value):
                yield Score(f"{group}/{trait}", slices, {}, NO_SCORE, derived=people)
            else:
                yield Score(
                    f"{group}/{trait}",
                    slices,
                    {"model": float(value), "people": one.value},
                    derived=people,
                )


def _notes(
    profile: Profile,
    ratings: Ratings,
    cells: Both,
    ask: Ask,
    pilot: Chosen | None,
    templates: Sequence[str],
    names: Names,
) -> list[str]:
    shown = ", ".join(templates) if len(templates) <= 4 else f"all {len(templates)} of the run"
    notes = [
        *ratings.notes,
        "Scores are of sentences of a text."
        if list(templates) == [TOLD]
        else f"Templates: {shown}.",
    ]
    left = [group for group in ratings.groups if group not in cells.groups and group != EVERYBODY]
    left += [trait for trait in ratings.traits if trait not in cells.traits]
    notes += [f"Rated, but not in the run: {', '.join(left)}."] if left else []
    if pilot is not None:
        notes.append(
            f"Templates were chosen of {pilot.tried} ways by tau {pilot.tau:.3f} on {', '.join(pilot.groups)} (five raters each): values with the pilot groups included judge with ratings that chose."
        )
    elif ask.templates:
        notes.append(
            "Templates were named by hand: had they been chosen on these ratings, the values would flatter the model."
        )
    return [*notes, *_published(ask.ratings, ratings, names)]


def _published(path: Path, ratings: Ratings, names: Names) -> list[str]:
    """Where the released means lie beside the released ratings: how many come out, and which do not."""
    beside = path.with_name(PUBLISHED_MEANS)
    if not beside.is_file() or sha256(read_text(path).encode()).hexdigest() != RELEASED_RATINGS:
        return []
    count, wrong = differing(beside, ratings, names)
    return [
        f"{count - len(wrong)} of {count} published means come out of the ratings.",
        *(f"Published mean that does not: {one}." for one in wrong),
    ]


def _plan(profile: Profile, ask: Ask, templates: Sequence[str], known: Grid) -> dict[str, Any]:
    result = profile.result
    return {
        "benchmark": result.benchmark,
        "data": result.data["digest"],
        "measure": _measure(result),
        "variant": result.variant,
        "model": result.model,
        "identity": digest_of(result.model_card),
        "scores": digest_of(
            {template: sorted(cells.items()) for template, cells in profile.scores.items()}
        ),
        "ratings": digest_of(read_text(ask.ratings)),
        "choice": digest_of(
            [asdict(group) for group in known.groups] + [asdict(trait) for trait in known.traits]
        ),
        "templates": list(templates),
        "pilot": list(ask.pilot_groups) if ask.pilot else None,
        "seed": ask.settings.seed,
        "resamples": ask.settings.resamples,
        "level": ask.settings.level,
    }


def _measure(result: Result) -> str:
    return f"{result.measure}+alignment"


def _result(
    profile: Profile,
    plan: Mapping[str, Any],
    notes: Sequence[str],
    estimates: Sequence[Estimate],
    ask: Ask,
) -> Result:
    run = profile.result
    kept = {
        name: plan[name] for name in ("ratings", "templates", "pilot", "seed", "resamples", "level")
    }
    return replace(
        run,
        measure=_measure(run),
        data=dict(run.data) | {"ratings": ask.ratings.name},
        settings=dict(run.settings) | kept,
        versions=versions(),
        notes=(*run.notes, *notes),
        estimates=tuple(estimates),
    )
