"""gate: stored runs held against the bars of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from stereometer.errors import UsageError
from stereometer.findings.compare import Comparison, compare
from stereometer.findings.gate.judge import Gate, Judged, is_there, judge, unknown
from stereometer.findings.gate.rules import Rule, read_rules
from stereometer.runs.stored import Stored, runs_of
from stereometer.types import Result


def gate_of(
    runs: Sequence[Stored],
    bars: str | Path,
    against: Stored | None = None,
    seed: int = 0,
    resamples: int = 10_000,
) -> Gate:
    """Stored runs held against the bars of a file, and against a baseline."""
    rules, baselines = read_rules(Path(bars)), _results([against] if against else [])
    known: dict[Path | None, Comparison] = {}

    def compared(result: Result) -> Comparison | None:
        if baselines and result.folder not in known:
            first = _baseline(baselines, result)
            known[result.folder] = compare(first, result, seed=seed, resamples=resamples)
        return known.get(result.folder)

    return held(_results(runs), rules, compared)


def _results(runs: Sequence[Stored]) -> list[Result]:
    return [run.result for run in runs_of(runs)]


def held(
    results: Sequence[Result],
    rules: Sequence[Rule],
    compared: Callable[[Result], Comparison | None] = lambda result: None,
) -> Gate:
    """Every rule against every result that it is about; one that is about none is an error."""
    return Gate(tuple(judged for rule in rules for judged in _judged(rule, results, compared)))


def _judged(
    rule: Rule, results: Sequence[Result], compared: Callable[[Result], Comparison | None]
) -> Iterator[Judged]:
    named = [(rule.among([row.name for row in each.estimates]), each) for each in results]
    about = [(meant, each) for meant, each in named if is_there(meant, each)]
    if not about:
        raise unknown(rule, results)
    for meant, each in about:
        yield judge(meant, each, compared(each) if rule.bar is None else None)


def _baseline(baselines: Sequence[Result], result: Result) -> Result:
    alike = [each for each in baselines if _measured(each) == _measured(result)]
    if len(alike) != 1:
        raise UsageError(
            f"--against has {len(alike)} runs of {result.benchmark} by {result.measure}, variant "
            f"{result.variant}, on the same items. Exactly one is the baseline. Name its folder."
        )
    return alike[0]


def _measured(result: Result) -> tuple[object, ...]:
    digest, limit = result.data.get("digest"), result.settings.get("limit")
    return result.benchmark, result.measure, result.variant, digest, limit
