"""OpenMetrics text: values with intervals, and the outcome of every bar, for a time series."""

from __future__ import annotations

from collections.abc import Iterator

from stereometer.findings.gate.gate import BarResult, Gate

OUTCOMES = ("met", "missed", "undecided")
NUMBERS = {
    "value": "The value, or the difference from the baseline, that a bar is about.",
    "low": "The lower end of its interval.",
    "high": "The upper end of its interval.",
}


def openmetrics(gate: Gate) -> str:
    return "\n".join([*_numbers(gate), *_outcomes(gate), "# EOF"]) + "\n"


def _numbers(gate: Gate) -> Iterator[str]:
    for name, words in NUMBERS.items():
        yield f"# TYPE stereometer_{name} gauge"
        yield f"# HELP stereometer_{name} {words}"
        for judged in gate.judged:
            number = getattr(judged, name)
            if number is not None:
                yield f"stereometer_{name}{{{_labels(judged)}}} {number!r}"


def _outcomes(gate: Gate) -> Iterator[str]:
    yield "# TYPE stereometer_bar stateset"
    yield "# HELP stereometer_bar Whether a bar is met, missed or undecided."
    for judged in gate.judged:
        for outcome in OUTCOMES:
            labels = f'{_labels(judged)},stereometer_bar="{outcome}"'
            yield f"stereometer_bar{{{labels}}} {int(judged.outcome == outcome)}"


def _labels(judged: BarResult) -> str:
    names = ("rule", "benchmark", "measure", "variant", "model")
    return ",".join(f'{name}="{_escaped(getattr(judged, name))}"' for name in names)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
