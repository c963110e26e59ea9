"""A figure as plain data: what it shows in words, its charts, and the tables behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stereometer.show.table import Table

Spec = dict[str, Any]
"""A Vega-Lite specification."""
CIRCLE = "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z"
SQUARE = "M-.9,-.9H.9V.9H-.9Z"


@dataclass(frozen=True)
class Chart:
    name: str
    """What a reader chooses it by, or its own small heading."""
    description: str
    """For those who do not see it."""
    spec: Spec


@dataclass(frozen=True)
class Key:
    """A mark of a legend and what it stands for."""

    text: str
    colour: str = "var(--muted)"
    shape: str = CIRCLE
    """An SVG path about the origin."""
    filled: bool = True
    quiet: bool = False
    """Not a system, but a way of drawing one."""


BEYOND_NOISE = (
    Key("beyond noise", quiet=True),
    Key("not distinguishable", filled=False, quiet=True),
)


@dataclass(frozen=True)
class Figure:
    id: str
    """Unique on a page; charts and headings are found by it."""
    title: str
    lead: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    chooser: str = ""
    """What is chosen between the charts; without it all are shown."""
    legend: tuple[Key, ...] = ()
    caution: str = ""
