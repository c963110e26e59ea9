"""A metric, declared once: its name, what is ideal, and how it is printed."""

from __future__ import annotations

from dataclasses import dataclass

from stereometer.shapes.verdicts import Verdicts


@dataclass(frozen=True)
class Metric:
    """A number that results have, declared once."""

    name: str
    label: str
    """As tables and figures head it."""
    ideal: float | None = None
    digits: int = 1
    words: Verdicts | None = None
    """What its test says in words; None where it is not tested."""
    headline: bool = False
    """Whether it stands in the first table of a result."""
    about: str = ""
    """One sentence for the reference."""
