"""The view of what a gate says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.core.show import numbers
from stereometer.core.show.table import Table, number, text
from stereometer.core.show.view import View

if TYPE_CHECKING:
    from stereometer.core.gate.gate import Gate


def gate(made: Gate) -> View:
    columns = (text("outcome"), text("bar"), text("value"), number("n", spare=1), text("run"))
    rows = (
        (
            *map(text, (each.outcome, each.rule, each.seen)),
            number(f"{each.n} of {each.asked}", spare=1),
            text(each.place),
        )
        for each in made.judged
    )
    title = numbers.count(len(made.judged), "bar")
    return View(title, about=(made.outcome,), parts=(Table(columns, tuple(rows)),))
