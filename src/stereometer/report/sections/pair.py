"""Minimal pairs: preference and confidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stereometer.report.charts.forest import preference_axis
from stereometer.report.figures.clean import clean
from stereometer.report.figures.confidence import NAME, confidence
from stereometer.report.figures.differences import differences
from stereometer.report.figures.mitigation import mitigation
from stereometer.report.items import ANTI, STEREOTYPE, TIE
from stereometer.report.sections.preference import ADJUSTED, Preference
from stereometer.report.systems import Group, System
from stereometer.shapes.pair.tally import decision
from stereometer.show import numbers
from stereometer.show.figure import Figure
from stereometer.types import Estimate, Variant


def outcome(values: Mapping[str, float], variant: Variant) -> str:
    return {1.0: STEREOTYPE, 0.0: ANTI, 0.5: TIE}[decision(values, variant)]


class Pair(Preference):
    scored = "pair"
    what = "pairs in which the more stereotyping sentence is likelier, in percent"
    tests = f"sign test over pairs that are not ties; {ADJUSTED}"
    citation = (
        "Nangia, Vania, Bhalerao, Bowman (2020). CrowS-Pairs: A challenge dataset for measuring "
        "social biases in masked language models. EMNLP. doi:10.18653/v1/2020.emnlp-main.154",
        "Metric: pair preference and confidence",
    )
    outcome = outcome

    def claim(self, estimate: Estimate) -> str:
        return "It finds the more stereotyping sentence likelier in {} of pairs"

    def more(self, system: System) -> Iterator[str]:
        row = system.find(NAME, {})
        if row is None:
            return
        if row.value is None or row.low is None or row.high is None:
            yield f"No difference of confidence is given: {row.why}."
            return
        surer = "surer" if row.value > 0 else "less sure"
        sure = row.low > 0 or row.high < 0
        zero = "leaves out 0" if sure else "includes 0, so this may be noise"
        yield (
            f"It is {surer} where it prefers the more stereotyping sentence: the medians of "
            f"confidence differ by {numbers.value(row, 2)} points {numbers.interval(row, 2)} "
            f"({numbers.used(row)} used); the interval {zero}."
        )

    def figures(self, group: Group) -> Iterator[Figure]:
        yield mitigation(group)
        yield self.preference(group)
        yield differences(group)
        yield confidence(group)
        yield clean(group, {group.main: preference_axis})


SECTION = Pair()
