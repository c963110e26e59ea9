"""What a page says of one system, for a reader who reads only that."""

from __future__ import annotations

from dataclasses import dataclass

from stereometer.report.systems import System
from stereometer.show import numbers
from stereometer.show.figure import Fill, fill_of
from stereometer.types import Estimate


@dataclass(frozen=True)
class Verdict:
    """One system's paragraph, with the number it rests on."""

    system: System
    estimate: Estimate
    headline: str
    sentences: tuple[str, ...] = ()
    """The result."""
    details: tuple[str, ...] = ()
    """Where it holds, what was published, what could not be scored."""
    unit: str = ""
    digits: int = 1

    @property
    def value(self) -> str:
        return numbers.value(self.estimate, self.digits)

    @property
    def fill(self) -> Fill:
        return fill_of(self.estimate)
