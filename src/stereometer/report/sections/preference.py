"""What cats and pairs share: a preference for stereotypes, where 50 is none."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from stereometer.findings.mitigation.show import about, headline
from stereometer.report.charts.forest import preference_axis
from stereometer.report.figures.slices import by_slice
from stereometer.report.items import Outcome, browser
from stereometer.report.sections.section import Section
from stereometer.report.systems import Group, System
from stereometer.report.verdict import Verdict
from stereometer.shapes.verdicts import NULL_VALUE
from stereometer.show import numbers
from stereometer.show.figure import Figure
from stereometer.show.slices import fixed_name, named
from stereometer.types import Estimate

FEW_NAMES = 5
"""Up to this many slices are named one by one."""
ADJUSTED = "p adjusted by Holm over the headline slices, those with fixed terms apart"


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

    outcome: ClassVar[Outcome]

    # ---------------------------------------------------------------------------------- showing

    def lead(self, group: Group) -> Iterator[str]:
        """All systems together, and what mitigations did; nothing for one, which speaks for
        itself."""
        if len(group.systems) > 1:
            yield together(group)
        for judged in group.mitigated:
            yield f"Mitigation {headline(judged)} ({about(judged)})."

    def verdicts(self, group: Group) -> Iterator[Verdict]:
        placed = group.placed(group.main, [{}])
        axis = preference_axis(group.main, [estimate for _, estimate in placed])
        shared = self.details(group)
        for system, estimate in placed:
            sentences = (*_preference(estimate, self.claim(estimate)), *self.more(system))
            details = [line for line in self._details(group, system) if line not in shared]
            headline = _headline(system.label, estimate)
            yield Verdict(system, estimate, axis, headline, sentences, tuple(details), "%")

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
            "distance from it, to either side. A filled mark can be distinguished from 50 after "
            "the correction for the tests made, a hollow one cannot.",
        )
        axis = preference_axis(name, [row for _, row in group.placed(name, group.slices(name))])
        title = "Preference for stereotypes"
        return by_slice(group, name, title, lead, axis, ", against the ideal line at 50")

    def items(self, group: Group) -> Mapping[str, Any] | None:
        return browser(group, type(self).outcome)


def together(group: Group) -> str:
    placed = group.placed(group.main, [{}])
    said: dict[tuple[int, str, str], list[str]] = {}
    for system, estimate in placed:
        said.setdefault(_said(estimate), []).append(system.label)
    parts = [
        f"{_how_many(labels, len(placed))} {several if len(labels) > 1 else single}"
        for (_, single, several), labels in sorted(said.items())
    ]
    return f"{'; '.join(parts)}.{_range(group.main, placed)}"


def _said(estimate: Estimate) -> tuple[int, str, str]:
    """Where a verdict stands among the others, and its words of one system and of several."""
    short = numbers.short(estimate)
    if estimate.value is None:
        return 4, "has no score", "have no score"
    if estimate.beyond_noise:
        return int(estimate.value < NULL_VALUE), short, short.replace("prefers", "prefer", 1)
    says = short or "not tested"
    return 2 if estimate.equivalent else 3, f"is {says}", f"are {says}"


def _how_many(labels: Sequence[str], of: int) -> str:
    """All of them, or which."""
    if len(labels) == of:
        return "Both systems" if of == 2 else f"All {numbers.spelled(of)} systems"
    return numbers.listed(labels)


def _range(name: str, placed: Sequence[tuple[System, Estimate]]) -> str:
    known = sorted(
        (row for row in placed if row[1].value is not None),
        key=lambda row: (row[1].value or 0.0, row[0].label),
    )
    if len(known) < 2:
        return ""
    low, high = (f"{numbers.both(row)} ({system.label})" for system, row in (known[0], known[-1]))
    return f" {name} runs from {low} to {high}, where {NULL_VALUE:g} is no preference."


def _headline(label: str, estimate: Estimate) -> str:
    if estimate.value is None:
        return f"{label} has no score."
    if estimate.beyond_noise:
        return f"{label} {estimate.verdict}."
    short = numbers.short(estimate)
    return f"{label}: {short or 'not tested'}."


def _preference(estimate: Estimate, claim: str) -> Iterator[str]:
    if estimate.value is None:
        yield f"No {estimate.name} is given: {estimate.why}.{_bounds(estimate)}"
        return
    share = f"{numbers.value(estimate)}{numbers.NO_BREAK}% {numbers.interval(estimate)}"
    ties = f", {numbers.count(estimate.ties, 'tie')}" if estimate.ties else ""
    p = f"; {numbers.p_value(estimate.p_adjusted)}" if estimate.p_adjusted is not None else ""
    yield (
        f"{claim.format(share)}, where {NULL_VALUE:g} is no preference "
        f"({numbers.used(estimate)} used{ties}{p})."
    )
    if estimate.ties:
        yield _bounds(estimate).strip()
    if not estimate.beyond_noise and not estimate.equivalent:
        yield f"This does not show that there is no preference{_fitting(estimate)}."


def _bounds(estimate: Estimate) -> str:
    """What the ties leave open."""
    if estimate.least is None:
        return ""
    low, high = numbers.number(estimate.least), numbers.number(estimate.most)
    return f" It would be {low} if every tie were lost, {high} if every one were won."


def _fitting(estimate: Estimate) -> str:
    """A wide interval is not good news."""
    if estimate.low is None or estimate.high is None or estimate.low == estimate.high:
        return ""
    low, high = numbers.number(estimate.low), numbers.number(estimate.high)
    seen = numbers.number(estimate.detectable)
    shown = "" if estimate.detectable is None else f"; this set could have shown {seen}"
    return f": anything from {low} to {high} fits what was seen{shown}"


def _slices(group: Group, system: System) -> Iterator[str]:
    """How many slices are beyond noise, by kind, and which are not or point the other way."""
    coarse = group.slices(group.main)
    rows = [row for slice_ in coarse if slice_ and (row := system.find(group.main, slice_))]
    if not rows:
        return
    sure = [row for row in rows if row.beyond_noise]
    total, after = numbers.count(len(rows), "slice"), "after Holm's correction"
    if not sure:
        yield f"In none of {total} is there a preference beyond noise, {after}."
    else:
        kinds: dict[tuple[str, ...], list[Estimate]] = {}
        for row in rows:
            kinds.setdefault(tuple(row.slice), []).append(row)
        parts = [
            f"{sum(bool(row.beyond_noise) for row in alike)} of {len(alike)} "
            f"{fixed_name(kind, many=len(alike) != 1)}"
            for kind, alike in kinds.items()
        ]
        yield f"Beyond noise in {len(sure)} of {total}, {after}: {', '.join(parts)}."
    neither = [row for row in rows if row.value is not None and not row.beyond_noise]
    below = [row for row in sure if (row.value or 0.0) < NULL_VALUE]
    near = [row for row in neither if row.equivalent]
    yield from _named("These are", sure if len(sure) < len(rows) / 2 else [])
    yield from _named("Near 50 within the margin:", near)
    open_ = [row for row in neither if not row.equivalent]
    yield from _named("Undecided:", open_ if sure else [])
    yield from _named("It prefers anti-stereotypes in", below)
    yield from _named("No score for", [row for row in rows if row.value is None])


def _named(claim: str, rows: Sequence[Estimate]) -> Iterator[str]:
    if 0 < len(rows) <= FEW_NAMES:
        yield f"{claim} {numbers.listed([named(row.slice) for row in rows])}."


def _published(group: Group, system: System) -> Iterator[str]:
    names = [metric.name for metric in group.shape.metrics]
    rows = [row for name in names if (row := system.find(name, {})) and row.published]
    sources = dict.fromkeys(row.published.source for row in rows if row.published)
    values = [f"{row.name} {numbers.number(row.published.value)}" for row in rows if row.published]
    if rows:
        listed = numbers.listed(list(sources))
        yield f"Published: {numbers.listed(values)} ({listed})."
