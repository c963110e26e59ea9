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
    board,
    cache,
    calibrate,
    compare,
    data,
    doctor,
    ensemble,
    export,
    gate,
    intersect,
    list_,
    mitigate,
    model,
    pack,
    published,
    relate,
    replay,
    report,
    run,
    serve_model,
    show,
    split,
    study,
    submit,
    sweep,
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


COMMANDS = (
    *(
        run.run,
        sweep.sweep,
        ask.ask,
        replay.replay,
        ensemble.ensemble,
        compare.compare,
        report.report,
    ),
    *(
        export.export,
        submit.submit,
        gate.gate,
        calibrate.calibrate,
        relate.relate,
        show.show,
        list_.list_,
        published.published,
        align.align,
    ),
    *(intersect.intersect, analyze.analyze, audit.audit, split.split, terms.terms),
    *(doctor.doctor, serve_model.serve_model, aggregate.aggregate),
)
STUDY = (
    *(study.new, study.serve, study.check, study.rehearse, study.status, study.export),
    *(study.invite, study.token, study.withdraw, study.forget_ids, study.payments, study.exclude),
    *(study.backup, study.restore, study.move),
)
GROUPS = (
    ("study", "People", "Run studies with people in the browser.", STUDY),
    (
        "board",
        "Look",
        "Rank stored runs on pages of their own.",
        (board.build, board.check, board.judge),
    ),
    ("data", "Data", "Find, fetch and add data sets.", (data.add, data.pull, data.where)),
    ("pack", "Data", "Check sets in other languages.", (pack.check,)),
    (
        "cache",
        "Data",
        "Look at, clear or merge the answers kept on disk.",
        (cache.info, cache.clear, cache.merge),
    ),
    ("model", "Models", "Install the default models.", (model.add,)),
    (
        "mitigate",
        "Models",
        "Reduce how much of an attribute, such as gender, a model encodes, and make a control.",
        (
            *(mitigate.leace, mitigate.inlp, mitigate.sentence_debias, mitigate.self_debias),
            *(mitigate.cda, mitigate.export),
        ),
    ),
    (
        "train",
        "Models",
        "Train next-sentence heads and sentiment classifiers.",
        (train.nsp, train.sentiment),
    ),
)
for each in COMMANDS:
    each.add_to(app)
for group_name, heading, about, inner in GROUPS:
    group = typer.Typer(help=about, no_args_is_help=True, callback=lambda: None)
    app.add_typer(group, name=group_name, rich_help_panel=heading)
    for each in inner:
        each.add_to(group)


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
