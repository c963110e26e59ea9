"""JUnit XML: a test case for each bar and run.

A missed bar is a failure. An undecided one is an error, so that no build passes over it.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from stereometer.findings.gate.gate import BarResult, Gate
from stereometer.show.control import visible

ELEMENTS = {"missed": "failure", "undecided": "error"}


def junit(gate: Gate) -> str:
    counts = {name: str(len(gate.of(name))) for name in ("missed", "undecided")}
    suite = Element(
        "testsuite",
        name="stereometer gate",
        tests=str(len(gate.judged)),
        failures=counts["missed"],
        errors=counts["undecided"],
        skipped="0",
    )
    for judged in gate.judged:
        _add(suite, judged)
    suites = Element("testsuites")
    suites.append(suite)
    indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(suites, "unicode") + "\n"


def _add(suite: Element, judged: BarResult) -> None:
    """Control characters have no place in XML, not even escaped."""
    case = SubElement(suite, "testcase", classname=visible(judged.place), name=visible(judged.rule))
    if judged.outcome in ELEMENTS:
        said = visible(f"{judged.seen} {judged.hint}".strip())
        kind = ELEMENTS[judged.outcome]
        SubElement(case, kind, message=said, type=judged.outcome).text = said
