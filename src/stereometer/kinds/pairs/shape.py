"""Minimal pairs as a shape."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stereometer.core.shapes.points import KINDS, TIED, wording
from stereometer.core.shapes.preference import HABITS, first_tables, small_slices
from stereometer.core.shapes.sentences import SentenceShape
from stereometer.core.shapes.shape import Metric, TieShares
from stereometer.core.shapes.verdicts import PREFERENCE
from stereometer.core.shapes.view import overall
from stereometer.core.show import numbers
from stereometer.core.show.view import View
from stereometer.core.types import Result, Score, Slice, Variant, digest_of
from stereometer.kinds.pairs import files, metrics
from stereometer.kinds.pairs.differences import differences, shifts
from stereometer.kinds.pairs.items import BIAS_TYPE, DIRECTION, TARGET, Pair
from stereometer.kinds.pairs.metrics import counted, decision, table_slices


class PairShape(SentenceShape):
    """A more and a less stereotyping sentence."""

    name = "pair"
    noun = "sentence pair"
    candidates = metrics.CANDIDATES
    preference = "pair_preference"
    item = Pair
    measures = ("pair-likelihood", "pair-sentence-likelihood")
    summarize = staticmethod(metrics.summarize)
    columns = files.COLUMNS
    suffix = ".csv"
    shares = ("pair_preference",)
    slices = (BIAS_TYPE,)
    principal = (DIRECTION,)
    means = ("pair_preference",)
    unit_by = (TARGET,)
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
    kinds = KINDS
    table = staticmethod(counted)
    table_slices = staticmethod(table_slices)
    differences_of = staticmethod(differences)
    shifts_of = staticmethod(shifts)
    read_released = staticmethod(files.read_pairs)
    read_row = staticmethod(files.read_row)
    write = staticmethod(files.write)
    statistics = staticmethod(files.statistics)

    def view(self, results: Sequence[Result]) -> View:
        sure = self._confidence(results[0]) if len(results) == 1 else ()
        return first_tables(self, results, self.means, lambda rows: sure)

    def _confidence(self, result: Result) -> Sequence[str]:
        metric = self.metric("confidence_median_difference")
        found = overall(result).get(metric.name)
        if found is None or found.value is None:
            return ()
        value = numbers.with_interval(found, metric.digits)
        return (f"{metric.label}: {value}, the difference of medians in percent (ideal 0).",)

    def is_whole(self, score: Score) -> bool:
        return set(metrics.CANDIDATES) <= score.values.keys()

    def derived(self, values: Mapping[str, float]) -> Mapping[str, float]:
        confidence = metrics.confidence(values)
        return {} if confidence is None else {"confidence": confidence}

    def says(self, score: Score, variant: Variant) -> int:
        return decision(score.values, variant)

    def points(self, score: Score, variant: Variant) -> Mapping[str, float]:
        return {"pair_preference": 50.0 * decision(score.values, variant)}

    def tie_shares(self, scores: Iterable[Score], variant: Variant) -> TieShares:
        table = metrics.tally(scores, variant)

        def shares(slice_: Slice) -> Mapping[str, float]:
            counts = table.within(slice_).total
            return {"pair_preference": counts[TIED] / max(1, counts.sum())}

        return shares

    def term(self, score: Score) -> str:
        words = wording(score)
        return score.slices.get(TARGET) or (digest_of(words) if words else score.item)

    def side(self, score: Score, variant: Variant) -> int:
        return decision(score.values, variant) - 1

    def outlook(self, items: Sequence[Any], level: float) -> str | None:
        return small_slices(((item.bias_type, None) for item in items if item.bias_type), level)


SHAPE = PairShape()
