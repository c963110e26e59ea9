"""Metrics of forced choice, beside the scores of either shape: how far the position decides."""

from __future__ import annotations

from stereometer.shapes.metric import Metric

FIRST_POSITION = Metric(
    "first_position",
    "first option chosen",
    50.0,
    about="How often the first of two options was chosen, in percent.",
)
ORDER_AGREEMENT = Metric(
    "order_agreement",
    "orders agree",
    about="How many comparisons come out the same in both orders, in percent.",
)
HABITS = (FIRST_POSITION, ORDER_AGREEMENT)
