"""Facts: a sentence that is right, and the same with a word that makes it wrong. No stereotype is
involved, so the ideal is to agree always."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from stereometer.core.shapes.differences import Difference, Withheld
from stereometer.core.shapes.points import TIE
from stereometer.core.shapes.shape import Metric, Shape
from stereometer.core.shapes.verdicts import LANGUAGE, judged
from stereometer.core.stats.intervals import Floats, wilson_percent
from stereometer.core.stats.tests import sign_test
from stereometer.core.types import Estimate, ItemDefaults, Score, Settings, Slice, Variant

FACT, AGREEMENT = "fact", "agreement"
ABOUT = "How often the sentence that is right beats the one that is wrong, in percent."


@dataclass(frozen=True)
class Fact(ItemDefaults):
    """A sentence in which an attribute follows from a word, and one that contradicts it."""

    shape: ClassVar[str] = FACT
    id: str
    right: str
    wrong: str
    attribute: str
    kind: str
    """Why it is a fact: `kin`, `role`, `title` ..."""

    @property
    def slices(self) -> Slice:
        return {"attribute": self.attribute, "fact": self.kind}

    @property
    def texts(self) -> Mapping[str, str]:
        return {"right": self.right, "wrong": self.wrong}


class FactShape(Shape):
    """A right and a wrong sentence."""

    name = FACT
    noun = "fact"
    slices = ("attribute", "fact")
    principal = ("attribute",)
    metrics = (Metric(AGREEMENT, AGREEMENT, 100.0, words=LANGUAGE, headline=True, about=ABOUT),)

    def is_whole(self, score: Score) -> bool:
        return {"right", "wrong"} <= score.values.keys()

    def points(self, score: Score, variant: Variant) -> Mapping[str, float]:
        tied = abs(score.values["right"] - score.values["wrong"]) < TIE
        won = score.values["right"] > score.values["wrong"]
        return {AGREEMENT: 50.0 if tied else 100.0 * won}

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        return judged(super().summarize(scores, settings), {AGREEMENT: LANGUAGE}, settings)

    def measured(
        self, values: Floats, slice_: Slice, name: str, settings: Settings
    ) -> Mapping[str, Any]:
        value, (won, tied) = float(values.mean()), (int((values == of).sum()) for of in (100, 50))
        low, high = wilson_percent(value, values.size, settings.level)
        return {
            "value": value,
            "low": low,
            "high": high,
            "interval": "Wilson over facts",
            "ties": tied,
            "scope": "facts like these",
            "p": sign_test(won, values.size - won - tied),
            "test": "exact sign test over facts that are not ties",
        }

    def differences(
        self, both: Sequence[tuple[Score, Score]], every: Sequence[Slice], settings: Settings
    ) -> Iterator[Difference | Withheld]:
        """Where no fact changed sides, what that leaves possible."""
        for row in super().differences(both, every, settings):
            if isinstance(row, Difference) and row.low == row.high:
                row = row.without_spread(settings)
            yield row


SHAPE = FactShape()
