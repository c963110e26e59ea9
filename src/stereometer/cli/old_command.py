"""What makes a function a command: heading, examples, groups of options, exit codes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand
from typer.models import ArgumentInfo

from stereometer.cli.guard import guarded

ARGUMENTS, COMMON = "Arguments", "Common"
RARER = ("Questions", "Statistics", "Loading", "Server", "Groups", "Files", "Bars", "Workers")
"""Headings of `--help`, the rare ones last; a group of options names its own."""

TYPED: ContextVar[set[str]] = ContextVar("TYPED")
"""Names of the options that a user gave, whatever their values: one may equal its default."""


class Untyped(TyperCommand):
    """Its help names arguments without their Python types, and has options under headings."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: ""  # type: ignore[attr-defined]

    def invoke(self, ctx: Any) -> Any:
        sources = {name: ctx.get_parameter_source(name) for name in ctx.params}
        TYPED.set({name for name, source in sources.items() if source.name != "DEFAULT"})
        return super().invoke(ctx)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[Any]] = {panel: [] for panel in (ARGUMENTS, COMMON, *RARER)}
        for parameter in self.get_params(ctx):
            own = getattr(parameter, "rich_help_panel", None) or COMMON
            panel = ARGUMENTS if parameter.param_type_name == "argument" else own
            panels[panel].append(parameter.get_help_record(ctx))
        plain = not any(panels[panel] for panel in RARER)
        for panel, records in panels.items():
            if rows := [record for record in records if record]:
                with formatter.section("Options" if plain and panel == COMMON else panel):
                    formatter.write_dl(rows)


@dataclass(frozen=True)
class Command:
    call: Callable[..., None]
    heading: str
    """Under which `stereometer --help` lists it."""
    examples: tuple[str, ...]

    @property
    def about(self) -> str:
        return " ".join((self.call.__doc__ or "").split())

    def built(self, name: str) -> Any:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        self.add_to(app)
        return typer.main.get_command(app)

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
    panel = getattr(group, "panel", None)
    return [
        _parameter(field.name, hints[field.name], field.default, panel) for field in fields(group)
    ]


def _parameter(name: str, hint: Any, default: Any, panel: str | None = None) -> inspect.Parameter:
    """As typer reads it. `Annotated[int, "Help."]` is an option, or an argument if required; a
    second text is its panel."""
    described, *own = hint.__metadata__
    if isinstance(described, str):
        if default is inspect.Parameter.empty:
            described = typer.Argument(help=described)
        else:
            # A flag that is off has no --no-flag.
            names = [f"--{name.replace('_', '-')}"] if default is False else []
            described = typer.Option(*names, help=described)
    described = copy(described)  # options that several commands share are one object
    described.rich_help_panel = own[0] if own else panel
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
