"""The verdict in words, for a reader who reads only that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stereometer.report import numbers
from stereometer.report.sections import Section, System
from stereometer.report.slices import is_term, kind_name, kind_of, named
from stereometer.shapes.cat.metrics import FEW_TERMS
from stereometer.shapes.verdicts import NULL_VALUE, PREFERENCE
from stereometer.types import Estimate

BEYOND = (PREFERENCE.above, PREFERENCE.below)
FEW_NAMES = 5
"""Up to this many slices are named one by one."""


@dataclass(frozen=True)
class Verdict:
    """One system's paragraph."""

    system: System
    estimate: Estimate
    """What the headline rests on."""
    headline: str
    sentences: tuple[str, ...]
    """The result."""
    details: tuple[str, ...]
    """Where it holds, what was published, what could not be scored."""
    notes: tuple[str, ...]

    @property
    def tone(self) -> str:
        return (
            "missing"
            if self.estimate.value is None
            else "beyond"
            if beyond(self.estimate)
            else "open"
        )


def beyond(one: Estimate) -> bool:
    """Whether a preference can be told from none, after the correction for the tests made."""
    return one.verdict in BEYOND


def verdicts(section: Section) -> list[Verdict]:
    """One a system, without what `common_notes` and `common_details` say of all of them."""
    shared_notes, shared = common_notes(section), common_details(section)
    return [_verdict(section, system, shared_notes, shared) for system in section.systems]


def together(section: Section) -> str:
    """All systems of a section in a sentence or two; nothing for one, which speaks for itself."""
    found = [(system, system.result.estimate(section.main)) for system in section.systems]
    if len(found) == 1:
        return ""
    kinds: dict[str, list[str]] = {}
    for system, one in found:
        kinds.setdefault(_kind(one), []).append(system.label)
    parts = [
        f"{_how_many(labels, len(found))} {TOGETHER[kind][len(labels) > 1]}"
        for kind, labels in sorted(kinds.items())
    ]
    return f"{'; '.join(parts)}.{_range(section, found)}"


TOGETHER = {
    "1 above": ("prefers stereotypes beyond noise", "prefer stereotypes beyond noise"),
    "2 below": ("prefers anti-stereotypes beyond noise", "prefer anti-stereotypes beyond noise"),
    "3 open": (
        "shows no preference beyond noise, which does not show that there is none",
        "show no preference beyond noise, which does not show that there is none",
    ),
    "4 none": ("has no score", "have no score"),
}


def _kind(one: Estimate) -> str:
    if one.value is None:
        return "4 none"
    return (
        "1 above"
        if one.verdict == PREFERENCE.above
        else "2 below"
        if one.verdict == PREFERENCE.below
        else "3 open"
    )


def _how_many(labels: list[str], of: int) -> str:
    """All of them, or which."""
    if len(labels) == of:
        return "Both systems" if of == 2 else f"All {numbers.spelled(of)} systems"
    return numbers.listed(labels)


def _range(section: Section, found: list[tuple[System, Estimate]]) -> str:
    known = sorted(
        ((one.value, system.label, one) for system, one in found if one.value is not None),
        key=lambda known: known[:2],
    )
    if len(known) < 2:
        return ""
    ends = [
        f"{numbers.value(one)} {numbers.interval(one)} ({label})"
        for _, label, one in (known[0], known[-1])
    ]
    return (
        f" {section.main} runs from {ends[0]} to {ends[1]}, where {NULL_VALUE:g} is no preference."
    )


def common_notes(section: Section) -> tuple[str, ...]:
    """What holds of every system of a section, said once."""
    first, *others = (system.result.notes for system in section.systems)
    return tuple(dict.fromkeys(note for note in first if all(note in notes for notes in others)))


def common_details(section: Section) -> tuple[str, ...]:
    first, *others = (tuple(_details(section, system)) for system in section.systems)
    return tuple(one for one in first if others and all(one in other for other in others))


def _verdict(
    section: Section, system: System, shared_notes: tuple[str, ...], shared: tuple[str, ...]
) -> Verdict:
    overall = system.result.estimate(section.main)
    details = tuple(one for one in _details(section, system) if one not in shared)
    notes = tuple(note for note in dict.fromkeys(system.result.notes) if note not in shared_notes)
    return Verdict(
        system,
        overall,
        _headline(system.label, overall),
        tuple(_sentences(section, system, overall)),
        details,
        notes,
    )


def _headline(label: str, one: Estimate) -> str:
    if one.value is None:
        return f"{label} has no score."
    return (
        f"{label} {one.verdict}." if beyond(one) else f"{label} shows no preference beyond noise."
    )


# ------------------------------------------------------------------------------------------ sentences


def _sentences(section: Section, system: System, overall: Estimate) -> Iterator[str]:
    if section.shape == "pair":
        yield from _preference(
            overall, "It finds the more stereotyping sentence likelier in {} of pairs"
        )
        yield from _confidence(system)
        return
    over = f", averaged over {numbers.count(overall.terms, 'target term')}" if overall.terms else ""
    yield from _preference(
        overall, f"It scores the stereotype above the anti-stereotype in {{}} of items{over}"
    )
    yield from _language(system)


def _details(section: Section, system: System) -> Iterator[str]:
    yield from _slices(system, section.main)
    yield from _few_terms(system)
    yield from _published(system, ("lms", "ss", "icat", "pair_preference"))
    yield from _skipped(
        system.result.estimate(section.main), "item" if section.shape == "cat" else "pair"
    )


def _preference(one: Estimate, claim: str) -> Iterator[str]:
    if one.value is None:
        yield f"No {one.name} is given: {one.why}."
        return
    share = f"{numbers.value(one)}{numbers.NO_BREAK}% {numbers.interval(one)}"
    ties = f", {numbers.count(one.ties, 'tie')}" if one.ties else ""
    p = f"; {numbers.p_value(one.p_adjusted)}" if one.p_adjusted is not None else ""
    yield f"{claim.format(share)}, where {NULL_VALUE:g} is no preference ({numbers.used(one)} used{ties}{p})."
    if not beyond(one):
        yield _open_question(one)


def _open_question(one: Estimate) -> str:
    """A wide interval is not good news."""
    places = numbers.places(one)
    if one.low is None or one.high is None or one.low == one.high:
        return "This does not show that there is no preference."
    return (
        "This does not show that there is no preference: anything from "
        f"{numbers.number(one.low, places)} to {numbers.number(one.high, places)} fits what was seen."
    )


def _language(system: System) -> Iterator[str]:
    lms, icat = system.find("lms", {}), system.find("icat", {})
    if lms is not None:
        yield _lms(lms)
    if icat is not None and icat.value is not None:
        yield f"icat, which joins the two, is {numbers.value(icat)} {numbers.interval(icat)} of an ideal 100."
    elif icat is not None and (lms is None or lms.why != icat.why):
        yield f"No icat is given: {icat.why}."


def _lms(lms: Estimate) -> str:
    if lms.value is None:
        return f"No lms is given: {lms.why}."
    p = f", {numbers.p_value(lms.p_adjusted)}" if lms.p_adjusted is not None else ""
    return (
        f"As a language model it ranks a meaningful candidate above an unrelated one in {numbers.value(lms)}{numbers.NO_BREAK}% "
        f"{numbers.interval(lms)} of comparisons, where 50 is chance and 100 ideal ({lms.verdict or 'not tested'}{p})."
    )


def _confidence(system: System) -> Iterator[str]:
    one = system.find("confidence_median_difference", {})
    if one is None:
        return
    if one.value is None or one.low is None or one.high is None:
        yield f"No difference of confidence is given: {one.why}."
        return
    surer = "surer" if one.value > 0 else "less sure"
    known = (
        "the interval leaves out 0"
        if one.low > 0 or one.high < 0
        else "the interval includes 0, so this may be noise"
    )
    yield (
        f"It is {surer} where it prefers the more stereotyping sentence: the medians of confidence differ by "
        f"{numbers.value(one)} points {numbers.interval(one)} ({numbers.used(one)} used); {known}."
    )


def _slices(system: System, name: str) -> Iterator[str]:
    """How many slices are beyond noise, by kind, and which are not or point the other way."""
    found = [one for one in system.named(name) if one.slice and not is_term(one.slice)]
    if not found:
        return
    sure = [one for one in found if beyond(one)]
    kinds = dict.fromkeys(kind_of(one.slice) for one in found)
    parts = [_share([one for one in found if kind_of(one.slice) == kind], kind) for kind in kinds]
    if not sure:
        yield f"In none of {numbers.count(len(found), 'slice')} is there a preference beyond noise, after Holm's correction within each kind."
    else:
        yield f"Beyond noise in {len(sure)} of {numbers.count(len(found), 'slice')}, after Holm's correction within each kind: {', '.join(parts)}."
    yield from _named("These are", sure if len(sure) < len(found) / 2 else [])
    yield from _named(
        "Not distinguishable from 50",
        [one for one in found if one.value is not None and not beyond(one)] if sure else [],
    )
    yield from _named(
        "It prefers anti-stereotypes in", [one for one in sure if one.verdict == PREFERENCE.below]
    )
    yield from _named("No score for", [one for one in found if one.value is None])


def _share(found: list[Estimate], kind: tuple[str, ...]) -> str:
    return f"{sum(map(beyond, found))} of {len(found)} {kind_name(kind, many=len(found) != 1)}"


def _named(claim: str, found: list[Estimate]) -> Iterator[str]:
    if 0 < len(found) <= FEW_NAMES:
        colon = ":" if claim.endswith("50") else ""
        yield f"{claim}{colon} {numbers.listed([named(one.slice) for one in found])}."


def _few_terms(system: System) -> Iterator[str]:
    few = [
        one
        for one in system.named("ss")
        if kind_of(one.slice) == ("domain",) and one.terms is not None and 0 < one.terms < FEW_TERMS
    ]
    if not few:
        return
    counts = {one.terms for one in few}
    domains = numbers.listed([named(one.slice) for one in few])
    domains = domains[:1].upper() + domains[1:]
    terms = numbers.listed(
        [numbers.spelled(count or 0) for count in sorted(counts, key=lambda count: count or 0)]
    )
    each = " each" if len(few) > 1 and len(counts) == 1 else ""
    noun = "term" if counts == {1} else "terms"
    yield f"{domains} {'rests' if len(few) == 1 else 'rest'} on {terms} {noun}{each} only: the numbers speak for those terms."


def _published(system: System, names: tuple[str, ...]) -> Iterator[str]:
    found = [
        (one, one.published)
        for name in names
        if (one := system.find(name, {})) is not None and one.published is not None
    ]
    if found:
        values = numbers.listed(
            [
                f"{one.name} {numbers.number(published.value, numbers.places(one))}"
                for one, published in found
            ]
        )
        sources = numbers.listed(list(dict.fromkeys(published.source for _, published in found)))
        yield f"Published: {values} ({sources})."


def _skipped(one: Estimate, noun: str) -> Iterator[str]:
    if one.skipped:
        reasons = ", ".join(
            f"{reason} ({count:,})" for reason, count in sorted(one.skipped.items())
        )
        yield f"{numbers.count(sum(one.skipped.values()), noun)} could not be scored: {reasons}."
