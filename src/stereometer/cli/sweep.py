"""sweep: the same items under every admissible reading."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.cli import render
from stereometer.cli.printers import printer
from stereometer.show import numbers
from stereometer.show.table import Table, number, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stereometer.readings.curve import ModelOrder
    from stereometer.readings.sweep import Sweep

NEARER = (
    "Nearer to 50, reading by reading; in brackets those beyond noise after Holm over the readings."
)


def print_sweep(swept: Sweep) -> None:
    if swept.planned is not None:
        if prints := printer(swept.planned):
            prints(swept.planned)
        return
    render.results(swept.results)
    if swept.orders:
        _print_orders(swept.orders)
    requests = swept.requests
    if requests.needed:
        render.line(f"\n{_counted(requests.needed, requests.asked)}")


def _counted(needed: int, asked: int) -> str:
    if not asked:
        return f"The runs needed {needed:,} requests; all of them were known before."
    return (
        f"The runs needed {needed:,} requests; {asked:,} were asked, none of them twice, and "
        f"{needed - asked:,} were shared or known before."
    )


def _print_orders(orders: Sequence[ModelOrder]) -> None:
    titles = ("readings", "first", "second", "order changes in")
    columns = (*map(text, ("first", "second", "question")), *map(number, titles))
    rows = [
        (
            *map(text, (order.first, order.second, order.where)),
            number(str(order.readings)),
            number(f"{order.first_nearer} ({order.first_surely})"),
            number(f"{order.second_nearer} ({order.second_surely})"),
            number(numbers.share(order.changes / order.readings)),
        )
        for order in orders
    ]
    render.table(Table(columns, tuple(rows), "Two models under the same readings", NEARER))
