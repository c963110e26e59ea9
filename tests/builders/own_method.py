"""A method whose metrics no shape declares."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from stereometer.core.shapes.shape import Metric, Shape
from stereometer.core.types import Backend, Estimate, Method, Score, Settings, Variant
from stereometer.kinds.pairs.methods import LIKELIHOOD


class Means(Method):
    """Pairs scored as ever, counted as the mean of each sentence's score."""

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
    """With a shape that declares its metrics to three digits."""

    kind = "finely"


class FineShape(Shape):
    name = "finely"
    metrics = (Metric("sent_more", "sent more", digits=3), Metric("sent_less", "less", digits=0))


MEANS, FINELY = (
    made(
        name,
        reads="pair",
        needs=LIKELIHOOD.needs,
        variants=LIKELIHOOD.variants,
        options=LIKELIHOOD.options,
    )
    for made, name in ((Means, "means"), (Finely, "finely"))
)
FINE_SHAPE = FineShape()
