"""Whether stored runs may be released."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.cli import render
from stereometer.show import numbers
from stereometer.show.table import Cell, Table, number, text

if TYPE_CHECKING:
    from stereometer.findings.gate.gate import BarResult, Gate


def _cells(judged: BarResult) -> tuple[Cell, ...]:
    used = number(f"{judged.n} of {judged.asked}", spare=1)
    return text(judged.outcome), text(judged.rule), text(judged.seen), used, text(judged.place)


def print_gate(gate: Gate) -> None:
    render.heading(numbers.count(len(gate.judged), "bar"), gate.outcome)
    columns = (text("outcome"), text("bar"), text("value"), number("n", spare=1), text("run"))
    render.table(Table(columns, tuple(map(_cells, gate.judged))))
