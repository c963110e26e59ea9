"""A colour and a shape for each system: neither colour vision nor a printer decides."""

from __future__ import annotations

from dataclasses import dataclass

COLOURS = 7
"""The custom properties --system-0 ... of report.css, light and dark."""
SHAPES = (
    "M1,0A1,1,0,1,1,-1,0A1,1,0,1,1,1,0Z",
    "M-.9,-.9H.9V.9H-.9Z",
    "M0,-1.15L1.1,.85H-1.1Z",
    "M0,-1.3L1.05,0L0,1.3L-1.05,0Z",
    "M0,1.15L1.1,-.85H-1.1Z",
    "M-.4,-1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z",
)
"""SVG paths about the origin, the form in which both Vega and the legend take them."""


@dataclass(frozen=True)
class Look:
    colour: str
    shape: str


def look(number: int) -> Look:
    """Seven colours and six shapes share no factor: the first 42 systems all differ."""
    return Look(f"var(--system-{number % COLOURS})", SHAPES[number % len(SHAPES)])
