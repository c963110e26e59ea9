"""What makes a function a command: heading, examples, groups of options, exit codes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand
from typer.models import ArgumentInfo

from stereometer.cli.guard import guarded


class Untyped(TyperCommand):
    """Its help names arguments without their Python types."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: ""  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Command:
    call: Callable[..., None]
    heading: str
    """Under which `stereometer --help` lists it."""
    examples: tuple[str, ...]

    def add_to(self, app: typer.Typer) -> None:
        name = self.call.__name__.strip("_").replace("_", "-")
        lines = "\n".join(f"  stereometer {example}" for example in self.examples)
        app.command(
            name,
            cls=Untyped,
            # \b keeps the line breaks.
            epilog=f"Examples:\n\n\b\n{lines}" if lines else None,
            rich_help_panel=self.heading,
        )(self.call)


def command(heading: str, *examples: str) -> Callable[[Callable[..., None]], Command]:
    def decorate(function: Callable[..., None]) -> Command:
        return Command(guarded(spread(function)), heading, examples)

    return decorate


def spread(function: Callable[..., None]) -> Callable[..., None]:
    """The function with the fields of its dataclass parameters as parameters of their own."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in groups:
            parameters += _inner(groups[name])
        else:
            parameters.append(_parameter(name, hints[name], parameter.default))

    @functools.wraps(function)
    def wrapped(**values: Any) -> None:
        for name, group in groups.items():
            values[name] = group(**{field.name: values.pop(field.name) for field in fields(group)})
        function(**values)

    wrapped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {each.name: each.annotation for each in parameters}
    return wrapped


@functools.cache
def _inner(group: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [_parameter(field.name, hints[field.name], field.default) for field in fields(group)]


def _parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    """As typer reads it. `Annotated[int, "Help."]` is an option, or an argument if required."""
    (described,) = hint.__metadata__
    if isinstance(described, str):
        if default is inspect.Parameter.empty:
            described = typer.Argument(help=described)
        else:
            # A flag that is off has no --no-flag.
            names = [f"--{name.replace('_', '-')}"] if default is False else []
            described = typer.Option(*names, help=described)
    described = copy(described)  # options that several commands share are one object
    described.metavar = described.metavar or _metavar(
        name, hint.__origin__, isinstance(described, ArgumentInfo)
    )
    kind = inspect.Parameter.KEYWORD_ONLY
    annotation = Annotated[hint.__origin__, described]
    return inspect.Parameter(name, kind, default=default, annotation=annotation)


BY_TYPE = {bool: None, int: "N", float: "NUMBER", Path: "PATH"}
FOLDERS = ("against", "control", "copy", "hidden", "into", "run", "states")
BY_NAME = dict.fromkeys(FOLDERS, "FOLDER") | {
    "by": "NAME",
    "column": "NAME=COLUMN",
    "database": "URL",
    "ignore": "FLAG",
    "negative_label": "LABEL",
    "neither": "LABEL",
    "option": "NAME=VALUE",
    "pilot_groups": "GROUPS",
    "require": "BAR",
    "shard": "K/N",
}
"""What help calls a value, where neither the type nor the parameter's own name says it."""


def _metavar(name: str, hint: Any, is_argument: bool) -> str | None:
    """Of an option `N`, `NUMBER` or `PATH`, else its name in capitals; nothing of a flag."""
    own = name.strip("_").replace("_", "-").upper()
    if is_argument:
        return own.removesuffix("S") if get_origin(hint) is list else own
    kinds = {hint, *get_args(hint), *(part for arg in get_args(hint) for part in get_args(arg))}
    kind = next((kind for kind in BY_TYPE if kind in kinds), str)
    if kind in (Path, str) and name in BY_NAME:
        return BY_NAME[name]
    return BY_TYPE.get(kind, own)
