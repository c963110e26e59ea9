"""The commands, assembled."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer
from typer.core import TyperGroup

from stereometer.cli.command import Command
from stereometer.cli.guard import parsed, say
from stereometer.core import catalog

PLAIN: Mapping[str, Any] = {
    "no_args_is_help": True,
    "add_completion": False,
    "rich_markup_mode": None,
    "pretty_exceptions_enable": False,
}


class CommandList(TyperGroup):
    """Lists commands under headings, and builds one when it is looked up; a mistake in any of them
    is one line."""

    def make_context(self, *args: Any, **settings: Any) -> Any:
        with parsed():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: Any) -> Any:
        with parsed():
            return super().invoke(ctx)

    sections: ClassVar[Mapping[str, Mapping[str, Command | CommandGroup]]] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for entries in self.sections.values() for name in entries]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        for entries in self.sections.values():
            if cmd_name in entries:
                return entries[cmd_name].parser
        return None

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(map(len, self.list_commands(ctx)))
        for heading, entries in self.sections.items():
            with formatter.section(heading or "Commands"):
                formatter.write_dl(
                    [(name.ljust(width), each.about) for name, each in entries.items()]
                )


@dataclass(frozen=True)
class CommandGroup:
    """Commands under one word."""

    name: str
    about: str
    commands: dict[str, Command]

    @cached_property
    def parser(self) -> Any:
        sections = {"": self.commands}
        inner = type("Inner", (CommandList,), {"sections": sections})
        group = typer.Typer(name=self.name, cls=inner, help=self.about, **PLAIN)
        group.callback()(lambda: None)
        return typer.main.get_command(group)


def _sections() -> dict[str, dict[str, Command | CommandGroup]]:
    """By heading, in the order of the catalog; `cache merge` joins the commands of `cache`."""
    found: dict[str, Command | CommandGroup] = {}
    sections: dict[str, dict[str, Command | CommandGroup]] = {}
    for name in catalog.names("command"):
        try:
            room = catalog.place("command", name)
            entry = _declared(room)[name]
            group, _, word = name.partition(" ")
            if word:
                command = Command.of(word, entry, room)
                found[group].commands[word] = command  # type: ignore[union-attr]
                continue
            inner = entry.get("commands", {})
            words = {word: Command.of(word, each, room) for word, each in inner.items()}
            about = entry["about"]
            made = CommandGroup(name, about, words) if words else Command.of(name, entry, room)
            found[name] = sections.setdefault(entry["heading"], {})[name] = made
        except (AttributeError, ImportError, KeyError, OSError, ValueError) as error:
            # One room that is broken must not keep the others from being used.
            say(f"warning: The command {name} is left out: {type(error).__name__} {error}.")
    return sections


@cache
def _declared(room: str) -> dict[str, Any]:
    """What a room's `commands.toml` says; the room itself is not imported."""
    spec = find_spec(room)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"there is no {room}")
    return tomllib.loads(Path(spec.origin).with_name("commands.toml").read_text("utf-8"))


SECTIONS = CommandList.sections = _sections()
app = typer.Typer(
    name="stereometer",
    cls=CommandList,
    help="Measure social stereotypes in language models: published methods, with intervals, "
    "denominators and verdicts.",
    epilog="Start with: stereometer run starter --model random",
    **PLAIN,
)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from stereometer import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Output that is closed is thrown away; where it takes few characters, others become `?`."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(errors="replace")
    app()
