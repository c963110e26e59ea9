"""How it was measured, what it does not mean, and what to cite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stereometer.report.sections import Section, System
from stereometer.report.traits.portraits import Portrait
from stereometer.shapes.cat.metrics import FEW_TERMS

VARIANTS = {
    "paper": "paper: as the authors' released code computes it; a tie counts as in that code",
    "sound": "sound: what a careful engineer would defend; a tie counts one half to each side",
}
SCORINGS = {
    "computed": "computed from the model's answers",
    "replayed": "replayed from a file of scores computed elsewhere",
    "constructed": "constructed from the gold labels: not a model",
}
TESTS = {
    "cat": f"t test over target terms; with fewer than {FEW_TERMS} terms, sign flips of items with the terms held fixed",
    "pair": "sign test over pairs that are not ties",
}
ADJUSTED = "p adjusted by Holm over the slices that fix the same things"
GENERAL = (
    "A score near 50 is not proof of fairness. It may hide preferences that cancel out, and it says nothing of what was not asked.",
    "“Not distinguishable” means that these items cannot tell; it does not mean that there is nothing to tell.",
    "A preference among given sentences is not behaviour in use: it does not say what a model writes, advises or decides.",
    "Numbers of different benchmarks, measures or variants cannot be compared, even where they share a scale; they stand in different sections here.",
    "A smaller distance from 50 is better only between systems whose intervals are apart, and only if language modelling did not suffer.",
)


@dataclass(frozen=True)
class Fact:
    """A term with what is true of every system, or of each."""

    term: str
    values: tuple[tuple[str, str], ...]
    """Whose it is (empty where it holds for all) and what it is."""


def facts(section: Section) -> list[Fact]:
    return [
        found for term, ask in FACTS.items() if (found := _fact(section, term, ask)) is not None
    ]


def _fact(section: Section, term: str, ask: Callable[[System], str]) -> Fact | None:
    given = [(system.label, ask(system)) for system in section.systems]
    if not any(value for _, value in given):
        return None
    if len({value for _, value in given}) == 1:
        return Fact(term, (("", given[0][1]),))
    return Fact(term, tuple((label, value or "none") for label, value in given))


def _data(key: str) -> Callable[[System], str]:
    return lambda system: _said(system.result.data.get(key))


def _card(key: str) -> Callable[[System], str]:
    return lambda system: _said(system.result.model_card.get(key))


def _setting(key: str) -> Callable[[System], str]:
    return lambda system: _said(system.result.settings.get(key))


def _said(value: Any) -> str:
    """Any stored value as words."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_said(one) or 'none'}" for key, one in value.items())
    if isinstance(value, (list, tuple)):
        return " ".join(map(_said, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


def _intervals(system: System) -> str:
    return "; ".join(dict.fromkeys(one.interval for one in system.result.estimates if one.interval))


def _share(key: str) -> Callable[[System], str]:
    def said(system: System) -> str:
        value = system.result.settings.get(key)
        return "" if value is None else f"{float(value):.0%}".replace("%", "\u00a0%")

    return said


FACTS: Mapping[str, Callable[[System], str]] = {
    "Benchmark": lambda system: (
        f"{system.result.benchmark}: {_said(system.result.data.get('title'))}"
    ),
    "Items": _data("items"),
    "Limited to": _setting("limit"),
    "Content as released": _data("as_released"),
    "Content digest": _data("digest"),
    "Read from": _data("source"),
    "Licence of the data": _data("licence"),
    "Language": _data("language"),
    "Population": _data("population"),
    "Measure": lambda system: system.result.measure,
    "Variant": lambda system: VARIANTS.get(system.result.variant, system.result.variant),
    "Scores": lambda system: SCORINGS.get(system.result.scoring, system.result.scoring),
    "Model": lambda system: "" if system.label == system.result.model else system.result.model,
    "Family": _card("family"),
    "Backend": _card("backend"),
    "Digest of the model": _card("digest"),
    "Digest of the tokenizer": _card("tokenizer_digest"),
    "Number format": _card("dtype"),
    "Model settings": _card("settings"),
    "Seed": _setting("seed"),
    "Resamples": _setting("resamples"),
    "Level of intervals": _share("level"),
    "Intervals": _intervals,
    "Tests": lambda system: f"{TESTS['cat' if system.named('ss') else 'pair']}; {ADJUSTED}",
    "Coverage floor": _share("coverage"),
    "Versions": lambda system: _said(system.result.versions),
}


def known_problems(section: Section) -> list[str]:
    return _together(system.result.data.get("known_problems") for system in section.systems)


def not_concluded(section: Section) -> list[str]:
    return _together(system.result.data.get("not_concluded") for system in section.systems)


def notes(section: Section) -> list[Fact]:
    """All notes, whose they are, each once."""
    owners: dict[str, list[str]] = {}
    for system in section.systems:
        for note in dict.fromkeys(system.result.notes):
            owners.setdefault(note, []).append(system.label)
    everyone = len(section.systems)
    return [
        Fact("", (("" if len(labels) == everyone else ", ".join(labels), note),))
        for note, labels in owners.items()
    ]


def _together(lists: Iterable[Any]) -> list[str]:
    return list(dict.fromkeys(str(one) for found in lists for one in found or ()))


METHODS = {
    "cat": "Nadeem, Bethke, Reddy (2021). StereoSet: Measuring stereotypical bias in pretrained language models. ACL. doi:10.18653/v1/2021.acl-long.416",
    "pair": "Nangia, Vania, Bhalerao, Bowman (2020). CrowS-Pairs: A challenge dataset for measuring social biases in masked language models. EMNLP. doi:10.18653/v1/2020.emnlp-main.154",
}
"""The papers of the metrics."""


@dataclass(frozen=True)
class Citation:
    what: str
    text: str


def citations(found: Sequence[Section], portraits: Sequence[Portrait] = ()) -> list[Citation]:
    """Data, method and program, each once."""
    data = [
        (str(section.first.data.get("citation") or ""), f"Data: {section.title}")
        for section in found
    ]
    methods = [
        (
            METHODS[section.shape],
            "Metric: lms, ss and icat"
            if section.shape == "cat"
            else "Metric: pair preference and confidence",
        )
        for section in found
    ]
    data += [
        (str(one.first.data.get("citation") or ""), "Groups, traits and measures")
        for one in portraits
    ]
    everything = [
        *(system for section in found for system in section.systems),
        *(system for one in portraits for system in one.systems),
    ]
    versions = dict.fromkeys(
        system.result.versions.get("stereometer", "unknown") for system in everything
    )
    ours = [(f"The stereometer authors. stereometer, version {' and '.join(versions)}.", "Program")]
    whats: dict[str, list[str]] = {}
    for text, what in [*data, *methods, *ours]:
        if text and what not in whats.setdefault(text, []):
            whats[text].append(what)
    return [Citation("; ".join(what), text) for text, what in whats.items()]
