"""A run on groups and traits beside the ratings that count, and beside what Cao et al. (2022)
printed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from stereometer.core.benchmarks.published import Conditions, with_published
from stereometer.core.errors import DataError, UsageError
from stereometer.core.runs.stored import Run
from stereometer.core.show.numbers import spelled
from stereometer.core.stats.intervals import generator
from stereometer.core.types import Estimate, Result, Score, Settings, Slice, digest_of
from stereometer.kinds.traits.abc.sentences import NO_TEMPLATE
from stereometer.kinds.traits.align import estimates as told
from stereometer.kinds.traits.align.agreement import (
    GROUPS,
    NO_SCORE,
    Pilot,
    RatedCells,
    TemplateScores,
    split_half,
)
from stereometer.kinds.traits.align.names import EVERYBODY, Names
from stereometer.kinds.traits.align.raters import Raters, Said
from stereometer.kinds.traits.align.ratings import AS_IT_IS, Mean, Ratings, RatingsFormat, differing
from stereometer.kinds.traits.metrics import difference
from stereometer.kinds.traits.metrics import summarize as summarize_traits
from stereometer.kinds.traits.shape import SurveyShape, TraitShape


@dataclass(frozen=True)
class AlignmentSettings:
    """What is compared, and how."""

    ratings: Path
    settings: Settings
    templates: tuple[str, ...] = ()
    pilot: bool = False
    pilot_groups: tuple[str, ...] = GROUPS
    groups: Path | None = None
    """The user's own groups and traits, whose other names the ratings may use."""
    traits: Path | None = None
    raters: Raters = field(default_factory=Raters)
    """Which of the raters count, and which are set beside each other."""
    reading: RatingsFormat = AS_IT_IS
    """How the ratings are written."""


@dataclass(frozen=True)
class Profile:
    """A run's scores by template, and what its traits belong to."""

    run: Run
    scores: TemplateScores
    dimensions: Mapping[str, str]
    domains: Mapping[str, str]

    @property
    def is_survey(self) -> bool:
        """Whether the model was asked for ratings, as people are."""
        return isinstance(self.run.shape, SurveyShape)


def profile_of(run: Run) -> Profile:
    """The scores of a run on groups and traits."""
    if not isinstance(run.shape, TraitShape):
        raise UsageError(
            f"{run.folder} is a run of {run.result.benchmark}, not of groups and traits. "
            "Alignment needs those. Name a run of abc."
        )
    scores: dict[str, dict[tuple[str, str], float]] = {}
    dimensions = {score.slices["trait"]: score.slices["dimension"] for score in run.scores}
    domains = {score.slices["group"]: score.slices["domain"] for score in run.scores}
    for score in run.scores:
        if score.skipped is None:
            cell = score.slices["group"], score.slices["trait"]
            scores.setdefault(score.slices["template"], {})[cell] = difference(score.values)
    if not scores:
        raise DataError(
            f"{run.folder} has no scores: every item was skipped. There is nothing to compare. "
            "See why in its result."
        )
    return Profile(run, scores, dimensions, domains)


PUBLISHED_MEANS = "Aggregated_scores.json"
ALL_GROUPS = {"groups": "pilot groups included"}
"""The slice of all groups where a pilot leaves some out of the overall values."""


def beside_printed(
    estimates: Iterable[Estimate],
    run: Result,
    ratings: Ratings,
    templates: Sequence[str],
    pilot: Sequence[str] | None,
) -> list[Estimate]:
    """With the values of Tables 6, A11 to A13 and A19, whose templates a pilot had chosen."""
    if not ratings.are_released:
        return list(estimates)
    model, settings = run.model_card.get("spec") or run.model, {"templates": list(templates)}
    measured = Conditions(run.data["digest"], model, run.measure, run.variant, settings)

    def place(slice_: Slice) -> Slice:
        if slice_ == ALL_GROUPS or (not slice_ and pilot is None):
            return {"groups": "all"}
        besides = not slice_ and pilot is not None and tuple(pilot) == GROUPS
        return {"groups": "besides the pilot"} if besides else slice_

    return with_published(estimates, measured, place)


def printed_means(path: Path, ratings: Ratings, names: Names) -> list[str]:
    """Beside the released ratings, the released means: how many come out, and which do not."""
    beside = path.with_name(PUBLISHED_MEANS)
    if not beside.is_file() or not ratings.are_released:
        return []
    count, wrong = differing(beside, ratings, names)
    return [
        f"{count - len(wrong)} of {count} published means come out of the ratings.",
        *(f"Published mean that does not: {cell}." for cell in wrong),
    ]


@dataclass(frozen=True)
class RunBesidePeople:
    """The scores of a run beside the ratings that count."""

    profile: Profile
    ratings: Ratings
    wanted: AlignmentSettings
    pilot: Pilot | None
    templates: Sequence[str]
    cells: RatedCells

    @cached_property
    def judged(self) -> RatedCells:
        """With a pilot, what is left without its groups."""
        chose = self.pilot.groups if self.pilot else ()
        judged = self.cells.among([group for group in self.cells.groups if group not in chose])
        if not judged.groups:
            raise UsageError(
                "The run has no rated group besides the pilot groups. Those choose the templates "
                "and cannot judge them. Run more groups, or leave out --pilot."
            )
        return judged

    @cached_property
    def means(self) -> Mapping[tuple[str, str], Mean]:
        return self.ratings.of(self.cells.groups).means(self.wanted.settings.level)

    def estimates(self) -> Iterator[Estimate]:
        """With a pilot the overall values leave its groups out. They are given with them too, as
        the paper does."""
        cells, judged, settings = self.cells, self.judged, self.wanted.settings
        overall = [judged]
        if judged.groups != cells.groups:
            overall.append(cells.among(of=ALL_GROUPS))
        of, dimensions = self.profile.dimensions, []
        for name in dict.fromkeys(of.values()):
            traits = [trait for trait in judged.traits if of.get(trait) == name]
            if traits:
                dimensions.append(judged.among(traits=traits, of={"dimension": name}))
        groups = [cells.among([group], of={"group": group}) for group in cells.groups]
        for part in overall:
            yield from told.taus(part, settings)
            yield from told.precisions(part, self.means, settings)
        for part in dimensions:
            yield from told.taus(part, settings)
        for part in groups:
            yield told.group_tau(part, settings)
            yield from told.precisions(part, self.means, settings)
        halves = split_half(cells, generator(settings.seed, {}, "split-half"))
        for part in (*overall, *dimensions, *groups):
            yield from told.people_alone(part, halves, settings)
        yield from told.human_means(self.means, cells)

    def scores(self) -> Iterator[Score]:
        """Each cell with the mean rating, and with what the run's own test says of it."""
        cells, profile = self.cells, self.profile
        kept = (each for each in profile.run.scores if each.slices["template"] in self.templates)
        own = {
            (estimate.slice["group"], estimate.slice["trait"]): estimate
            for estimate in summarize_traits(kept, self.wanted.settings)
            if "trait" in estimate.slice
        }
        for (row, column), value in np.ndenumerate(cells.model):
            group, trait = cells.groups[row], cells.traits[column]
            slices = {"group": group, "domain": profile.domains[group], "trait": trait}
            slices["dimension"] = profile.dimensions.get(trait, "")
            mean = self.means[group, trait]
            known = {"people": mean.value, "low": mean.low, "high": mean.high}
            people = {**known, "spread": mean.spread}
            people |= {told.POLARISED: 1.0} if mean.polarised else {}
            if np.isnan(value):
                yield Score(f"{group}/{trait}", slices, {}, NO_SCORE, derived=people)
            else:
                values = {"model": float(value), "people": mean.value}
                people["beyond_noise"] = float(bool(own[group, trait].beyond_noise))
                yield Score(f"{group}/{trait}", slices, values, derived=people)

    @property
    def notes(self) -> Iterator[str]:
        profile, cells, templates = self.profile, self.cells, self.templates
        yield from self.ratings.notes
        yield from self.outlook
        if profile.is_survey:
            yield f"Scores are ratings by the model: {len(templates)} repeats of the survey."
        elif list(templates) == [NO_TEMPLATE]:
            yield "Scores are of sentences of a text."
        else:
            few = len(templates) <= 4
            shown = ", ".join(templates) if few else f"all {len(templates)} of the run"
            yield f"Templates: {shown}."
        rated = [name for name in self.ratings.groups if name != EVERYBODY]
        for what, groups, traits in (
            ("Rated, but not in the run", rated, self.ratings.traits),
            ("In the run, but not rated", profile.domains, profile.dimensions),
        ):
            left = [group for group in groups if group not in cells.groups]
            left += [trait for trait in traits if trait not in cells.traits]
            if left:
                yield f"{what}: {', '.join(left)}."
        if self.pilot is not None:
            yield (
                f"Templates were chosen among {self.pilot.tried} ways by tau {self.pilot.tau:.3f} "
                f"on {', '.join(self.pilot.groups)} (five raters each): values that include the "
                "pilot groups use the ratings that made the choice."
            )
        elif self.wanted.templates:
            yield (
                "Templates were named by hand: had they been chosen on these ratings, the values "
                "would flatter the model."
            )

    @property
    def outlook(self) -> Iterator[str]:
        """What so few groups could show at all."""
        count, few = len(self.judged.groups), told.FEW
        if count < few:
            yield (
                f"{spelled(count).capitalize()} {'groups are' if count > 1 else 'group is'} "
                f"judged. Below {few} there is no interval and no test of tau: whatever its "
                "value, nothing can be told from chance."
            )

    def plan(self, choice: str, said: Said) -> dict[str, Any]:
        """What is not asked for stands in no plan."""
        run, wanted, settings = self.profile.run.result, self.wanted, self.wanted.settings
        scores = self.profile.scores
        reading, raters = wanted.reading, wanted.raters
        plan = {
            "benchmark": run.benchmark,
            "data": run.data["digest"],
            "measure": str(run.measured_by.plus("alignment")),
            "variant": run.variant,
            "model": run.model,
            "identity": digest_of(run.model_card),
            "scores": digest_of({name: sorted(table.items()) for name, table in scores.items()}),
            "ratings": self.ratings.digest,
            "choice": choice,
            "templates": list(self.templates),
            "pilot": list(wanted.pilot_groups) if wanted.pilot else None,
            "seed": settings.seed,
            "resamples": settings.resamples,
            "level": settings.level,
        }
        if reading != AS_IT_IS:
            scale = asdict(reading.scale) | {"labels": list(reading.scale.labels)}
            plan |= {"scale": scale, "columns": asdict(reading.layout)}
        if raters.asked_for:
            only = [f"{question}={answer}" for question, answer in raters.only]
            plan |= {"raters": only, "by": list(raters.by), "demographics": digest_of(said)}
        return plan
