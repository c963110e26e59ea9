"""A picture of the report: what it shows in words, its charts, and the tables behind them."""

from __future__ import annotations

from dataclasses import dataclass

from stereometer.report.charts.frame import Spec
from stereometer.report.tables import Table


@dataclass(frozen=True)
class Chart:
    name: str
    """What a reader chooses it by, or its own small heading."""
    description: str
    """For those who do not see it."""
    spec: Spec


@dataclass(frozen=True)
class Figure:
    id: str
    title: str
    lead: tuple[str, ...]
    charts: tuple[Chart, ...]
    tables: tuple[Table, ...]
    chooser: str = ""
    """What is chosen between the charts; without it all are shown."""
    legend: str = "systems"
    """`systems`, `sizes`, `terms` or `sides`."""
    caution: str = ""
