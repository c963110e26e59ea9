"""Names of files: what was measured, of which systems, and what is shown."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace

from stereometer.report.systems import Group
from stereometer.show.figure import Figure

FEW, LONGEST = 3, 150
"""Systems that a name names, and its most characters."""


@dataclass(frozen=True)
class ShownNames:
    """Gives no name twice."""

    given: Counter[str] = field(default_factory=Counter)

    def new(self, group: Group, *shown: str) -> str:
        systems = list(dict.fromkeys(system.name for system in group.systems))
        whose = systems if len(systems) <= FEW else [f"{len(systems)} systems"]
        limit = group.first.settings.get("limit")
        part = [f"limit {limit}"] if limit else []
        words = " ".join((group.first.benchmark, *part, *group.how, *whose, *shown))
        name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:LONGEST]
        self.given[name] += 1
        return name if self.given[name] == 1 else f"{name}-{self.given[name]}"

    def named(self, group: Group, figure: Figure) -> Figure:
        """With a file for each of its charts."""
        files = (self.new(group, figure.title, chart.name) for chart in figure.charts)
        charts = zip(figure.charts, files, strict=True)
        return replace(figure, charts=tuple(replace(chart, file=file) for chart, file in charts))
