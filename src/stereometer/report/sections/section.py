"""What a page shows of one kind of result, as plain data. This section is for any kind.

To show a kind of your own, write a class that inherits `Section`, override what should differ, and
name an instance of it in the catalog under `section`, or as an entry point in the group
`stereometer.sections`, under the name of the kind. An entry named `KIND/NAME` is a function from a
`Group` to figures; they stand after those of the kind's section.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from stereometer.core.addendum import addenda
from stereometer.core.runs.stored import Run
from stereometer.core.show import numbers
from stereometer.core.show.figure import Figure
from stereometer.core.show.table import Table
from stereometer.core.show.view import Verdict, View, line
from stereometer.core.types import Estimate, Result
from stereometer.report import tables
from stereometer.report.charts.forest import plain_axis
from stereometer.report.figures.curve import curve
from stereometer.report.figures.differences import across
from stereometer.report.figures.slices import by_slice
from stereometer.report.matrix import Column, entry, tally
from stereometer.report.systems import Group

MoreFigures = Callable[[Group], Iterable[Figure]]
"""What an entry `KIND/NAME` of the catalog is."""


class Section:
    """How a kind of result is shown. Every method can be overridden alone."""

    subject: ClassVar[str] = "Stereotypes in"
    """What a page is about, before the systems it is about."""
    title: ClassVar[str] = ""
    """Over the section; the title of the data where it is empty."""
    speaks: ClassVar[bool] = True
    """Whether one number speaks for a system: the first screen, verdicts and a table rest on it."""
    citation: ClassVar[tuple[str, str]] = ("", "")
    """The paper of the metrics, and what it is cited for."""
    without_items: ClassVar[str] = ""
    """Why there are no items to browse, where a reader could expect them."""

    # ---------------------------------------------------------------------------------- grouping

    def alike(self, result: Result) -> tuple[object, ...]:
        """Runs that agree in this may stand in one group."""
        data = result.data.get("digest"), result.data.get("items")
        alone = result.model if result.stopped else None
        return (result.benchmark, result.measure, result.variant, result.asked_as, *data, alone)

    def within(self, run: Run) -> Iterable[str]:
        """Digests of the scores of other runs that this one shows, so that they have no section of
        their own."""
        return ()

    def ordered(self, runs: Sequence[Run]) -> Sequence[Run]:
        return runs

    def added(self, result: Result) -> str:
        """What follows the model's name in the label of a run."""
        return ""

    # ----------------------------------------------------------------------------------- showing

    def view(self, group: Group, more: Iterable[MoreFigures] = (), said: str = "") -> View:
        """Of the systems that are shown; `said` stands before the table, which has all of them."""
        shown = group.shown
        return View(
            self.heading(group),
            about=(self.subtitle(group),),
            parts=(
                *map(line, (*self.lead(shown), *([said] if said else ()))),
                *(self.tables(group) if self.speaks else ()),
                *(replace(table, folded=True) for table in self.folded(shown)),
            ),
            verdicts=tuple(self.verdicts(shown) if self.speaks else ()),
            notes=tuple(self.details(shown)),
            draw=lambda: self._drawn(shown, more),
        )

    def _drawn(self, group: Group, more: Iterable[MoreFigures]) -> Iterator[Figure]:
        first = (figure for each in addenda() for figure in each.leading_figures(group))
        figures = [curve(group), *first, *self.figures(group)]
        shown = {figure.id for figure in figures}
        others = (plain_forest(group, name) for name in group.undeclared)
        figures += [figure for figure in others if figure.id not in shown]
        figures += [figure for add in more for figure in add(group)]
        return (figure for figure in figures if figure.charts or figure.tables)

    def heading(self, group: Group) -> str:
        return self.title or group.title

    def subtitle(self, group: Group) -> str:
        first = group.first
        asked = f", asked as {first.asked_as}" if first.asked_as else ""
        return f"{drawn_from(group)}{first.measure}, variant {first.variant}{asked}"

    def columns(self, group: Group) -> Iterator[Column]:
        """On the first screen: the leading metric, or how many tests found something."""
        how = group.how
        if not self.speaks:
            entries = {system.name: tally(system) for system in group.systems}
            yield Column(group, self.heading(group), "tests beyond noise", how, entries)
            return
        metric, digits = group.shape.leading(group.first), group.digits(group.main)
        found = [(system, system.find(metric.name, {})) for system in group.systems]
        entries = {one.name: entry(one, row, digits) if row else tally(one) for one, row in found}
        named = metric_line(metric.label, [row for _, row in found if row])
        yield Column(group, self.heading(group), named, how, entries)

    def lead(self, group: Group) -> Iterable[str]:
        """All systems in a sentence or two."""
        return (each.sentence for found in group.findings.values() for each in found)

    def verdicts(self, group: Group) -> Iterator[Verdict]:
        """What the leading metric says of each system."""
        metric = group.shape.leading(group.first)
        digits = group.digits(metric.name)
        for system, estimate in group.placed(metric.name, [{}]):
            shown = f"{metric.label} {numbers.both(estimate, digits)}"
            headline = f"{system.label}: {estimate.verdict or shown}."
            why = f"No {metric.label} is given: {estimate.why}."
            used = f"{shown} ({numbers.used(estimate)} used)."
            sentences = (why if estimate.value is None else used, metric.about)
            yield Verdict(system.number, estimate, headline, sentences, digits=digits)

    def details(self, group: Group) -> Iterable[str]:
        """What holds of every system, in smaller print."""
        return ()

    def tables(self, group: Group) -> Iterable[Table]:
        """Beside the verdicts."""
        table = tables.headline(group)
        return [table] if len(table.columns) > 1 else []

    def folded(self, group: Group) -> Iterable[Table]:
        """Behind a click."""
        return ()

    def figures(self, group: Group) -> Iterator[Figure]:
        """A forest for each headline metric, then systems two at a time."""
        yield from (plain_forest(group, name) for name in group.headline)
        yield from across(group)

    def at_a_glance(self, group: Group) -> Iterator[Figure]:
        """Overall values, for the first screen and for a board."""
        yield from ()

    def items(self, group: Group) -> Mapping[str, Any] | None:
        """For the browser of items; None where there is none."""
        return None


def metric_line(label: str, rows: Sequence[Estimate]) -> str:
    ideals = dict.fromkeys(f"{row.ideal:g}" for row in rows if row.ideal is not None)
    return ", ideal ".join((label, *list(ideals)[:1]))


def plain_forest(group: Group, name: str) -> Figure:
    """Any metric by slice."""
    metric = group.shape.metric(name)
    estimates = [estimate for _, estimate in group.placed(name, group.slices(name))]
    axis = plain_axis(metric.label, estimates)
    about = metric.about or f"{metric.label.capitalize()}, with intervals."
    dashed = " The dashed line is the ideal." if axis.lines else ""
    lead = (f"{about}{dashed}",)
    against = ", against the ideal" if axis.lines else ""
    return by_slice(group, name, metric.label.capitalize(), lead, axis, against)


def drawn_from(group: Group) -> str:
    """The file and the limit, where a section is not of a whole released data set."""
    source, limit = str(group.first.data.get("source", "")), group.first.settings.get("limit")
    own = not group.first.data.get("as_released", True) and Path(source).suffix
    parts = [*([Path(source).name] if own else []), *([f"limit {limit:,}"] if limit else [])]
    return "".join(f"{part}, " for part in parts)
