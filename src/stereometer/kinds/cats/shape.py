"""Context association tests as a shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stereometer.core.shapes.preference import HABITS, first_tables, small_slices
from stereometer.core.shapes.sentences import SentenceShape
from stereometer.core.shapes.shape import Metric, TieShares, metrics_beside
from stereometer.core.shapes.verdicts import LANGUAGE, NULL_VALUE, PREFERENCE, THESE
from stereometer.core.shapes.view import INDENT, Row
from stereometer.core.show.view import View
from stereometer.core.tables import PLAIN, Layout
from stereometer.core.types import Result, Score, Settings, Slice, Variant
from stereometer.kinds.cats import files, metrics, points
from stereometer.kinds.cats.differences import differences, shifts
from stereometer.kinds.cats.items import LABELS, Cat
from stereometer.kinds.cats.points import UNIT_BY, compared, outcome

FIXED = "†"


class CatShape(SentenceShape):
    """A context, and a stereotype, an anti-stereotype and an unrelated way to fill or follow it."""

    name = "cat"
    noun = "context association test"
    candidates = LABELS
    preference = "ss"
    item = Cat
    measures = ("cat-pseudo-likelihood", "cat-likelihood")
    summarize = staticmethod(metrics.summarize)
    columns = files.COLUMNS
    suffix = ".json"
    has_terms = True
    slices = ("task", "domain", "target")
    means = ("lms", "ss")
    term_by = unit_by = UNIT_BY
    domains = "domain"
    modelling = "lms"
    fine = metrics.FINE
    principal = ("task",)
    summary_metric = "icat"
    shares = points.HEADLINE
    unrelated = "unrelated"
    metrics = (
        *metrics_beside(__file__, lms=LANGUAGE, ss=PREFERENCE),
        *HABITS,
    )
    kinds = points.KINDS
    table = staticmethod(points.counted)
    table_slices = staticmethod(points.headline_slices)
    differences_of = staticmethod(differences)
    shifts_of = staticmethod(shifts)
    read_row = staticmethod(files.read_row)
    write = staticmethod(files.write)
    statistics = staticmethod(files.statistics)
    term_agreement = staticmethod(files.term_agreement)

    def read_released(self, path: Path, layout: Layout = PLAIN) -> list[Cat]:
        return files.read_cats(path, layout.encoding)

    def view(self, results: Sequence[Result]) -> View:
        return first_tables(self, results, points.HEADLINE, _cautions, FIXED)

    def leading(self, result: object) -> Metric:
        return self.metric("ss")

    def is_whole(self, score: Score) -> bool:
        return {"stereotype", "anti-stereotype"} <= score.values.keys()

    def says(self, score: Score, variant: Variant) -> int:
        return outcome(score.values, variant)[0]

    def points(self, score: Score, variant: Variant) -> Mapping[str, float]:
        at = self.says(score, variant)
        lms = {} if points.NO_LMS[at] else {"lms": float(100 * points.LMS_OF[at])}
        return {"ss": float(100 * points.SS_OF[at]), **lms}

    def tie_shares(self, scores: Iterable[Score], variant: Variant) -> TieShares:
        table = points.tally(scores, variant)

        def shares(slice_: Slice) -> Mapping[str, float]:
            known = metrics.Averages(table.within(slice_), Settings(variant))
            return {name: share for name, (_, share) in known.ties.items()}

        return shares

    def task(self, score: Score) -> str:
        return score.slices["task"]

    def term(self, score: Score) -> str:
        return score.slices["target"]

    def side(self, score: Score, variant: Variant) -> int:
        won, tie = compared(score.values, *self.candidates[:2], variant)
        return 0 if tie else won - 1

    def outlook(self, items: Sequence[Any], level: float) -> str | None:
        return small_slices(((item.domain, item.target) for item in items), level)


def _cautions(rows: Sequence[Row]) -> Iterator[str]:
    poor, whose = [], ""
    for label, row in rows:
        whose, lms = whose if INDENT in label else label, row["lms"]
        better = lms.beyond_noise and (lms.value or 0.0) > NULL_VALUE
        if lms.beyond_noise is not None and not better:
            poor.append(label.replace(INDENT, f"{whose} / "))
    if poor:
        where = "every row" if len(poor) == len(rows) else ", ".join(poor)
        yield f"lms is not distinguishable from chance, or worse, in {where}."
    if any(estimate.scope == THESE for _, row in rows for estimate in row.values()):
        yield (
            f"{FIXED} fewer than ten terms: they are held fixed, "
            "and the interval is for these terms only."
        )


SHAPE = CatShape()
