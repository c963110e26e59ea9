"""A model that misbehaves to order where a worker opens it. Imports little: workers start often."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import time
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stereometer.core.errors import ModelError
from stereometer.core.types import Answer, Backend, Memory, Opener, Request
from stereometer.models.baselines.fake import Fake

FOR_EVER = 3600.0
A_WHILE = 0.3
NAN = float("nan")


@dataclass(frozen=True)
class FaultyOptions:
    fault: str = ""
    folder: str = ""
    """Where workers note what they did: a fault happens as often as there are `times` for it."""
    times: int = 1
    before: int = 1
    """Windows that a worker answers before its fault."""
    poison: str = ""
    """The key of a request that kills."""
    driver: int = field(default_factory=os.getpid)
    """The process that behaves."""


class FaultyModel(Fake):
    def __init__(self, options: FaultyOptions) -> None:
        super().__init__()
        self.options = options
        self.windows = 0
        self.bad = options.fault in EVER and claimed(options)

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        self.windows += 1
        options = self.options
        if os.getpid() != options.driver:
            note(options, f"asked {len(requests)}")
            if options.fault == "deadly":
                end()
            if options.fault == "slow":
                time.sleep(A_WHILE)
            if options.fault in ONCE and self.windows > options.before and claimed(options):
                ONCE[options.fault]()
            if options.poison in requests:
                end()
        answers = list(super().answer(requests))
        yield from EVER[options.fault](answers) if self.bad else answers


def end() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def hang() -> None:
    time.sleep(FOR_EVER)


def no_space() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def stumble() -> None:
    raise RuntimeError("the machine stumbled")


def refuse() -> None:
    raise ModelError("The model cannot be asked this. It is too long. Ask something else.")


Pairs = list[tuple[str, Answer]]
ONCE = {"killed": end, "hangs": hang, "disk": no_space, "stumbles": stumble, "refuses": refuse}
"""What a worker does at one of its windows."""


def changed(answers: Pairs, change: Any) -> Pairs:
    return [
        (
            key,
            replace(answer, rows=tuple({n: change(c) for n, c in r.items()} for r in answer.rows)),
        )
        for key, answer in answers
    ]


EVER: dict[str, Any] = {
    "forgets": lambda answers: answers[1:],
    "invents": lambda answers: [*answers, ("what was not asked", answers[0][1])],
    "short": lambda answers: changed(answers, lambda column: column[1:]),
    "nan": lambda answers: changed(answers, lambda column: array("d", [NAN] * len(column))),
    "above": lambda answers: changed(answers, lambda column: array("d", [0.5] * len(column))),
    "nothing": lambda answers: [(key, None) for key, _ in answers],
    "differs": lambda answers: changed(answers, lambda column: array("d", [v - 1 for v in column])),
}
"""What a worker does to all its answers, if it is the one."""


def claimed(options: FaultyOptions) -> bool:
    """Whether this process is the one that misbehaves, this time."""
    if os.getpid() == options.driver:
        return False
    for number in range(options.times):
        try:
            (Path(options.folder) / f"{options.fault}-{number}").touch(exist_ok=False)
            return True
        except FileExistsError:
            continue
    return False


def note(options: FaultyOptions, line: str) -> None:
    with (Path(options.folder) / "diary.jsonl").open("a") as file:
        file.write(json.dumps({"pid": os.getpid(), "did": line}) + "\n")


def diary(folder: Path) -> list[dict[str, Any]]:
    path = folder / "diary.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


class FaultyOpener(Opener):
    def open(self, spec: str, options: FaultyOptions, memory: Memory | None = None) -> Backend:
        if os.getpid() != options.driver:
            note(options, "opened")
            self._open_badly(options)
        model = FaultyModel(options)
        if options.fault == "another" and claimed(options):
            model.card = replace(model.card, digest="other weights")
        return model

    def _open_badly(self, options: FaultyOptions) -> None:
        if options.fault == "unopened" and claimed(options):
            end()
        if options.fault == "unknown" and claimed(options):
            raise ModelError("There is no such model here. Copy it to this machine.")
        if options.fault == "versions" and claimed(options):
            folder = Path(options.folder) / "elsewhere" / "numpy-0.0.1.dist-info"
            folder.mkdir(parents=True)
            (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0.0.1\n")
            sys.path.insert(0, str(folder.parent))


FAULTY = FaultyOpener("faulty", FaultyOptions)
