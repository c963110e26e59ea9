"""The commands, assembled."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from stereometer.cli.guard import parsed


class Headed(TyperGroup):
    """Lists commands under headings; a mistake in any of them is one line."""

    def make_context(self, *args: Any, **settings: Any) -> Any:
        with parsed():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: Any) -> Any:
        with parsed():
            return super().invoke(ctx)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        width = max(len(name) for name in self.commands)
        for name, command in self.commands.items():
            heading = getattr(command, "rich_help_panel", None) or "Commands"
            help_text = command.get_short_help_str(limit=200)
            sections.setdefault(heading, []).append((name.ljust(width), help_text))
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


app = typer.Typer(
    name="stereometer",
    cls=Headed,
    help="Measure social stereotypes in language models: published methods, with intervals, "
    "denominators and verdicts.",
    epilog="Start with: stereometer run starter --model random",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from stereometer import __version__

        typer.echo(__version__)
        raise typer.Exit


ALONE = (
    "run sweep ask replay ensemble compare report export submit gate calibrate relate show list_ "
    "published align intersect analyze audit split terms doctor serve_model aggregate"
)
"""Commands that are called as their module is."""
STUDY = (
    "new serve check rehearse revise status export invite token withdraw forget_ids payments "
    "exclude backup restore move"
)
MITIGATE = "Reduce how much of an attribute, such as gender, a model encodes, and make a control."
GROUPS = (
    ("study", "People", "Run studies with people in the browser.", STUDY),
    ("board", "Look", "Rank stored runs on pages of their own.", "build check judge"),
    ("data", "Data", "Find, fetch and add data sets.", "add pull where"),
    ("pack", "Data", "Check sets in other languages.", "check"),
    ("cache", "Data", "Look at, clear or merge the answers kept on disk.", "info clear merge"),
    ("model", "Models", "Install the default models.", "add"),
    ("mitigate", "Models", MITIGATE, "leace inlp sentence_debias self_debias cda export"),
    ("train", "Models", "Train next-sentence heads and sentiment classifiers.", "nsp sentiment"),
)


def _add(module: str, names: str, to: typer.Typer) -> None:
    for name in names.split():
        getattr(import_module(f"stereometer.cli.{module}"), name).add_to(to)


for alone in ALONE.split():
    _add(alone, alone, app)
for group_name, heading, about, inner in GROUPS:
    group = typer.Typer(help=about, no_args_is_help=True, callback=lambda: None)
    app.add_typer(group, name=group_name, rich_help_panel=heading)
    _add(group_name, inner, group)


def main() -> None:
    _mend_streams()
    app()


def _mend_streams() -> None:
    """Output that is closed is thrown away; where it takes few characters, others become `?`."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper) and stream.encoding.lower() != "utf-8":
            stream.reconfigure(errors="replace")
