"""Whether bars are about anything that will be measured."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from stereometer import catalog
from stereometer.errors import UsageError
from stereometer.findings.gate.rules import Rule
from stereometer.types import Job


def bearing(jobs: Sequence[Job], wanted: Sequence[Rule]) -> Sequence[Job]:
    """The jobs, unless a bar names a metric of other kinds of items or misspells one of theirs.

    Any other name may be a metric of a method's own: whether it is shows when the job is done.
    """
    here, anywhere = metrics_of(job.kind for job in jobs), metrics_of(catalog.names("shape"))
    for rule in (each.among(here) for each in wanted):
        if rule.metric not in here and (
            rule.metric in anywhere or get_close_matches(rule.metric, here, n=1)
        ):
            raise UsageError(
                f"A bar names '{rule.metric}', which is not measured here. The metrics are "
                f"{', '.join(here)}. Choose one of those or leave the bar out."
            )
    return jobs


def metrics_of(kinds: Iterable[str]) -> list[str]:
    shapes = (catalog.shape(kind) for kind in dict.fromkeys(kinds))
    return list(dict.fromkeys(metric.name for shape in shapes for metric in shape.metrics))
