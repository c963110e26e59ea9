"""Agreement of a run on groups and traits with people's ratings, as a kind of result."""

from collections.abc import Callable, Mapping, Sequence

from stereometer.core.shapes import view
from stereometer.core.shapes.shape import NotCompared, Shape, metrics_beside
from stereometer.core.show.numbers import value, with_interval
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.show.view import View, aside
from stereometer.core.types import Estimate, Result, Score

SHOWN = {
    "tau": "tau",
    "precision_at_3_top": "P@3, top",
    "precision_at_3_bottom": "P@3, bottom",
    "best_possible_tau": "best possible tau",
}
READING = (
    "tau: Kendall's tau-b over groups and traits. Overall and by dimension it is tested by "
    "exchanging the model's groups, and a verdict needs an interval without 0 as well; single "
    "groups are not tested, and their intervals are of other raters and these traits. "
    "Best possible: what all people think on average would get with these raters; its ends are of "
    "splits of these raters, and hold the truth less often than an interval would."
)
CAUTION = (
    "Agreement says that a model repeats what people think that others think: "
    "it is neither truth nor merit."
)

MARKED = 5
"""Polarised cells that are named."""


class Alignment(NotCompared, Shape):
    """A group and a trait: the model's association beside the mean rating."""

    name = "alignment"
    slices = ("group", "domain", "trait", "dimension")
    noun = "cell"
    of_runs = True
    fine = ("group", "trait")
    metrics = metrics_beside(__file__)

    def is_whole(self, score: Score) -> bool:
        drawn = {"people", "low", "high"} <= score.derived.keys()
        return drawn and {"model", "people"} <= score.values.keys()

    def view(self, results: Sequence[Result]) -> View:
        if len(results) > 1 or not view.has(results, "tau"):
            return super().view(results)
        every_slice = Shape()
        rows = [row for row in view.rows_of(every_slice, results) if "tau" in row[1]]
        heads = [text(title) for title in SHOWN.values()]
        columns = (text(""), number("n / asked"), *heads, *view.VERDICT)
        table = Table(columns, tuple(_cells(*row) for row in rows))
        legend = (_reading(results[0]), CAUTION, *view.absences((), rows, SHOWN))
        return View("Agreement with people", parts=(table, *aside(*legend)))


def _cells(label: str, estimates: Mapping[str, Estimate]) -> tuple[Cell, ...]:
    tau = estimates["tau"]
    others = [estimates.get(name) for name in SHOWN if name != tau.name]
    values = [_value(other, value) for other in others]
    said = view.verdict_cells(tau) if tau.verdict else (text(tau.why or ""), number(""))
    return (text(label), view.used_cell(tau), _value(tau, with_interval), *values, *said)


def _value(estimate: Estimate | None, written: Callable[[Estimate, int], str]) -> Cell:
    if estimate is None:
        return text("")
    return text(written(estimate, 3), *view.published_lines(estimate, 3))


def _reading(result: Result) -> str:
    known = view.overall(result)
    at_3 = known.get("precision_at_3")
    best = None if at_3 is None else at_3.ideal
    ideal = "" if best is None else f" Precision at 3: people's own order gets {best:.3f}."
    return f"{READING}{ideal}{_people(known)}{_polarised(result)}"


def _polarised(result: Result) -> str:
    """Where a mean hides two camps, of all raters together."""
    spreads = (row for row in result.estimates if row.name == "human_spread")
    cells = [row for row in spreads if "raters" not in row.slice]
    marked = [f"{cell.slice['group']}/{cell.slice['trait']}" for cell in cells if cell.verdict]
    if not marked:
        return ""
    named = ", ".join(marked[:MARKED]) + (", ..." if len(marked) > MARKED else "")
    return f" Raters are polarised in {len(marked)} of {len(cells)} cells: {named}."


def _people(known: Mapping[str, Estimate]) -> str:
    halves, panel = (known.get(name) for name in ("human_split_half_tau", "human_panel_tau"))
    if halves is None or panel is None or halves.value is None or panel.value is None:
        return ""
    return (
        f" Halves of the raters agree at {halves.value:.3f}; another panel as large would get "
        f"{panel.value:.3f}."
    )


SHAPE = Alignment()
