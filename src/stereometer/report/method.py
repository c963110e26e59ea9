"""How it was measured, what it does not mean, and what to cite."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stereometer.report.sections.section import Section
from stereometer.report.systems import Group, System
from stereometer.show.numbers import share

VARIANTS = {
    "paper": "paper: as the authors' released code computes it; a tie counts as in that code",
    "sound": "sound: what a careful engineer would defend; a tie counts one half to each side",
}
SCORINGS = {
    "computed": "computed from the model's answers",
    "replayed": "replayed from a file of scores computed elsewhere",
    "constructed": "constructed from the gold labels: not a model",
}
GENERAL = (
    "A score near 50 is not proof of fairness. It may hide preferences that cancel out, and it "
    "says nothing of what was not asked.",
    "“Undecided” and “not distinguishable” mean that these items cannot tell; they do not mean "
    "that there is nothing to tell.",
    "A preference among given sentences is not behaviour in use: it does not say what a model "
    "writes, advises or decides.",
    "Numbers of different benchmarks, measures or variants cannot be compared, even where they "
    "share a scale; they stand in different sections here.",
    "A smaller distance from 50 is better only between systems whose intervals are apart, and only "
    "if language modelling did not suffer.",
)


@dataclass(frozen=True)
class Fact:
    """A term with what is true of every system, or of each."""

    term: str
    values: tuple[tuple[str, str], ...]
    """Whose it is (empty where it holds for all) and what it is."""


def facts(section: Section, group: Group) -> list[Fact]:
    rows = [
        (term, [(system.label, ask(system)) for system in group.systems]) for term, ask in FACTS
    ]
    rows.insert(-2, ("Tests", [("", section.tests)]))
    return [_fact(term, values) for term, values in rows if any(value for _, value in values)]


def _fact(term: str, values: Sequence[tuple[str, str]]) -> Fact:
    if len({value for _, value in values}) == 1:
        return Fact(term, (("", values[0][1]),))
    return Fact(term, tuple((label, value or "none") for label, value in values))


def _words(value: Any) -> str:
    """Any stored value as words."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_words(inner) or 'none'}" for key, inner in value.items())
    if isinstance(value, (list, tuple)):
        return " ".join(map(_words, value))
    return f"{value:,}" if isinstance(value, int) else str(value)


Ask = Callable[[System], str]


def _stored(part: str, key: str) -> Ask:
    """What a part of the result (data, model_card, settings) holds under a key."""
    return lambda system: _words(getattr(system.result, part).get(key))


def _share(key: str) -> Ask:
    def shown(system: System) -> str:
        value = system.result.settings.get(key)
        return "" if value is None else share(float(value))

    return shown


def _intervals(system: System) -> str:
    return "; ".join(dict.fromkeys(row.interval for row in system.result.estimates if row.interval))


FACTS: Sequence[tuple[str, Ask]] = (
    ("Benchmark", lambda system: f"{system.result.benchmark}: {system.result.data.get('title')}"),
    ("Items", _stored("data", "items")),
    ("Limited to", _stored("settings", "limit")),
    ("Content as released", _stored("data", "as_released")),
    ("Content digest", _stored("data", "digest")),
    ("Read from", _stored("data", "source")),
    ("Licence of the data", _stored("data", "licence")),
    ("Language", _stored("data", "language")),
    ("Population", _stored("data", "population")),
    ("Measure", lambda system: system.result.measure),
    ("Variant", lambda system: VARIANTS.get(system.result.variant, system.result.variant)),
    ("Scores", lambda system: SCORINGS.get(system.result.scoring, system.result.scoring)),
    ("Model", lambda system: "" if system.label == system.result.model else system.result.model),
    ("Family", _stored("model_card", "family")),
    ("Backend", _stored("model_card", "backend")),
    ("Digest of the model", _stored("model_card", "digest")),
    ("Digest of the tokenizer", _stored("model_card", "tokenizer_digest")),
    ("Number format", _stored("model_card", "dtype")),
    ("Model settings", _stored("model_card", "settings")),
    ("Seed", _stored("settings", "seed")),
    ("Resamples", _stored("settings", "resamples")),
    ("Level of intervals", _share("level")),
    ("Intervals", _intervals),
    ("Coverage floor", _share("coverage")),
    ("Versions", lambda system: _words(system.result.versions)),
)


def listed(group: Group, key: str) -> list[str]:
    """Lines of the data's card, each once."""
    lists = (system.result.data.get(key) or () for system in group.systems)
    return list(dict.fromkeys(str(line) for lines in lists for line in lines))


def citations(shown: Sequence[tuple[Section, Group]]) -> list[tuple[str, str]]:
    """What each is cited for, and the text: data, metrics and program, each once."""
    data = [
        (str(group.first.data.get("citation") or ""), f"Data: {group.title}") for _, group in shown
    ]
    systems = [system for _, group in shown for system in group.systems]
    versions = dict.fromkeys(row.result.versions.get("stereometer", "unknown") for row in systems)
    program = f"The stereometer authors. stereometer, version {' and '.join(versions)}."
    reasons: dict[str, list[str]] = {}
    for words, reason in [*data, *(section.citation for section, _ in shown), (program, "Program")]:
        if words and reason not in reasons.setdefault(words, []):
            reasons[words].append(reason)
    return [("; ".join(whats), words) for words, whats in reasons.items()]
