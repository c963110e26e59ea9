"""Minimal pairs: preference and confidence."""

from __future__ import annotations

from collections.abc import Iterator

from stereometer.core.show import numbers
from stereometer.core.show.figure import Figure
from stereometer.core.types import Estimate
from stereometer.kinds.pairs.confidence import NAME, confidence
from stereometer.report.charts.forest import preference_axis
from stereometer.report.figures.clean import clean
from stereometer.report.figures.differences import across
from stereometer.report.sections.preference import Preference
from stereometer.report.systems import Group, System


class PairSection(Preference):
    scored = "pair"
    what = "pairs in which the more stereotyping sentence is likelier, in percent"
    citation = (
        "Nangia, Vania, Bhalerao, Bowman (2020). CrowS-Pairs: A challenge dataset for measuring "
        "social biases in masked language models. EMNLP. doi:10.18653/v1/2020.emnlp-main.154",
        "Metric: pair preference and confidence",
    )

    def claim(self, estimate: Estimate) -> str:
        return "It finds the more stereotyping sentence likelier in {} of pairs"

    def more(self, system: System) -> Iterator[str]:
        row = system.find(NAME, {})
        if row is None:
            return
        if row.value is None:
            yield f"No difference of confidence is given: {row.why}."
            return
        yield (
            "Where it prefers the more stereotyping sentence, the median of its confidence is "
            f"higher by {numbers.both(row, 2)} points, where 0 is ideal ({numbers.used(row)} used)."
        )

    def figures(self, group: Group) -> Iterator[Figure]:
        yield self.preference(group)
        yield from across(group)
        yield confidence(group)
        yield clean(group, {group.main: preference_axis})


SECTION = PairSection()
