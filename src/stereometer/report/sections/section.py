"""What a page shows of one kind of result, as plain data. This section is for any kind.

To show a kind of your own, write a class that inherits `Section`, override what should differ, and
name an instance of it in the catalog under `section`, or as an entry point in the group
`stereometer.sections`, under the name of the kind. An entry named `KIND/NAME` is a function from a
`Group` to figures; they stand after those of the kind's section.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from stereometer.report import tables
from stereometer.report.charts.forest import plain_axis
from stereometer.report.figures.curve import curve
from stereometer.report.figures.differences import differences
from stereometer.report.figures.slices import by_slice
from stereometer.report.systems import Group, Run
from stereometer.report.verdict import Verdict
from stereometer.show import numbers
from stereometer.show.figure import Figure
from stereometer.show.table import Table
from stereometer.types import Result

MoreFigures = Callable[[Group], Iterable[Figure]]
"""What an entry `KIND/NAME` of the catalog is."""


@dataclass(frozen=True)
class Content:
    """Everything the page says and shows of one group."""

    lead: tuple[str, ...]
    """All systems in a sentence or two."""
    verdicts: tuple[Verdict, ...]
    details: tuple[str, ...]
    """What holds of every system, in smaller print."""
    tables: tuple[Table, ...]
    """Beside the verdicts."""
    folded: tuple[Table, ...]
    """Behind a click."""
    figures: tuple[Figure, ...]
    items: Mapping[str, Any] | None
    """For the browser of items; None where there is none."""
    notes: tuple[tuple[str, str], ...]
    """Whose a note is (empty where it is everyone's), and the note."""


class Section:
    """How a kind of result is shown. Every method can be overridden alone."""

    noun: ClassVar[str] = ""
    """What an item is called; as the shape says where it is empty."""
    subject: ClassVar[str] = "Stereotypes in"
    """What a page is about, before the systems it is about."""
    title: ClassVar[str] = ""
    """Over the section; the title of the data where it is empty."""
    speaks: ClassVar[bool] = True
    """Whether one number speaks for a system: verdicts and a first table rest on it."""
    tests: ClassVar[str] = ""
    """How the p-values were found."""
    citation: ClassVar[tuple[str, str]] = ("", "")
    """The paper of the metrics, and what it is cited for."""
    without_items: ClassVar[str] = ""
    """Why there are no items to browse, where a reader could expect them."""

    # ---------------------------------------------------------------------------------- grouping

    def alike(self, result: Result) -> tuple[object, ...]:
        """Runs that agree in this may stand in one group."""
        data = result.data.get("digest"), result.data.get("items")
        alone = result.model if result.stopped else None
        return (result.benchmark, result.measure, result.variant, *data, alone)

    def ordered(self, runs: Sequence[Run]) -> Sequence[Run]:
        return runs

    def added(self, result: Result) -> str:
        """What follows the model's name in the label of a run."""
        return ""

    # ----------------------------------------------------------------------------------- showing

    def content(self, group: Group, more: Iterable[MoreFigures] = ()) -> Content:
        figures = [curve(group), *self.figures(group)]
        shown = {figure.id for figure in figures}
        others = (plain_forest(group, name) for name in group.undeclared)
        figures += [figure for figure in others if figure.id not in shown]
        figures += [figure for add in more for figure in add(group)]
        return Content(
            tuple(self.lead(group)),
            tuple(self.verdicts(group) if self.speaks else ()),
            tuple(self.details(group)),
            tuple(self.tables(group) if self.speaks else ()),
            tuple(self.folded(group)),
            tuple(figure for figure in figures if figure.charts or figure.tables),
            self.items(group),
            tuple(self.notes(group)),
        )

    def heading(self, group: Group) -> str:
        return self.title or group.title

    def subtitle(self, group: Group) -> str:
        return f"{drawn_from(group)}{group.first.measure}, variant {group.first.variant}"

    def line(self, group: Group) -> str:
        """What was measured, at the head of the page."""
        first = group.first
        count = numbers.count(int(first.data.get("items") or 0), self.noun or group.shape.noun)
        measured = f"measure {first.measure}, variant {first.variant}"
        return f"{self.heading(group)}: {count}, {measured}."

    def lead(self, group: Group) -> Iterable[str]:
        return ()

    def verdicts(self, group: Group) -> Iterator[Verdict]:
        """What the leading metric says of each system."""
        metric = group.shape.leading(group.first)
        placed = group.placed(metric.name, [{}])
        axis = plain_axis(metric.label, [estimate for _, estimate in placed])
        digits = group.digits(metric.name)
        for system, estimate in placed:
            shown = f"{metric.label} {numbers.both(estimate, digits)}"
            headline = f"{system.label}: {estimate.verdict or shown}."
            why = f"No {metric.label} is given: {estimate.why}."
            used = f"{shown} ({numbers.used(estimate)} used)."
            sentences = (why if estimate.value is None else used, metric.about)
            yield Verdict(system, estimate, axis, headline, sentences, digits=digits)

    def details(self, group: Group) -> Iterable[str]:
        return ()

    def tables(self, group: Group) -> Iterable[Table]:
        table = tables.headline(group)
        return [table] if len(table.columns) > 1 else []

    def folded(self, group: Group) -> Iterable[Table]:
        return ()

    def figures(self, group: Group) -> Iterator[Figure]:
        """A forest for each headline metric, then systems two at a time."""
        yield from (plain_forest(group, name) for name in group.headline)
        yield differences(group)

    def at_a_glance(self, group: Group) -> Iterator[Figure]:
        """What a leaderboard shows of overall values."""
        yield from ()

    def items(self, group: Group) -> Mapping[str, Any] | None:
        return None

    def notes(self, group: Group) -> Iterator[tuple[str, str]]:
        owners: dict[str, list[str]] = {}
        for system in group.systems:
            for note in dict.fromkeys(system.result.notes):
                owners.setdefault(note, []).append(system.label)
        for note, labels in owners.items():
            yield "" if len(labels) == len(group.systems) else ", ".join(labels), note


def plain_forest(group: Group, name: str) -> Figure:
    """Any metric by slice."""
    metric = group.shape.metric(name)
    estimates = [estimate for _, estimate in group.placed(name, group.slices(name))]
    axis = plain_axis(metric.label, estimates)
    about = metric.about or f"{metric.label.capitalize()}, with intervals."
    dashed = " The dashed line is the ideal." if axis.lines else ""
    lead = (
        f"{about}{dashed} A filled mark is beyond noise after the correction for the tests made; a "
        "hollow one is not, or was not tested.",
    )
    against = ", against the ideal" if axis.lines else ""
    return by_slice(group, name, metric.label.capitalize(), lead, axis, against)


def drawn_from(group: Group) -> str:
    """The file and the limit, where a section is not of a whole released data set."""
    source, limit = str(group.first.data.get("source", "")), group.first.settings.get("limit")
    own = not group.first.data.get("as_released", True) and Path(source).suffix
    parts = [*([Path(source).name] if own else []), *([f"limit {limit:,}"] if limit else [])]
    return "".join(f"{part}, " for part in parts)
