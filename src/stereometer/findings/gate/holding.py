"""Bars that a verb is given for what it will measure: `run(..., require="icat>=70")`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stereometer.errors import UsageError
from stereometer.findings.gate.bars import read_bar
from stereometer.findings.gate.bearing import bearing
from stereometer.findings.gate.early_stop import until_decided
from stereometer.findings.gate.gate import held
from stereometer.findings.gate.judge import Gate
from stereometer.findings.gate.rules import Rule, read_rules
from stereometer.types import Job, Result
from stereometer.types.results import Results


@dataclass(frozen=True)
class Holding:
    """Rules on values of this run alone, and whether it stops when they are decided."""

    rules: Sequence[Rule]
    until_decided: bool = False

    def jobs(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """With what stops them; raises where a bar is about nothing that they measure."""
        bearing(jobs, self.rules)
        if not self.until_decided:
            return jobs
        return [until_decided(job, self.rules) for job in jobs]

    def hold(self, results: Results) -> Results:
        """The results with how they stand to the bars."""
        results.gate = self.gate(results)
        return results

    def gate(self, results: Sequence[Result]) -> Gate | None:
        return held(results, self.rules) if results and self.rules else None


def holding(
    require: str | Sequence[str] = (),
    bars: str | Path | None = None,
    until_decided: bool = False,
    limit: int | None = None,
    shard: str | None = None,
) -> Holding:
    texts = [require] if isinstance(require, str) else require
    rules = [Rule(read_bar(text)) for text in texts]
    rules += read_rules(Path(bars)) if bars else []
    for rule in rules:
        if rule.bar is None:
            raise UsageError(
                f"The bar '{rule}' is about a difference from a baseline, and `run` has none. "
                "Store the run, then check it with `stereometer gate RUN --bars FILE --against "
                "BASE`."
            )
    if until_decided and not rules:
        raise UsageError(
            "--until-decided needs bars. Without them nothing says when to stop. Give --require or "
            "--bars."
        )
    if until_decided and (limit is not None or shard is not None):
        name = "--limit" if limit is not None else "--shard"
        raise UsageError(
            f"{name} and --until-decided were both given. Each says which items are asked. Leave "
            "one of them out."
        )
    return Holding(rules, until_decided)
