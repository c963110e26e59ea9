"""What makes a verb a command: its parameters are what can be typed, and what it returns is shown.

A verb's module is imported when its command is looked up, so that `stereometer --help` is quick.
"""

from __future__ import annotations

import functools
import inspect
import json as jsons
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperCommand

from stereometer.cli.guard import guarded, say
from stereometer.core.files import to_json
from stereometer.core.options import COMMON, PANELS, Option, VerbParameter, declared
from stereometer.core.types.shown import Told

ARGUMENTS = "Arguments"
SLICES = VerbParameter(
    "slices", bool, Option("Also print the slices: domains, bias types, example sets."), False
)
EVERY_SLICE = VerbParameter(
    "every_slice",
    bool,
    Option("Also list slices whose differences are not beyond noise or not compared."),
    False,
)
JSON = VerbParameter("json", bool, Option("Print JSON and nothing else."), False)
WAYS = {"slices": SLICES, "every-slice": EVERY_SLICE, "json": JSON}


class Untyped(TyperCommand):
    """Its help names arguments without their Python types, and has options under headings."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[Any]] = {panel: [] for panel in (ARGUMENTS, COMMON, *PANELS)}
        for parameter in self.get_params(ctx):
            own = getattr(parameter, "rich_help_panel", None) or COMMON
            panel = ARGUMENTS if parameter.param_type_name == "argument" else own
            panels[panel].append(parameter.get_help_record(ctx))
        plain = not any(panels[panel] for panel in PANELS)
        for panel, records in panels.items():
            if rows := [record for record in records if record]:
                with formatter.section("Options" if plain and panel == COMMON else panel):
                    formatter.write_dl(rows)


@dataclass(frozen=True)
class Command:
    """A verb as a command."""

    name: str
    verb: str
    """Where it is, `stereometer.core.verbs.run:run`; its signature is what can be typed."""
    about: str
    examples: tuple[str, ...] = ()
    ways: tuple[VerbParameter, ...] = (JSON,)
    """Of showing what comes back."""

    @classmethod
    def of(cls, name: str, entry: Mapping[str, Any], room: str) -> Command:
        """As the `commands.toml` of a room has it; `ways` are those of showing what comes back."""
        ways = tuple(WAYS[way] for way in entry.get("ways", ["json"]))
        examples = tuple(entry.get("examples", "").splitlines())
        return cls(name, f"{room}.{entry['verb']}", entry["about"], examples, ways)

    @functools.cached_property
    def function(self) -> Callable[..., Any]:
        found: Callable[..., Any] = resolve_name(self.verb)
        return found

    @functools.cached_property
    def parameters(self) -> list[VerbParameter]:
        return [*declared(self.function), *self.ways]

    @functools.cached_property
    def parser(self) -> Any:
        """What reads the words that are typed, and runs the verb with them."""
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        lines = "\n".join(f"  stereometer {example}" for example in self.examples)
        # \b keeps the line breaks.
        epilog = f"Examples:\n\n\b\n{lines}" if lines else None
        own = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        parameters = [own, *map(_parameter, self.parameters)]
        call: Any = guarded()(self.run)
        call.__signature__ = inspect.Signature(parameters)
        call.__annotations__ = {each.name: each.annotation for each in parameters}
        app.command(self.name, cls=Untyped, help=self.about, epilog=epilog)(call)
        command: Any = typer.main.get_command(app)
        for parameter in command.params:
            if parameter.param_type_name == "argument":
                parameter.display_type_rich = lambda ctx: ""
        return command

    def run(self, context: Any, **values: Any) -> None:
        ways = {way.name: values[way.name] for way in self.ways}
        # Whatever its value: one may equal its default.
        typed = {name for name in values if context.get_parameter_source(name).name != "DEFAULT"}
        try:
            value = self._answer({name: values[name] for name in typed})
        except BaseException as stop:
            # What was finished before is shown, whatever ended the rest.
            if finished := getattr(stop, "results", None):
                show(finished, **ways)
            raise
        show(value, **ways)
        if check := getattr(value, "check", None):
            check()

    def _answer(self, typed: Mapping[str, Any]) -> Any:
        """Only what was typed is handed on: the defaults are the verb's own."""
        several: list[Any] = []
        keywords: dict[str, Any] = {}
        for each in declared(self.function):
            if each.name in typed:
                value = typed[each.name]
                read = value if each.option.read is None else each.option.read(value)
                if each.kind is inspect.Parameter.VAR_POSITIONAL:
                    several += read
                elif each.kind is not inspect.Parameter.KEYWORD_ONLY and each.is_argument:
                    several.append(read)
                else:
                    keywords[each.name] = read
        if "announce" in inspect.signature(self.function).parameters:
            keywords["announce"] = say
        return self.function(*several, **keywords)


def show(value: Any, json: bool = False, **ways: bool) -> None:
    """What a verb returned: as JSON or as its view, where it has one; then what there is to say of
    it."""
    if json:
        text = to_json(value.as_json())
        try:
            text.encode(sys.stdout.encoding or "utf-8")
        except UnicodeEncodeError:  # a terminal that knows no more than ASCII
            text = jsons.dumps(value.as_json(), indent=1)
        sys.stdout.write(text + "\n")
        if isinstance(value, Told):  # its document says the same
            return
    elif make := getattr(value, "view", None):
        from stereometer.cli.render import print_view  # slow to import

        print_view(make(**ways))
    for remark in getattr(value, "remarks", ()):
        say(remark)


def _parameter(each: VerbParameter) -> inspect.Parameter:
    """As typer reads it."""
    option, words, default = each.option, each.words, each.default
    is_argument = each.is_argument
    settings: dict[str, Any] = {"help": option.help, "rich_help_panel": option.panel}
    settings["metavar"] = option.metavar or _metavar(each.name, words, is_argument)
    if option.least is not None:
        settings["min"] = option.least
    if option.most is not None:
        settings["max"] = option.most
    if not option.has_default:
        settings["show_default"] = False
    # A flag that is off has no --no-flag; typer names those that are on.
    own = [f"--{each.name.strip('_').replace('_', '-')}"]
    names = list(option.flags) or (own if words is bool and default is False else [])
    kind = typer.Argument(**settings) if is_argument else typer.Option(*names, **settings)
    if default is not inspect.Parameter.empty and (default is None or default == ()):
        default, words = None, words | None
    return inspect.Parameter(
        each.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[words, kind],
    )


BY_TYPE = {bool: None, int: "N", float: "NUMBER", Path: "PATH"}
FOLDERS = ("against", "control", "copy", "hidden", "into", "runs", "states")
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
