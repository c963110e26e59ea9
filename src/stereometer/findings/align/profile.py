"""What a run says of groups and traits, by template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stereometer.errors import DataError, UsageError
from stereometer.findings.align.pilot import TemplateScores
from stereometer.runs.store import SCORES
from stereometer.runs.stored import Run, run_of
from stereometer.shapes.trait.metrics import difference
from stereometer.shapes.trait.shape import Survey, Trait


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
        return isinstance(self.run.shape, Survey)


def profile_of(run: Run) -> Profile:
    """The scores of a run on groups and traits."""
    if not isinstance(run.shape, Trait):
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
    if not isinstance(run.shape, Survey):
        raise UsageError(
            f"{path} is not a survey. Ratings are a file, or the folder of a survey that was put "
            "to a model. Name one of those."
        )
    return run.folder / SCORES
