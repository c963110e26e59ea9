"""A method whose metrics no shape declares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stereometer.core.shapes.shape import Metric, Shape
from stereometer.core.types import Backend, Estimate, Score, Settings, Variant
from stereometer.kinds.pairs.methods import LIKELIHOOD


class Means:
    """Pairs scored as ever, counted as the mean of each sentence's score."""

    name, reads, kind = "means", "pair", "pair"
    variants, needs, options = LIKELIHOOD.variants, LIKELIHOOD.needs, LIKELIHOOD.options

    def bind(self, backend: Backend, variant: Variant, options: Any) -> BoundMeans:
        return BoundMeans(LIKELIHOOD.bind(backend, variant, options))


class BoundMeans:
    name = "means@1"

    def __init__(self, measure: Any) -> None:
        self.measure = measure

    def __getattr__(self, name: str) -> Any:
        return getattr(self.measure, name)

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        return Shape().summarize(scores, settings)


class Finely(Means):
    """The same, with a shape that declares its metrics to three digits."""

    name, kind = "finely", "finely"


class FineShape(Shape):
    name = "finely"
    metrics = (Metric("sent_more", "sent more", digits=3), Metric("sent_less", "less", digits=0))


MEANS, FINELY, FINE_SHAPE = Means(), Finely(), FineShape()
