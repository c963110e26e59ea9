"""Agreement of a run on groups and traits with people's ratings, as a kind of result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stereometer.shapes.metric import Metric
from stereometer.shapes.overview import Overview, has, overall, rows_of, used_cell
from stereometer.shapes.shape import NotCompared, Shape
from stereometer.show.numbers import says, with_interval
from stereometer.show.table import Cell, Table, number, text
from stereometer.types import Estimate, Result, Score

SHOWN = {
    "tau": "tau",
    "precision_at_3": "precision at 3",
    "human_split_half_tau": "people's split-half tau",
}
READING = (
    "tau: Kendall's tau-b over groups and traits; p of a group is adjusted (Holm) over the groups "
    "that are tested. Overall and by dimension p is that of the model's traits permuted for all "
    "groups together, and a verdict needs an interval without 0 as well. Halves of the raters are "
    "compared on the cells of the same row."
)
CAUTION = (
    "Agreement says that a model repeats what people think that others think: "
    "it is neither truth nor merit."
)

AT_3 = "Of the three traits people tie most to a group, how many are among the model's three"


class Alignment(NotCompared, Shape):
    """A group and a trait: the model's association beside the mean rating."""

    name = "alignment"
    slices = ("group", "domain", "trait", "dimension")
    noun = "cell"
    fine = ("group", "trait")
    metrics = (
        Metric(
            "tau",
            "tau",
            1.0,
            digits=3,
            headline=True,
            about="Kendall's tau between the model's associations and people's mean ratings.",
        ),
        Metric("precision_at_3", "P@3", 100.0, headline=True, about=f"{AT_3}, in percent."),
        Metric("precision_at_3_top", "P@3, top", 100.0, about=f"{AT_3}: the right poles."),
        Metric("precision_at_3_bottom", "P@3, bottom", 100.0, about=f"{AT_3}: the left poles."),
        Metric(
            "precision_at_3_decided",
            "P@3, decided",
            100.0,
            about=f"{AT_3}, where raters' intervals leave out the middle.",
        ),
        Metric(
            "human_split_half_tau",
            "tau of people with people",
            1.0,
            digits=3,
            headline=True,
            about="Kendall's tau between the mean ratings of two halves of the raters.",
        ),
        Metric(
            "human_mean", "mean rating", about="The mean rating of a group on a trait, 0 to 100."
        ),
    )

    def is_whole(self, score: Score) -> bool:
        drawn = {"people", "low", "high"} <= score.derived.keys()
        return drawn and {"model", "people"} <= score.values.keys()

    def overview(self, results: Sequence[Result]) -> Overview:
        if len(results) > 1 or not has(results, "tau"):
            return super().overview(results)
        every_slice = Shape()
        rows = [row for row in rows_of(every_slice, results) if "tau" in row[1]]
        heads = [text(title) for title in (*SHOWN.values(), "what tau says")]
        table = Table((text(""), number("n / asked"), *heads), tuple(_cells(*row) for row in rows))
        return Overview((table,), (_reading(results[0]), CAUTION), "Agreement with people")


def _cells(label: str, estimates: Mapping[str, Estimate]) -> tuple[Cell, ...]:
    tau = estimates["tau"]
    shown = [estimates.get(name) for name in SHOWN]
    values = [text("" if value is None else with_interval(value, 3)) for value in shown]
    return (text(label), used_cell(tau), *values, text(says(tau) or tau.why or ""))


def _reading(result: Result) -> str:
    at_3 = overall(result).get("precision_at_3")
    best = None if at_3 is None else at_3.ideal
    ideal = "" if best is None else f" Precision at 3: people's own order gets {best:.3f}."
    return f"{READING}{ideal}"


SHAPE = Alignment()
