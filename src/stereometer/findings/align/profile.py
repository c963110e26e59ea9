"""What a run says of groups and traits, by template, and what Cao et al. (2022) printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stereometer.benchmarks.published import Measured, with_published
from stereometer.errors import DataError, UsageError
from stereometer.findings.align.agreement import GROUPS, TemplateScores
from stereometer.findings.align.names import Names
from stereometer.findings.align.ratings import Ratings, differing
from stereometer.runs.store import SCORES
from stereometer.runs.stored import Run, run_of
from stereometer.shapes.trait.metrics import difference
from stereometer.shapes.trait.shape import SurveyShape, TraitShape
from stereometer.types import Estimate, Result, Slice


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
    dimensions: dict[str, str] = {}
    domains: dict[str, str] = {}
    for score in run.scores:
        cell = score.slices["group"], score.slices["trait"]
        dimensions[score.slices["trait"]] = score.slices["dimension"]
        domains[score.slices["group"]] = score.slices["domain"]
        if score.skipped is None:
            scores.setdefault(score.slices["template"], {})[cell] = difference(score.values)
    if not scores:
        raise DataError(
            f"{run.folder} has no scores: every item was skipped. There is nothing to compare. "
            "See why in its result."
        )
    return Profile(run, scores, dimensions, domains)


def ratings_file(path: Path) -> Path:
    """A file of ratings; of the folder of a survey that was put to a model, its scores."""
    if not path.is_dir():
        return path
    run = run_of(path)
    if not isinstance(run.shape, SurveyShape):
        raise UsageError(
            f"{path} is not a survey. Ratings are a file, or the folder of a survey that was put "
            "to a model. Name one of those."
        )
    return run.folder / SCORES


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
    settings = {"templates": list(templates)}
    measured = Measured(
        run.data["digest"],
        run.model_card.get("spec") or run.model,
        run.measure,
        run.variant,
        settings,
    )

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
