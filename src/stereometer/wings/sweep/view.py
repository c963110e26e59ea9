"""The view of a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from stereometer.core.results_view import results
from stereometer.core.show import numbers
from stereometer.core.show.table import Table, number, text
from stereometer.core.show.view import Piece, View, line

if TYPE_CHECKING:
    from stereometer.wings.sweep.curve import ModelOrder
    from stereometer.wings.sweep.sweep import Requests, Sweep

NEARER = (
    "Nearer to 50, reading by reading; in brackets those beyond noise after Holm over the readings."
)


def sweep(made: Sweep) -> View:
    if made.planned is not None:
        planned: View = made.planned.view()
        return planned
    return View(parts=(results(made.results), *_pieces(made.orders, made.requests)))


def _pieces(orders: Sequence[ModelOrder], requests: Requests) -> Iterator[Piece]:
    if orders:
        yield _orders(orders)
    needed, asked = requests.needed, requests.asked
    if needed and not asked:
        yield line(f"\nThe runs needed {needed:,} requests; all of them were known before.")
    elif needed:
        yield line(
            f"\nThe runs needed {needed:,} requests; {asked:,} were asked, none of them twice, and "
            f"{needed - asked:,} were shared or known before."
        )


def _orders(orders: Sequence[ModelOrder]) -> Table:
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
    return Table(columns, tuple(rows), "Two models under the same readings", NEARER)
