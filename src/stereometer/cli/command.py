"""What makes a function a command: heading, examples, groups of options, exit codes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import typer

from stereometer.cli.guard import guarded


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
    kind = inspect.Parameter.KEYWORD_ONLY
    annotation = Annotated[hint.__origin__, described]
    return inspect.Parameter(name, kind, default=default, annotation=annotation)
