"""What cats and pairs share: a preference for stereotypes, where 50 is none."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from stereometer.core.shapes.shape import Contrast
from stereometer.core.shapes.verdicts import NULL_VALUE
from stereometer.core.show import numbers
from stereometer.core.show.figure import Figure
from stereometer.core.show.slices import named
from stereometer.core.show.view import Verdict
from stereometer.core.types import Estimate
from stereometer.report.charts.forest import preference_axis
from stereometer.report.figures.slices import by_slice
from stereometer.report.items import browser
from stereometer.report.sections.section import Section
from stereometer.report.systems import Group, System

FEW_NAMES = 5
"""Up to this many slices are named one by one."""


class Preference(Section, ABC):
    scored: ClassVar[str] = "item"
    what: ClassVar[str] = ""
    """What the metric counts, in percent of what."""
    without_items = (
        "No run of this section has its `scores.jsonl` beside its result, so there are no items "
        "to show."
    )

    # ------------------------------------------------------------------------- what a kind adds

    @abstractmethod
    def claim(self, estimate: Estimate) -> str:
        """A sentence with {} for the value."""

    @abstractmethod
    def more(self, system: System) -> Iterator[str]:
        """What else is said of a system after its preference."""

    def more_details(self, system: System) -> Iterator[str]:
        yield from ()

    # ---------------------------------------------------------------------------------- showing

    def verdicts(self, group: Group) -> Iterator[Verdict]:
        shared = self.details(group)
        for system, estimate in group.placed(group.main, [{}]):
            sentences = (*_preference(estimate, self.claim(estimate)), *self.more(system))
            details = [line for line in self._details(group, system) if line not in shared]
            headline = f"{system.label}: {numbers.short(estimate) or numbers.value(estimate)}."
            yield Verdict(system.number, estimate, headline, sentences, tuple(details), "%")

    def details(self, group: Group) -> tuple[str, ...]:
        first, *others = (tuple(self._details(group, system)) for system in group.systems)
        return tuple(line for line in first if others and all(line in other for other in others))

    def _details(self, group: Group, system: System) -> Iterator[str]:
        yield from _slices(group, system)
        yield from self.more_details(system)
        yield from _published(group, system)
        overall = system.find(group.main, {})
        if overall is not None and overall.skipped:
            reasons = ", ".join(f"{why} ({n:,})" for why, n in sorted(overall.skipped.items()))
            total = numbers.count(sum(overall.skipped.values()), self.scored)
            yield f"{total} could not be scored: {reasons}."

    def preference(self, group: Group) -> Figure:
        name = group.main
        lead = (
            f"{name}: {self.what}. The dashed line at 50 is no preference; what counts is the "
            "distance from it, to either side.",
        )
        axis = preference_axis(name, [row for _, row in group.placed(name, group.slices(name))])
        title = "Preference for stereotypes"
        return by_slice(group, name, title, lead, axis, ", against the ideal line at 50")

    def items(self, group: Group) -> Mapping[str, Any] | None:
        return browser(group, group.shape) if isinstance(group.shape, Contrast) else None


def _preference(estimate: Estimate, claim: str) -> Iterator[str]:
    if estimate.value is None:
        yield f"No {estimate.name} is given: {estimate.why}.{_bounds(estimate)}"
        return
    share = f"{numbers.value(estimate)}{numbers.NO_BREAK}% {numbers.interval(estimate)}"
    ties = f", {numbers.count(estimate.ties, 'tie')}" if estimate.ties else ""
    p = f"; {numbers.p_value(estimate.p_adjusted)}" if estimate.p_adjusted is not None else ""
    said = estimate.verdict or "not tested"
    verdict = "" if said == numbers.short(estimate) else f": {said}"
    yield (
        f"{claim.format(share)}, where {NULL_VALUE:g} is no preference "
        f"({numbers.used(estimate)} used{ties}{p}){verdict}."
    )
    if estimate.ties:
        yield _bounds(estimate).strip()


def _bounds(estimate: Estimate) -> str:
    """What the ties leave open."""
    if estimate.least is None:
        return ""
    low, high = numbers.number(estimate.least), numbers.number(estimate.most)
    return f" It would be {low} if every tie were lost, {high} if every one were won."


def _slices(group: Group, system: System) -> Iterator[str]:
    """How many slices say what, and which where they are few."""
    coarse = group.slices(group.main)
    rows = [row for slice_ in coarse if slice_ and (row := system.find(group.main, slice_))]
    said: dict[str, list[str]] = {}
    for row in rows:
        says = numbers.short(row) or ("no score" if row.value is None else "not tested")
        said.setdefault(says, []).append(named(row.slice))
    listed = {says: f" ({numbers.listed(names)})" for says, names in said.items()}
    parts = [
        f"{says} in {len(names)}{listed[says] if len(names) <= FEW_NAMES else ''}"
        for says, names in said.items()
    ]
    if parts:
        yield f"Of {numbers.count(len(rows), 'slice')}: {'; '.join(parts)}."


def _published(group: Group, system: System) -> Iterator[str]:
    names = [metric.name for metric in group.shape.metrics]
    rows = [row for name in names if (row := system.find(name, {})) and row.published]
    sources = dict.fromkeys(row.published.source for row in rows if row.published)
    values = [f"{row.name} {numbers.number(row.published.value)}" for row in rows if row.published]
    if rows:
        listed = numbers.listed(list(sources))
        yield f"Published: {numbers.listed(values)} ({listed})."
