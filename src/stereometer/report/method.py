"""How it was measured, what it does not mean, and what to cite."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stereometer.core.show import numbers
from stereometer.report.sections.section import Section
from stereometer.report.systems import Group, System

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
    "A verdict that is not beyond noise means that these items cannot tell; it does not mean that "
    "there is nothing to tell.",
    "A preference among given sentences is not behaviour in use: it does not say what a model "
    "writes, advises or decides.",
    "Numbers of different benchmarks, measures or variants cannot be compared, even where they "
    "share a scale; they stand in different sections here.",
    "A smaller distance from 50 is better only between systems whose intervals are apart, and only "
    "if language modelling did not suffer.",
)


@dataclass(frozen=True)
class MethodFact:
    """A term with what is true of every system, or of each."""

    term: str
    values: tuple[tuple[str, str], ...]
    """Whose it is (empty where it holds for all) and what it is."""


def facts(group: Group) -> list[MethodFact]:
    rows = [
        (term, [(system.label, ask(system)) for system in group.systems]) for term, ask in FACTS
    ]
    return [
        MethodFact(term, (("", values[0][1]),))
        if len({value for _, value in values}) == 1
        else MethodFact(term, tuple((label, value or "none") for label, value in values))
        for term, values in rows
        if any(value for _, value in values)
    ]


def of_systems(systems: Iterable[System]) -> list[MethodFact]:
    """What is true of systems wherever they were measured; each value once."""
    found = [(term, [(row.name, ask(row)) for row in systems]) for term, ask in MODEL]
    known = [(term, [pair for pair in dict.fromkeys(rows) if pair[1]]) for term, rows in found]
    return [MethodFact(term, tuple(values)) for term, values in known if values]


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
        return "" if value is None else numbers.share(float(value))

    return shown


def _of_estimates(field: str) -> Ask:
    """What the estimates hold in a field, each once."""
    return lambda system: "; ".join(
        filter(None, dict.fromkeys(getattr(row, field) for row in system.result.estimates))
    )


MODEL: Sequence[tuple[str, Ask]] = (
    ("Scores", lambda system: SCORINGS.get(system.result.scoring, system.result.scoring)),
    ("Model", lambda system: "" if system.name == system.result.model else system.result.model),
    ("Family", _stored("model_card", "family")),
    ("Backend", _stored("model_card", "backend")),
    ("Digest of the model", _stored("model_card", "digest")),
    ("Digest of the tokenizer", _stored("model_card", "tokenizer_digest")),
    ("Number format", _stored("model_card", "dtype")),
    ("Model settings", _stored("model_card", "settings")),
)
"""Of a system."""
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
    ("Seed", _stored("settings", "seed")),
    ("Resamples", _stored("settings", "resamples")),
    ("Level of intervals", _share("level")),
    ("Intervals", _of_estimates("interval")),
    ("Tests", _of_estimates("test")),
    ("p adjusted by", _of_estimates("correction")),
    ("Coverage floor", _share("coverage")),
    ("Versions", lambda system: _words(system.result.versions)),
)


def listed(groups: Iterable[Group], key: str) -> dict[str, str]:
    """Lines of the cards of the data, each once, with the titles of the data they are of."""
    titles: dict[str, dict[str, None]] = {}
    for group in groups:
        for line in group.first.data.get(key) or ():
            titles.setdefault(str(line), {})[group.title] = None
    return {line: numbers.listed(list(names)) for line, names in titles.items()}


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
