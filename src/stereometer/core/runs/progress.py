"""Progress: a bar in a terminal and in a notebook, elsewhere a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

from stereometer.core.runs.runner import Progress, silent
from stereometer.core.show.numbers import duration

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

Watch: TypeAlias = Callable[[str], AbstractContextManager[Progress]]
"""Given a title, gives what is called with progress while a job is under way."""
Phases: TypeAlias = Callable[[str, int, int, str], None]
"""Told what is done, how much of it, of how much, and how it goes."""
EVERY = 30.0
"""Seconds between two lines."""
NOTEBOOK = "ipykernel"
"""What is loaded where a notebook runs."""


def say(line: str) -> None:
    """Standard output is for results."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201


@contextmanager
def lines(
    title: str, write: Callable[[str], None] = say, clock: Callable[[], float] = time.monotonic
) -> Iterator[Progress]:
    """Writes how far a job is every 30 seconds, so that a short one writes nothing."""
    started = last = clock()

    def progress(done: int, total: int, status: str = "") -> None:
        nonlocal last
        now = clock()
        if now - last >= EVERY and done < total:
            last = now
            how = f" ({status})" if status else ""
            rest = (now - started) / done * (total - done) if done else 0.0
            left = f", about {duration(rest)} left" if done else ""
            write(f"{title}: {done:,} of {total:,} items{left}{how}")

    yield progress


def bars(remark: str = "") -> Bars:
    """Nothing where neither a terminal nor a notebook could draw them. A notebook gets a
    terminal's bar: one of its own would need a package that not every notebook has."""
    from rich import progress
    from rich.console import Console

    columns = (progress.BarColumn(), progress.MofNCompleteColumn(), progress.TimeRemainingColumn())
    title, remarks = progress.TextColumn("{task.description}"), progress.TextColumn(remark)
    console = Console(
        stderr=True, force_jupyter=False, force_terminal=NOTEBOOK in sys.modules or None
    )
    return progress.Progress(
        title,
        *columns,
        remarks,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        refresh_per_second=4,
    )


@contextmanager
def watch(title: str) -> Iterator[Progress]:
    """What is called with the progress of a job."""
    if not (sys.stderr.isatty() or NOTEBOOK in sys.modules):
        with lines(title) as progress:
            yield progress
        return
    with bars("{task.fields[status]}") as drawn:
        task = drawn.add_task(title, total=None, status="")

        def progress(done: int, total: int, status: str = "") -> None:
            drawn.update(task, completed=done, total=total, status=status)

        yield progress


def watched_by(choice: Watch | bool) -> Watch:
    """What a caller chose: a watch of its own, ours, or none."""
    if callable(choice):
        return choice
    return watch if choice else lambda title: nullcontext(silent)


@contextmanager
def phases(choice: Phases | bool = True) -> Iterator[Phases]:
    """What is called with the progress of each phase: a caller's own, a bar for each, or none."""
    if choice is not True:
        yield choice or (lambda *report: None)
        return
    with bars("{task.fields[how]}") as drawn:
        tasks: dict[str, Any] = {}

        def update(phase: str, done: int, total: int, how: str) -> None:
            if phase not in tasks:
                tasks[phase] = drawn.add_task(phase, total=total, how=how)
            drawn.update(tasks[phase], completed=done, how=how)

        yield update
