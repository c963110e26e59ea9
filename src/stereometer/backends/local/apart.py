"""What a model's files may do to a process, done in a child that can be ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import IO, Any
from weakref import finalize

from stereometer.backends.local.place import CONFIG
from stereometer.errors import ModelError
from stereometer.types import digest_of, digest_of_file

MEMORY = 2 * 1024**3
"""Bytes that a child may take beyond what it has when the work begins."""
LIMITED = os.name == "posix"
"""Whether the system holds a process to a limit; elsewhere its memory is watched from here."""
PATIENCE = 30.0
"""Seconds for one prompt, or for one tokenizer."""
IN_ALL = 600.0
"""Seconds for all prompts of a run together: a usual template takes a tenth of a millisecond."""
WATCHED = 0.05
"""Seconds between two looks at a child that has not answered."""
TOKENIZER_FILES = ("*token*.json", "*.model", "*vocab*", "merges.txt", "*.tiktoken", "spiece*")
TRIED: dict[str, str] = {}
"""By the digest of a tokenizer's files, what is wrong with it."""


class ChildFailed(Exception):
    """Why a child did not do what it was asked."""


class Child:
    """Answers jobs one after another; it ends with this object, and after its first failure."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "stereometer.backends.local.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            text=True,
            encoding="utf-8",
        )
        self.answers: SimpleQueue[str] = SimpleQueue()
        self.left = IN_ALL
        Thread(target=_read, args=(self.process.stdout, self.answers), daemon=True).start()
        finalize(self, _end, self.process)

    def ask(self, **job: Any) -> dict[str, str]:
        """The answer, or ChildFailed."""
        assert self.process.stdin is not None
        try:
            limit = {"memory": MEMORY if LIMITED else None}
            self.process.stdin.write(json.dumps(job | limit) + "\n")
            self.process.stdin.flush()
            answer: dict[str, str] = json.loads(self._line())
        except (ChildFailed, OSError) as problem:
            _end(self.process)
            raise ChildFailed(str(problem)) from None
        if "error" in answer:
            raise ChildFailed(answer["error"])
        return answer

    def _line(self) -> str:
        begun = monotonic()
        patience = min(PATIENCE, self.left)
        while monotonic() < begun + patience:
            try:
                line = self.answers.get(timeout=WATCHED)
            except Empty:
                self._check_memory()
                continue
            if line:
                self.left -= monotonic() - begun
                return line
            raise ChildFailed("it took too much memory, or ended the process that read it")
        raise ChildFailed(f"it did not come to an end in {patience:.0f} seconds")

    def _check_memory(self) -> None:
        """The guard where the system has none: what the child holds is seen from here."""
        import psutil  # type: ignore[import-untyped]

        try:
            held = psutil.Process(self.process.pid).memory_info().rss
        except psutil.Error:
            return
        if held > MEMORY:
            raise ChildFailed(f"it took more than {MEMORY // 1024**2} MB of memory")


def _environment() -> dict[str, str]:
    """The packages that this process has, and one thread: others would take memory of their own."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
    told = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONSAFEPATH": "1"}
    quiet = {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    return {**os.environ, **told, **quiet, **dict.fromkeys(names, "1")}


def _read(pipe: IO[str], answers: SimpleQueue[str]) -> None:
    """Line by line, and an empty one at the end."""
    for line in pipe:
        answers.put(line)
    answers.put("")


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


class Renderer:
    """Prompts through a model's chat template, all of them in one child."""

    def __init__(self, template: str, tokens: Mapping[str, Any]) -> None:
        self.child = Child()
        self.child.ask(template=template, tokens=dict(tokens))

    def __call__(self, messages: list[dict[str, str]]) -> str:
        return self.child.ask(messages=messages)["text"]


def try_tokenizer(spec: str, folder: Path) -> None:
    """Raises where the tokenizer files of a folder hang a process, fill its memory or end it."""
    files = sorted({file for form in (CONFIG, *TOKENIZER_FILES) for file in folder.glob(form)})
    named = digest_of([(file.name, digest_of_file(file)) for file in files if file.is_file()])
    if named not in TRIED:
        TRIED[named] = _problem(folder)
    if problem := TRIED[named]:
        raise ModelError(
            f"{spec} has a tokenizer that cannot be used: {problem}. Its files are damaged, or "
            "made to do harm. Get them from where the model was published."
        )


def _problem(folder: Path) -> str:
    try:
        Child().ask(tokenizer=str(folder))
    except ChildFailed as problem:
        return str(problem)
    return ""
