"""From errors to exit codes.

0 done, 1 unexpected, 2 usage, 3 model, 4 data, 5 bar missed, 6 budget, 7 bar undecided,
130 interrupted.
"""

from __future__ import annotations

import errno
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import typer

from stereometer.core.errors import StereometerError, UsageError, did_you_mean
from stereometer.core.show.control import visible

INTERRUPTED = 130
USAGE = cast(type[Exception], typer.BadParameter.__base__)
"""What the parser raises, whichever library typer brings it from."""
SECRETS = "The key of a server is read from STEREOMETER_SERVER_KEY, which no history keeps."
PLAIN = "Benchmarks are written without an option: `stereometer run stereoset -m MODEL`."
HINTS = {**dict.fromkeys(("key", "api-key", "token"), SECRETS), "benchmark": PLAIN}
"""By what people try."""
NO_COMMAND = re.compile(r"No such command '(.*)'\.")
NOT_A_NUMBER = re.compile(r"be a valid (\w+), unable to parse string as an? \w+")
NUMBERS = {"integer": "be a whole number", "number": "be a number"}


@contextmanager
def guarded() -> Iterator[None]:
    """Errors of a command are printed as a sentence and turned into exit codes."""
    try:
        with _terminable():
            yield
            sys.stdout.flush()
    except StereometerError as error:
        say(f"error: {error}")
        raise typer.Exit(error.exit_code) from None
    except KeyboardInterrupt:
        say("interrupted: answers so far are kept; run the same command again to go on.")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # The reader of our output went away (`| head`): leave quietly.
        _drop_output()
        raise typer.Exit(0) from None
    except OSError as error:
        # Files and the cache explain themselves: here the disk is full under our own output.
        if error.errno != errno.ENOSPC:
            raise
        _drop_output()
        say("error: The output cannot be written. The disk is full. Send it somewhere else.")
        raise typer.Exit(1) from None


@contextmanager
def parsed() -> Iterator[None]:
    """What the parser of commands and options does not understand is one line, as every error."""
    try:
        yield
    except USAGE as mistake:
        if type(mistake).__name__ == "NoArgsIsHelpError":  # the help itself
            raise
        say(f"error: {_misunderstood(mistake)}")
        raise typer.Exit(UsageError.exit_code) from None


def _misunderstood(mistake: Any) -> str:
    """What was written, what may have been meant, and where all of it is listed."""
    text = " ".join(mistake.format_message().split()).replace(": Input should", ": it should")
    text = NOT_A_NUMBER.sub(lambda kind: NUMBERS[kind[1]], text)
    option = getattr(mistake, "option_name", "")
    if command := NO_COMMAND.match(text):
        names = mistake.ctx.command.list_commands(mistake.ctx)
        text = f"{text} {did_you_mean(command[1], {name: name for name in names})}".strip()
    if option and hasattr(mistake, "possibilities"):
        nearest = did_you_mean(option, {name: name for name in mistake.possibilities or ()})
        hint = HINTS.get(option.strip("-"), nearest)
        text = f"There is no option {option}. {hint}".strip()
    end = "" if text.endswith((".", "?")) else "."
    place = mistake.ctx.command_path if mistake.ctx else "stereometer"
    return f"{text}{end} `{place} --help` shows what there is."


@contextmanager
def _terminable() -> Iterator[None]:
    """A request to end (SIGTERM) is heard like Ctrl-C: what was answered is kept."""
    try:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    except ValueError:  # only the main thread hears signals
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _drop_output() -> None:
    """So that nothing is left to flush at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str) -> None:
    """Talk goes to standard error; standard output is for results."""
    print(visible(text), file=sys.stderr)  # noqa: T201
