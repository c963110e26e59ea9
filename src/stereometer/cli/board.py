"""What `board judge` prints: what is published of a submission."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.cli import render
from stereometer.show import numbers
from stereometer.show.table import Cell, Table, number, text

if TYPE_CHECKING:
    from stereometer.exports.board.judge import Judged
    from stereometer.types import Estimate


def print_judged(judged: Judged) -> None:
    for each in judged.ladders:
        news = (
            "published" if each.climbed else f"not shown to be better: {each.model} stays published"
        )
        render.heading(each.submitter, each.measure, each.variant, f"{judged.model}: {news}")
        columns = (text("metric"), number("published"), number("n / asked"), text("verdict"))
        render.table(Table(columns, tuple(map(_cells, each.published))))


def _cells(row: Estimate) -> tuple[Cell, ...]:
    label = numbers.headed(row.name, row.ideal)
    used = number(f"{row.n} / {row.asked}")
    return text(label), number(numbers.with_interval(row)), used, text(numbers.short(row))
