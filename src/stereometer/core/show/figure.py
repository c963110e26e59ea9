"""A figure as plain data: what it shows in words, its charts, and the tables behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from stereometer.core.show.table import Table
from stereometer.core.types import Estimate

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
    file: str = ""
    """What a file of it is called, without its ending."""


Fill = Literal["filled", "hollow", "dotted", "pale"]
"""How the inside of a mark is drawn."""


@dataclass(frozen=True)
class Key:
    """A mark of a legend and what it stands for."""

    text: str
    colour: str = "var(--muted)"
    shape: str = CIRCLE
    """An SVG path about the origin."""
    fill: Fill = "pale"
    quiet: bool = False
    """Not a system, but a way of drawing one."""


FILLS = (
    Key("beyond noise", fill="filled", quiet=True),
    Key("not beyond noise", fill="hollow", quiet=True),
    Key("not beyond noise, and near the ideal within the margin", fill="dotted", quiet=True),
    Key("not tested, or only a name", quiet=True),
)
"""What the inside of a mark says, wherever one is drawn; its shape and colour say whose it is."""


def fill_of(estimate: Estimate) -> Fill:
    if not estimate.beyond_noise and estimate.equivalent:
        return "dotted"
    return "pale" if estimate.beyond_noise is None else sure(estimate.beyond_noise)


def sure(beyond_noise: bool) -> Fill:
    return "filled" if beyond_noise else "hollow"


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
