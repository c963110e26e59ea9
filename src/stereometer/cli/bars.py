"""Bars on the command line: `--require 'icat>=70'`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

from stereometer.errors import ThresholdError, Undecided, UsageError
from stereometer.findings.gate.bars import Bar, read_bar
from stereometer.types import Finished, Job

if TYPE_CHECKING:
    from stereometer.findings.gate.judge import Gate, Judged


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


def check(finished: Sequence[Finished], wanted: Sequence[Bar]) -> None:
    """Raises where overall values miss bars or leave them undecided, and names all of them."""
    from stereometer.findings.gate.gate import held
    from stereometer.findings.gate.rules import Rule

    raise_outcome(held(finished, [Rule(bar) for bar in wanted]), STORED)


def raise_outcome(gate: Gate, remark: str = "") -> None:
    """An error with the exit code of the outcome, unless every bar is met."""
    missed, undecided = (
        [_says(each) for each in gate.of(name)] for name in ("missed", "undecided")
    )
    if missed:
        raise ThresholdError(" ".join((*missed, *undecided, remark)).strip())
    if undecided:
        raise Undecided(" ".join((*undecided, remark, MORE)).strip())


def _says(judged: Judged) -> str:
    ending = "." if judged.outcome == "missed" else f": undecided. {judged.hint}"
    return f"{judged.model}: {judged.metric} is {judged.seen}. The bar is {judged.rule}{ending}"


STORED = "The results are stored all the same."
MORE = "A bar is met where the whole interval satisfies it; point(NAME) asks about the value alone."
