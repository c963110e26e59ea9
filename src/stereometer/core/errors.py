"""Every error the package raises on purpose.

    StereometerError        exit 1
    +-- UsageError          exit 2   a command, option or combination that makes no sense
    |   +-- UnknownName     exit 2   no such benchmark, measure, model ...: carries the nearest
    names
    +-- ModelError          exit 3   a model cannot be loaded or cannot answer what is asked
    +-- DataError           exit 4   a file is missing, foreign, truncated or contradicts itself
    |   +-- DataMissing     exit 4   a data set is not on this machine: carries the command that
    gets it
    +-- ThresholdError      exit 5   the whole interval violates a bar set with --require
    +-- BudgetSpent         exit 6   the next request to a server would cost more than --budget
    +-- Undecided           exit 7   an interval lies on both sides of a bar set with --require

An error has three sentences: what happened, why, what to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

LONGEST = 4000
"""Characters of a message: what a file holds may be quoted in it, however long that is."""


class StereometerError(Exception):
    """The root; `str(error)` is written for the person at the terminal."""

    exit_code = 1

    def __str__(self) -> str:
        """A message that is too long loses its middle."""
        text = super().__str__()
        half = LONGEST // 2
        return text if len(text) <= LONGEST else f"{text[:half]} ... {text[-half:]}"

    def _render_traceback_(self) -> list[str]:
        """What IPython shows of it: the message alone, which is written for its reader."""
        return [f"{type(self).__name__}: {self}"]


class UsageError(StereometerError):
    exit_code = 2


def respelled(name: str, known: Iterable[str]) -> str:
    """The known name that differs only in case and in the signs between words (`CrowS_Pairs`);
    the name itself where there is none."""
    return next((each for each in known if _folded(each) == _folded(name)), name)


def _folded(name: str) -> str:
    return re.sub(r"[\s_-]+", "-", name.strip().casefold())


def did_you_mean(name: str, known: Mapping[str, str]) -> str:
    """The nearest names, each as it is called; empty where none is near."""
    spelled = {each.casefold(): known[each] for each in known}
    close = get_close_matches(name.casefold(), spelled, n=3, cutoff=0.5)
    called = " or ".join(dict.fromkeys(spelled[name] for name in close))
    return f"Did you mean {called}?" if close else ""


class UnknownName(UsageError):
    def __init__(
        self,
        kind: str,
        name: str,
        known: Iterable[str],
        shown: str = "`stereometer list` shows all of them.",
    ) -> None:
        names = sorted(known)
        near = did_you_mean(name, {each: each for each in names})
        hint = near or f"Known: {', '.join(names)}."
        super().__init__(f"There is no {kind} called '{name}'. {hint} {shown}")


class ModelError(StereometerError):
    exit_code = 3


class DataError(StereometerError):
    exit_code = 4


class DataMissing(DataError):
    pass


class ThresholdError(StereometerError):
    exit_code = 5


class BudgetSpent(StereometerError):
    exit_code = 6


class Undecided(StereometerError):
    exit_code = 7
