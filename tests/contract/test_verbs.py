"""A verb is written once: its signature is what Python takes and what can be typed."""

from __future__ import annotations

import ast
import inspect
import typing
from pathlib import Path
from typing import Any

import pytest
import typer

import stereometer
from stereometer import cli
from stereometer.cli.app import SECTIONS, CommandGroup, app
from stereometer.cli.command import Command
from stereometer.core.options import VerbParameter, declared
from stereometer.kinds.comments.recognition.method import RecognitionOptions as RecognitionOptions
from stereometer.models.local.checkpoint import LoadingOptions as LocalOptions
from stereometer.models.server.opener import ServerOptions

COMMANDS = {
    f"{name} {inner}".strip(): command
    for entries in SECTIONS.values()
    for name, entry in entries.items()
    for inner, command in (
        entry.commands if isinstance(entry, CommandGroup) else {"": entry}
    ).items()
}
CLI = Path(cli.__file__).parent
MACHINERY = {"__init__", "app", "command", "guard", "render"}
"""What parses, calls, and draws for all commands."""


@pytest.mark.parametrize("name", COMMANDS)
def test_what_can_be_typed_is_what_the_verb_takes(name: str) -> None:
    command = COMMANDS[name]
    typed = {option.name: option for option in command.parser.params}
    taken = list(declared(command.function))
    ways = [way.name for way in command.ways]
    assert list(typed) == [*(each.name for each in taken), *ways]
    signature = inspect.signature(command.function).parameters
    for each in taken:
        assert typed[each.name].help == each.option.help
        if each.name in signature:
            assert each.default == signature[each.name].default
        assert _default(typed[each.name]) == _typed_default(each)


def _default(option: Any) -> object:
    return option.default


def _typed_default(each: VerbParameter) -> object:
    return None if each.default in (inspect.Parameter.empty, ()) else each.default


@pytest.mark.parametrize("name", COMMANDS)
def test_a_verb_says_what_its_parameters_mean(name: str) -> None:
    about = COMMANDS[name].function.__doc__ or ""
    for each in declared(COMMANDS[name].function):
        assert f"- `{each.name}`: {each.option.help}" in about


def test_public_verbs_are_the_commands_verbs() -> None:
    """What Python calls as a command is called is the same function."""
    root: Any = typer.main.get_command(app)
    for name in root.list_commands(None):
        entry: Command | CommandGroup = next(
            part[name] for part in SECTIONS.values() if name in part
        )
        if isinstance(entry, Command) and name in stereometer.__all__:
            assert getattr(stereometer, name) is entry.function


@pytest.mark.parametrize("options", [LocalOptions(), ServerOptions(), RecognitionOptions()])
def test_defaults_that_help_shows_are_those_that_hold(options: object) -> None:
    shown = {
        each.name: each.default
        for name in ("run", "ask")
        for each in declared(COMMANDS[name].function)
    }
    for name, value in vars(options).items():
        if name in shown and name not in ("seed", "templates", "system", "head"):
            assert shown[name] == value, name


def test_no_command_prints_by_itself() -> None:
    """The room holds what parses, calls and draws for all commands; a value makes its own view,
    and no name of a kind or of a verb is known here."""
    assert {file.stem for file in CLI.glob("*.py")} == MACHINERY
    doers = {"runs", "verbs", "findings", "studies", "training", "backends", "report", "shapes"}
    for file in CLI.glob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
        assert doers.isdisjoint(part for node in imports for part in (node.module or "").split("."))


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_may_show_in_ways_its_view_takes(name: str) -> None:
    command = COMMANDS[name]
    ways = [way.name for way in command.ways if way.name != "json"]
    returned = typing.get_type_hints(command.function)["return"] if ways else None
    for kind in typing.get_args(returned) or filter(None, [returned]):
        assert set(ways) <= set(inspect.signature(kind.view).parameters), kind
