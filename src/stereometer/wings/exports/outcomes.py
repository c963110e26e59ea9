"""What a gate says, for the programs that watch a build: one file per format."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from stereometer.core.gate.bars import Outcome
from stereometer.core.gate.gate import BarResult, Gate
from stereometer.core.show.control import visible
from stereometer.core.show.table import Cell, Table
from stereometer.core.show.view import View, line
from stereometer.wings.exports.markdown import lines

ELEMENTS = {"missed": "failure", "undecided": "error"}


def junit(gate: Gate) -> str:
    """JUnit XML: a test case for each bar and run. A missed bar is a failure; an undecided one
    is an error, so that no build passes over it."""
    missed, undecided = (str(len(gate.of(name))) for name in ("missed", "undecided"))
    tests = {"name": "stereometer gate", "tests": str(len(gate.judged)), "failures": missed}
    suites = Element("testsuites")
    suite = SubElement(suites, "testsuite", {**tests, "errors": undecided, "skipped": "0"})
    for judged in gate.judged:
        _add(suite, judged)
    indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suites, "unicode") + "\n"


def _add(suite: Element, judged: BarResult) -> None:
    """Control characters have no place in XML, not even escaped."""
    case = SubElement(suite, "testcase", classname=visible(judged.place), name=visible(judged.rule))
    if judged.outcome in ELEMENTS:
        said = visible(f"{judged.seen} {judged.hint}".strip())
        kind = ELEMENTS[judged.outcome]
        SubElement(case, kind, message=said, type=judged.outcome).text = said


OUTCOMES = ("met", "missed", "undecided")
NUMBERS = {
    "value": "The value, or the difference from the baseline, that a bar is about.",
    "low": "The lower end of its interval.",
    "high": "The upper end of its interval.",
}


def openmetrics(gate: Gate) -> str:
    """Values with intervals, and the outcome of every bar, for a time series."""
    return "\n".join([*_metric_lines(gate), "# EOF"]) + "\n"


def _metric_lines(gate: Gate) -> Iterator[str]:
    for name, words in NUMBERS.items():
        yield f"# TYPE stereometer_{name} gauge"
        yield f"# HELP stereometer_{name} {words}"
        for judged in gate.judged:
            if (number := getattr(judged, name)) is not None:
                yield f"stereometer_{name}{{{_labels(judged)}}} {number!r}"
    yield "# TYPE stereometer_bar stateset"
    yield "# HELP stereometer_bar Whether a bar is met, missed or undecided."
    for judged in gate.judged:
        for outcome in OUTCOMES:
            labels = f'{_labels(judged)},stereometer_bar="{outcome}"'
            yield f"stereometer_bar{{{labels}}} {int(judged.outcome == outcome)}"


def _labels(judged: BarResult) -> str:
    names = ("rule", "benchmark", "measure", "variant", "model")
    escapes = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
    return ",".join(f'{name}="{getattr(judged, name).translate(escapes)}"' for name in names)


SIGNS: dict[Outcome, str] = {"met": "✅ met", "missed": "❌ missed", "undecided": "❔ undecided"}
HEADS = ("outcome", "bar", "value", "n", "run", "what would decide it")


def summary(gate: Gate) -> str:
    """Markdown, as a build's summary page shows it."""
    counts = ", ".join(f"{len(gate.of(name))} {name}" for name in SIGNS)
    met = "A bar is met where the whole interval satisfies it."
    rows = []
    for each in gate.judged:
        bar = SIGNS[each.outcome], each.rule, each.seen, f"{each.n:,} of {each.asked:,}"
        rows.append(tuple(map(Cell, (*bar, each.place, each.hint))))
    table = Table(tuple(map(Cell, HEADS)), tuple(rows))
    said = line(f"{len(gate.judged)} bars: {counts}. {met}")
    view = View(f"stereometer gate: {gate.outcome}", parts=(said, table))
    return "\n".join([*lines(view), ""])
