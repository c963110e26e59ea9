"""What a comparison and the report say of the mitigations among their systems."""

from __future__ import annotations

from collections.abc import Iterator

from stereometer.core.addendum import Addendum
from stereometer.core.show.figure import Figure
from stereometer.report.systems import Group
from stereometer.wings.mitigation.verdicts import judge
from stereometer.wings.mitigation.verdicts.judged import Mitigated


class MitigationAddendum(Addendum):
    about = "Before and after a mitigation, beside its control."
    field = "mitigations"
    takes_control = True

    check_control = staticmethod(judge.check_control)
    planned = staticmethod(judge.planned)
    notes = staticmethod(judge.notes)
    findings = staticmethod(judge.mitigated)

    def leading_figures(self, group: Group) -> Iterator[Figure]:
        from stereometer.wings.mitigation.figure import mitigation

        if judged := group.findings[self.field]:
            yield mitigation(group, [each for each in judged if isinstance(each, Mitigated)])


ADDENDUM = MitigationAddendum()
