"""Bars on the command line: `--require 'icat>=70'`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stereometer.cli.options import Holding, Running, Spreading
from stereometer.errors import ThresholdError, Undecided, UsageError
from stereometer.findings.gate.bars import read_bar
from stereometer.findings.gate.rules import Rule, read_rules
from stereometer.types import Finished, Job

if TYPE_CHECKING:
    from stereometer.findings.gate.judge import Gate, Judged


def rules(require: Sequence[str] | None, file: Path | None = None) -> list[Rule]:
    """Bars of the command line and of a file, on values of this run alone."""
    read = [Rule(read_bar(text)) for text in require or ()]
    read += read_rules(file) if file else []
    for rule in read:
        if rule.bar is None:
            raise UsageError(
                f"The bar '{rule}' is about a difference from a baseline, and `run` has none. "
                "Store the run, then check it with `stereometer gate RUN --bars FILE --against "
                "BASE`."
            )
    return read


def stopping(
    holding: Holding, wanted: Sequence[Rule], running: Running, spreading: Spreading
) -> Callable[[Job], Job]:
    """What makes jobs stop when their bars are decided, where that is asked for."""
    if not holding.until_decided:
        return lambda job: job
    if not wanted:
        raise UsageError(
            "--until-decided needs bars. Without them nothing says when to stop. Give --require or "
            "--bars."
        )
    if running.limit is not None or spreading.shard is not None:
        name = "--limit" if running.limit is not None else "--shard"
        raise UsageError(
            f"{name} and --until-decided were both given. Each says which items are asked. Leave "
            "one of them out."
        )

    from stereometer.findings.gate.early_stop import until_decided

    return lambda job: until_decided(job, wanted)


def check(finished: Sequence[Finished], wanted: Sequence[Rule]) -> None:
    """Raises where values miss bars or leave them undecided, and names all of them."""
    from stereometer.findings.gate.gate import held

    raise_outcome(held(finished, wanted), STORED)


def raise_outcome(gate: Gate, remark: str = "") -> None:
    """An error with the exit code of the outcome, unless every bar is met."""
    missed, undecided = (
        [_says(each) for each in gate.of(name)] for name in ("missed", "undecided")
    )
    if missed:
        raise ThresholdError(" ".join(filter(None, (*missed, *undecided, remark))))
    if undecided:
        raise Undecided(" ".join(filter(None, (*undecided, remark, MORE))))


def _says(judged: Judged) -> str:
    ending = "." if judged.outcome == "missed" else f": undecided. {judged.hint}"
    return f"{judged.model}: {judged.metric} is {judged.seen}. The bar is {judged.rule}{ending}"


STORED = "The results are stored anyway."
MORE = "A bar is met where the whole interval satisfies it; point(NAME) asks about the value alone."
