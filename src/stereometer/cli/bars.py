"""Bars on the command line: `--require 'icat>=70'`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from stereometer.errors import ThresholdError, Undecided, UsageError
from stereometer.findings.bars import Bar, Outcome, read_bar
from stereometer.show.numbers import with_interval
from stereometer.types import Estimate, Job, Result


def bars(texts: Sequence[str] | None) -> list[Bar]:
    return [read_bar(text) for text in texts or ()]


def bearing(jobs: Sequence[Job], wanted: Sequence[Bar]) -> Sequence[Job]:
    """The jobs, unless a bar names a metric of other kinds of items or misspells one of theirs.

    Any other name may be a metric of a method's own: whether it is shows when the job is done.
    """
    from stereometer import catalog

    here, anywhere = _metrics(job.kind for job in jobs), _metrics(catalog.names("shape"))
    for bar in wanted:
        if bar.metric not in here and (
            bar.metric in anywhere or get_close_matches(bar.metric, here, n=1)
        ):
            raise _unknown(bar, here)
    return jobs


def _metrics(kinds: Iterable[str]) -> list[str]:
    from stereometer import catalog

    shapes = (catalog.shape(kind) for kind in dict.fromkeys(kinds))
    return list(dict.fromkeys(metric.name for shape in shapes for metric in shape.metrics))


def _unknown(bar: Bar, names: Iterable[str]) -> UsageError:
    return UsageError(
        f"--require names '{bar.metric}', which is not measured here. The metrics are "
        f"{', '.join(names)}. Choose one of those or leave the bar out."
    )


def check(results: Sequence[Result], wanted: Sequence[Bar]) -> None:
    """Raises where overall values miss bars or leave them undecided, and names all of them.

    Also where there is no such value.
    """
    overall = [
        (result.model, estimate)
        for result in results
        for estimate in result.estimates
        if not estimate.slice
    ]
    outcomes: dict[Outcome, list[str]] = {}
    for bar in wanted:
        values = [pair for pair in overall if pair[1].name == bar.metric]
        if not values:
            raise _unknown(bar, dict.fromkeys(estimate.name for _, estimate in overall))
        for model, estimate in values:
            says = f"{model}: {bar.metric} is {_value(estimate)}. The bar is {bar}"
            outcomes.setdefault(bar.outcome(estimate), []).append(says)
    missed = [f"{says}." for says in outcomes.get("missed", ())]
    undecided = [f"{says}: undecided." for says in outcomes.get("undecided", ())]
    if missed:
        raise ThresholdError(" ".join((*missed, *undecided, STORED)))
    if undecided:
        raise Undecided(" ".join((*undecided, STORED, MORE)))


def _value(estimate: Estimate) -> str:
    if estimate.value is None:
        return estimate.why if estimate.least is not None and estimate.why else "not available"
    return with_interval(estimate, 2)


STORED = "The results are stored all the same."
MORE = (
    "A bar is met where the whole interval satisfies it. More items narrow the interval; "
    "point(NAME) asks about the value alone."
)
