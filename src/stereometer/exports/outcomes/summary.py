"""Markdown, as a build's summary page shows it."""

from __future__ import annotations

from stereometer.exports.markdown import row
from stereometer.findings.gate.bars import Outcome
from stereometer.findings.gate.gate import BarResult, Gate

SIGNS: dict[Outcome, str] = {"met": "✅ met", "missed": "❌ missed", "undecided": "❔ undecided"}
HEADS = ("outcome", "bar", "value", "n", "run", "what would decide it")


def summary(gate: Gate) -> str:
    counts = ", ".join(f"{len(gate.of(name))} {name}" for name in SIGNS)
    lines = [
        f"## stereometer gate: {gate.outcome}",
        "",
        f"{len(gate.judged)} bars: {counts}. A bar is met where the whole interval satisfies it.",
        "",
        row(HEADS),
        f"|{' --- |' * len(HEADS)}",
        *(_row(judged) for judged in gate.judged),
    ]
    return "\n".join(lines) + "\n\n"


def _row(judged: BarResult) -> str:
    used = f"{judged.n:,} of {judged.asked:,}"
    return row((SIGNS[judged.outcome], judged.rule, judged.seen, used, judged.place, judged.hint))
