"""The commands, assembled."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from stereometer.cli import (
    aggregate,
    align,
    analyze,
    ask,
    audit,
    cache,
    calibrate,
    compare,
    data,
    doctor,
    ensemble,
    export,
    intersect,
    list_,
    model,
    relate,
    replay,
    report,
    run,
    serve_model,
    show,
    split,
    study,
    terms,
    train,
)


class Headed(TyperGroup):
    """Lists commands under headings."""

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


def _group(name: str, heading: str, about: str) -> typer.Typer:
    group = typer.Typer(help=about, no_args_is_help=True, callback=lambda: None)
    app.add_typer(group, name=name, rich_help_panel=heading)
    return group


run.run.add_to(app)
ask.ask.add_to(app)
replay.replay.add_to(app)
ensemble.ensemble.add_to(app)
compare.compare.add_to(app)
report.report.add_to(app)
export.export.add_to(app)
calibrate.calibrate.add_to(app)
relate.relate.add_to(app)
show.show.add_to(app)
list_.list_.add_to(app, "list")
align.align.add_to(app)
intersect.intersect.add_to(app)
analyze.analyze.add_to(app)
audit.audit.add_to(app)
split.split.add_to(app)
terms.terms.add_to(app)
doctor.doctor.add_to(app)
serve_model.serve_model.add_to(app, "serve-model")

study_app = _group("study", "People", "Run studies with people in the browser.")
study.new.add_to(study_app)
study.serve.add_to(study_app)
study.check.add_to(study_app)
study.rehearse.add_to(study_app)
study.status.add_to(study_app)
study.export.add_to(study_app)
study.invite.add_to(study_app)
study.token.add_to(study_app)
study.withdraw.add_to(study_app)
study.forget_ids.add_to(study_app, "forget-ids")
study.payments.add_to(study_app)
study.backup.add_to(study_app)
study.restore.add_to(study_app)
study.move.add_to(study_app)
aggregate.aggregate.add_to(app)
data_app = _group("data", "Data", "Find, fetch and add data sets.")
data.add.add_to(data_app)
data.pull.add_to(data_app)
data.where.add_to(data_app)
cache_app = _group("cache", "Data", "Look at or clear the answers kept on disk.")
cache.info.add_to(cache_app)
cache.clear.add_to(cache_app)
model.add.add_to(_group("model", "Models", "Install the default models."))
train_app = _group("train", "Models", "Train what a measure needs of a model.")
train.nsp.add_to(train_app)
train.sentiment.add_to(train_app)


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
