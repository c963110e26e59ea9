"""What a page says of one system, for a reader who reads only that."""

from __future__ import annotations

from dataclasses import dataclass

from stereometer.report.charts.forest import Axis
from stereometer.report.systems import System
from stereometer.show import numbers
from stereometer.types import Estimate


@dataclass(frozen=True)
class Verdict:
    """One system's paragraph, with a small picture of the number it rests on."""

    system: System
    estimate: Estimate
    axis: Axis
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
    def tone(self) -> str:
        if self.estimate.value is None:
            return "missing"
        return "beyond" if self.estimate.beyond_noise else "open"
