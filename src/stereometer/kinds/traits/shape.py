"""Associations of groups with traits as a shape."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from stereometer.core.shapes.shape import Metric, NotCompared, Shape, metrics_beside
from stereometer.core.show.view import View
from stereometer.core.types import Estimate, Result, Score, Settings
from stereometer.kinds.traits import metrics
from stereometer.kinds.traits.view import first_tables
from stereometer.kinds.traits.words import REPEATS, SENTENCES, TEMPLATES, TWO_GROUPS, ProfileWords


class TraitShape(NotCompared, Shape):
    """A template about a group, and the two poles of a trait that could complete it."""

    name = "trait"
    slices = ("group", "domain", "trait", "dimension", "template")
    words: ClassVar[ProfileWords] = TEMPLATES
    """What a profile of these items says."""
    noun = "cell"
    fine = ("trait",)
    places: ClassVar[Mapping[str, tuple[str, ...]]] = {"association": ("group",)}
    metrics: ClassVar[tuple[Metric, ...]] = metrics_beside(__file__)

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        return metrics.summarize(scores, settings)

    def is_whole(self, score: Score) -> bool:
        return "effect" in score.values or {"left", "right"} <= score.values.keys()

    def statistics(self, items: Sequence[Any]) -> list[dict[str, Any]]:
        """What is crossed: groups by domain, traits by dimension, templates by kind, with names."""
        lists: dict[tuple[str, str], dict[str, None]] = {}
        for kind, of, name in (part for item in items for part in item.parts):
            lists.setdefault((kind, of), {})[name] = None
        return [
            {"what": kind, "of": of, "count": len(names), "names": ", ".join(names)}
            for (kind, of), names in sorted(lists.items())
        ]

    def outlook(self, items: Sequence[Any], level: float) -> str | None:
        templates = {item.slices["template"] for item in items}
        cells = {(item.slices["group"], item.slices["trait"]) for item in items}
        return metrics.outlook(len(templates), len(cells), level)

    def view(self, results: Sequence[Result]) -> View:
        return first_tables(self, results, self.words)


class SentencesShape(TraitShape):
    """Sentences of a text that hold a word of a group, and those that hold a word of a pole."""

    name = "sentences"
    words = SENTENCES

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        return metrics.summarize_sentences(scores, settings)

    def outlook(self, items: Sequence[Any], level: float) -> str | None:
        return None


class SentencePairsShape(SentencesShape):
    """Sentences of a text that name one of two groups."""

    name = "sentence-pairs"
    words = TWO_GROUPS


class SurveyShape(TraitShape):
    """Scales of a survey on which a model rates groups."""

    name = "survey"
    words = REPEATS
    metrics = (
        *TraitShape.metrics,
        Metric(
            "answered_mean",
            "mean answer",
            50.0,
            about="The mean answer before poles are turned back: away from 50 a model likes one end"
            " of the scale, whatever stands there.",
        ),
    )

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        return metrics.summarize_ratings(scores, settings)

    def outlook(self, items: Sequence[Any], level: float) -> str | None:
        return None


SURVEY_SHAPE = SurveyShape()
SHAPE, SENTENCE_SHAPE, SENTENCE_PAIR_SHAPE = TraitShape(), SentencesShape(), SentencePairsShape()
