"""What a comparison and the report say of the mitigations among their systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stereometer.core.addendum import Addendum
from stereometer.core.runs.stored import Side
from stereometer.core.show.figure import Figure
from stereometer.core.types import Result, Settings, Slice
from stereometer.report.systems import Group
from stereometer.wings.mitigation.verdicts import judge
from stereometer.wings.mitigation.verdicts.judged import Mitigated


class MitigationAddendum(Addendum):
    about = "Before and after a mitigation, beside its control."
    field = "mitigations"
    takes_control = True

    def check_control(self, results: Sequence[Result], control: Result) -> None:
        judge.check_control(results, control)

    def planned(self, sides: Sequence[Side]) -> list[Slice]:
        return judge.planned(sides)

    def notes(self, sides: Sequence[Side]) -> list[str]:
        return judge.notes(sides)

    def findings(
        self, sides: Sequence[Side], settings: Settings, controls: Sequence[Side] = ()
    ) -> Iterator[Mitigated]:
        return judge.mitigated(sides, settings, controls)

    def leading_figures(self, group: Group) -> Iterator[Figure]:
        from stereometer.wings.mitigation.figure import mitigation

        if judged := group.findings[self.field]:
            yield mitigation(group, [each for each in judged if isinstance(each, Mitigated)])


ADDENDUM = MitigationAddendum()
