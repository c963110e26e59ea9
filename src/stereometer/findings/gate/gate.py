"""gate: stored runs held against the bars of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from stereometer.errors import UsageError
from stereometer.findings.compare import Comparison, compare
from stereometer.findings.gate.judge import Gate, Judged, is_there, judge, unknown
from stereometer.findings.gate.rules import Rule, read_rules
from stereometer.runs.counted import finished_in
from stereometer.runs.store import Stored
from stereometer.types import Finished, Result


def gate_of(
    runs: Sequence[Stored],
    bars: str | Path,
    against: Stored | None = None,
    seed: int = 0,
    resamples: int = 10_000,
) -> Gate:
    """Stored runs held against the bars of a file, and against a baseline."""
    rules, baselines = read_rules(Path(bars)), finished_in([against] if against else [])
    known: dict[Path, Comparison] = {}

    def compared(run: Finished) -> Comparison | None:
        if baselines and run.folder not in known:
            first = _baseline(baselines, run.result)
            known[run.folder] = compare(first, run.folder, seed=seed, resamples=resamples)
        return known.get(run.folder)

    return held(finished_in(runs), rules, compared)


def held(
    runs: Sequence[Finished],
    rules: Sequence[Rule],
    compared: Callable[[Finished], Comparison | None] = lambda run: None,
) -> Gate:
    """Every rule against every run that it is about; one that is about none is an error."""
    return Gate(tuple(judged for rule in rules for judged in _judged(rule, runs, compared)))


def _judged(
    rule: Rule, runs: Sequence[Finished], compared: Callable[[Finished], Comparison | None]
) -> Iterator[Judged]:
    named = [(rule.among([each.name for each in run.result.estimates]), run) for run in runs]
    about = [(meant, run) for meant, run in named if is_there(meant, run.result)]
    if not about:
        raise unknown(rule, [run.result for run in runs])
    for meant, run in about:
        yield judge(meant, run.result, compared(run) if rule.bar is None else None)


def _baseline(baselines: Sequence[Finished], result: Result) -> Path:
    alike = [each.folder for each in baselines if _measured(each.result) == _measured(result)]
    if len(alike) != 1:
        raise UsageError(
            f"--against has {len(alike)} runs of {result.benchmark} by {result.measure}, variant "
            f"{result.variant}, on the same items. Exactly one is the baseline. Name its folder."
        )
    return alike[0]


def _measured(result: Result) -> tuple[object, ...]:
    digest, limit = result.data.get("digest"), result.settings.get("limit")
    return result.benchmark, result.measure, result.variant, digest, limit
