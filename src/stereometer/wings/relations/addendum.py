"""What the report says of correlations across the systems of a group."""

from __future__ import annotations

from collections.abc import Iterator

from stereometer.core.addendum import Addendum
from stereometer.core.show.figure import Figure
from stereometer.report.systems import Group
from stereometer.wings.relations.relate import RELATED


class Relations(Addendum):
    about = "Whether language modelling, preference and size go together across systems."

    def figures_across(self, group: Group) -> Iterator[Figure]:
        from stereometer.wings.relations.figure import relation

        if set(RELATED) <= {metric.name for metric in group.shape.metrics}:
            yield relation(group)


ADDENDUM = Relations()
