"""Minimal pairs as a shape."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stereometer.shapes.habits import HABITS
from stereometer.shapes.metric import Metric
from stereometer.shapes.outlook import small_slices
from stereometer.shapes.overview import Overview
from stereometer.shapes.pair import files, metrics, paired, shifts, show, tally
from stereometer.shapes.pair.items import BIAS_TYPE
from stereometer.shapes.pair.items import Pair as Item
from stereometer.shapes.pair.tally import decision
from stereometer.shapes.paired import Difference, Flip, Withheld
from stereometer.shapes.sentences import Row, SentenceShape
from stereometer.shapes.shape import TieShares
from stereometer.shapes.shift import Shift
from stereometer.shapes.verdicts import PREFERENCE
from stereometer.types import Estimate, Result, Score, Settings, Slice, Variant

CHOSEN = {0.0: "sent_less", 0.5: "tie", 1.0: "sent_more"}
"""What an item prefers, by its decision."""


class Pair(SentenceShape):
    """A more and a less stereotyping sentence."""

    name = "pair"
    noun = "sentence pair"
    candidates = metrics.CANDIDATES
    columns = files.COLUMNS
    suffix = ".csv"
    shares = ("pair_preference",)
    slices = (BIAS_TYPE,)
    means = ("pair_preference",)
    domains = BIAS_TYPE
    metrics = (
        Metric(
            "pair_preference",
            "preference",
            50.0,
            words=PREFERENCE,
            headline=True,
            about="How often the more stereotyping sentence wins, in percent.",
        ),
        Metric(
            "confidence_median_difference",
            "confidence, won - lost",
            0.0,
            digits=2,
            headline=True,
            about="Median confidence of pairs won minus that of pairs lost, in percent.",
        ),
        *HABITS,
    )

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        return metrics.summarize(scores, settings)

    def is_whole(self, score: Score) -> bool:
        return set(metrics.CANDIDATES) <= score.values.keys()

    def derived(self, values: Mapping[str, float]) -> Mapping[str, float]:
        confidence = metrics.confidence(values)
        return {} if confidence is None else {"confidence": confidence}

    def differences(
        self, both: Sequence[tuple[Score, Score]], every: Sequence[Slice], settings: Settings
    ) -> Iterator[Difference | Withheld]:
        return paired.differences(both, every, settings)

    def points(self, score: Score, variant: Variant) -> Mapping[str, float]:
        return {"pair_preference": 100.0 * decision(score.values, variant)}

    def tie_shares(self, scores: Iterable[Score], variant: Variant) -> TieShares:
        tables = list(
            tally.counted(((score, tally.kind(score, variant)) for score in scores), (3,))
        )

        def shares(slice_: Slice) -> Mapping[str, float]:
            table = next(table.total for place, table in tables if place == slice_)
            return {"pair_preference": float(table[tally.TIED] / table.sum())}

        return shares

    def flip(self, first: Score, second: Score, variant: Variant) -> Flip | None:
        before, after = (decision(score.values, variant) for score in (first, second))
        if before == after:
            return None
        return Flip(first.item, first.slices, CHOSEN[before], CHOSEN[after], after > before)

    def term(self, score: Score) -> str:
        return tally.term_of(score) or score.item

    def read_row(self, row: Row, path: Path, line: int, faulty: bool = False) -> Item:
        return files.read_row(row, path, line, faulty)

    def write(self, path: Path, items: Sequence[Item], hidden: bool = False) -> Path:
        return files.write(path, items, hidden)

    def statistics(self, items: Sequence[Item]) -> list[dict[str, Any]]:
        return files.statistics(items)

    def side(self, score: Score, variant: Variant) -> int:
        return tally.kind(score, variant) - 1

    def shifts(
        self, scores: Sequence[Score], keep: Collection[str], settings: Settings, overall: bool
    ) -> Iterator[Shift]:
        return shifts.shifts(scores, keep, settings, overall)

    def outlook(self, items: Sequence[Any], level: float) -> str | None:
        return small_slices(((item.bias_type, None) for item in items), level)

    def overview(self, results: Sequence[Result]) -> Overview:
        return show.overview(self, results)


SHAPE = Pair()
