"""ask, and the replay of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import typer

from stereometer.cli.guard import guarded, say
from stereometer.cli.options import (
    AllowPickle,
    Coverage,
    Data,
    Device,
    Dtype,
    Json,
    Out,
    Resamples,
    Seed,
    Threads,
    TrustRemoteCode,
    Variant,
    asked_of,
    loading,
)

Budget = Annotated[
    str | None,
    typer.Option(
        help="Stop a server before it costs more: a number of tokens, or money as '$2.50' with --price."
    ),
]
Price = Annotated[
    str | None, typer.Option(help="Of a million tokens read and written, such as 0.15/0.60.")
]
InFlight = Annotated[int, typer.Option(min=1, help="Requests that a server has at once.")]
Timeout = Annotated[
    float, typer.Option(min=0.1, help="Seconds to wait for one answer of a server.")
]

Category = Annotated[
    list[str] | None, typer.Option(help="A category column, with its word as column=word.")
]
Column = Annotated[
    list[str] | None,
    typer.Option(
        help="What a column holds: comment=NAME, answer=NAME, label=NAME, category=NAME, repeat=NAME ..."
    ),
]
Neither = Annotated[
    str, typer.Option(help="The label of comments of no category, in a table of your own.")
]
ReplaySetting = Annotated[
    str | None,
    typer.Option(help="The file holds answers to prompts of this setting: zero-shot, one-shot ..."),
]


@guarded
def ask(
    benchmark: Annotated[
        str,
        typer.Argument(
            help="ethos, a table of your own comments, or a set for forced choice (starter, stereoset, crows-pairs)."
        ),
    ],
    model: Annotated[
        str, typer.Option("--model", "-m", help="A causal model, or server:URL#model.")
    ],
    setting: Annotated[
        list[str] | None,
        typer.Option(
            help="zero-shot, one-shot, few-shot-single, few-shot-mixed, few-shot-mixed-instruction, misspelling; by default the first five."
        ),
    ] = None,
    repeats: Annotated[int, typer.Option(help="How often each question is asked.")] = 10,
    temperature: Annotated[float, typer.Option(help="0 is always the likeliest word.")] = 0.3,
    variant: Variant = "sound",
    sample: Annotated[
        str | None,
        typer.Option(
            help="`paper` (the first comments) or `sound` (drawn by lot); by default as the variant."
        ),
    ] = None,
    size: Annotated[
        int,
        typer.Option(
            help="Comments of each kind in the single settings; twice as many in the mixed ones."
        ),
    ] = 30,
    threshold: Annotated[
        float, typer.Option(help="Share of annotators from which a comment is of a category.")
    ] = 0.5,
    category: Category = None,
    column: Column = None,
    neither: Neither = "neither",
    templates: Annotated[
        Path | None, typer.Option(help="A folder with prompts of your own, named like ours.")
    ] = None,
    edits: Annotated[
        Path | None,
        typer.Option(help="A table of original and edit, for the misspelling setting."),
    ] = None,
    chat: Annotated[
        bool,
        typer.Option("--chat", help="Ask as a conversation, through the model's chat template."),
    ] = False,
    system: Annotated[
        Path | None, typer.Option(help="A file with the system prompt of a conversation.")
    ] = None,
    likelihood: Annotated[
        bool,
        typer.Option(
            "--likelihood", help="Also the probability of the label words, for models that give it."
        ),
    ] = False,
    budget: Budget = None,
    price: Price = None,
    in_flight: InFlight = 8,
    timeout: Timeout = 60.0,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only say what would be asked; a server is not asked for it."
        ),
    ] = False,
    data: Data = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="At most this many questions, by a lot that is always the same."),
    ] = None,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    coverage: Coverage = 0.90,
    out: Out = None,
    cache: Annotated[
        bool, typer.Option("--cache/--no-cache", help="Keep answers for later runs.")
    ] = True,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    threads: Threads = None,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
    json: Json = False,
) -> None:
    """Ask a model in words: recognise hate speech, or choose between candidates."""
    from stereometer import api, asking
    from stereometer.cli.measuring import dry, shown, watch
    from stereometer.cli.tables import print_plans
    from stereometer.measures.recognition.measure import Asking
    from stereometer.measures.recognition.settings import STUDY, setting_of

    settings = api.settings_for(variant, seed, resamples, coverage)
    names = setting or list(STUDY)
    for name in names:
        setting_of(name)
    how = Asking(repeats, temperature, chat, prompt_file(system), folder(templates), likelihood)
    chosen = asking.Sample(sample_of(sample), size, threshold, words_of(category or []), edits)
    local = loading(device, dtype, threads, allow_pickle, trust_remote_code)
    served = asked_of(budget, price, in_flight, timeout)
    found = asking.open_comments(
        benchmark, data, columns_of(column or [], list(chosen.words), neither)
    )
    asked = asking.writing(
        api.open_model(model, seed, served if model.startswith(api.SERVER) else local)
    )
    jobs = list(
        asking.all_jobs(found, names, asked, settings, how, chosen, limit)
    )  # a mistake in the last is told before the first is paid
    if dry_run:
        print_plans([dry(job) for job in jobs], json)
        return
    show = tell if "comment" in found.shapes else tell_choices
    shown(api.execute_all(jobs, out, cache, watch), lambda finished: show(finished, json))


def tell_choices(finished: Sequence[Any], json: bool) -> None:
    """Forced choice with its habits, and held against the likelihoods where those were asked for."""
    from stereometer.cli.calibrating import print_calibration
    from stereometer.cli.said import print_habits
    from stereometer.cli.tables import print_json, print_results
    from stereometer.findings import calibrate as calibration

    pairs = [
        (likely.folder, choice.folder)
        for choice, likely in pairwise(finished)
        if "forced-choice" in choice.result.measure and "forced-choice" not in likely.result.measure
    ]
    held = [calibration.calibrate(*pair) for pair in pairs]
    if json:
        results = [one.result.as_json() for one in finished]
        print_json(
            {
                "schema": "chosen@1",
                "results": results,
                "calibration": [one.as_json() for one in held],
            }
        )
    else:
        for one in finished:
            print_results([one.result])
            print_habits(one.result)
        for table in held:
            print_calibration(table)
    for one in finished:
        say(f"Stored in {one.folder}")


def tell(finished: Sequence[Any], json: bool) -> None:
    """Results with what was said, as tables or as one document."""
    from stereometer import asking
    from stereometer.cli.said import print_asked
    from stereometer.cli.tables import print_json
    from stereometer.measures.recognition.misspelling import flipped
    from stereometer.measures.recognition.settings import setting_of
    from stereometer.runs import store as runs

    said: list[dict[str, Any]] = []
    for one in finished:
        scores = list(runs.load_scores(one.folder))
        told: dict[str, Any] = {
            "confusion": asking.confusion(scores),
            "out_of_scope": asking.out_of_scope(scores, setting_of(one.result.settings["setting"])),
        }
        said.append(
            told
            | (
                {"flipped": flipped(scores)}
                if one.result.settings.get("setting") == "misspelling"
                else {}
            )
        )
    if json:
        print_json(
            {
                "schema": "asked@1",
                "results": [one.result.as_json() for one in finished],
                "said": said,
            }
        )
    for one, answers in zip(finished, said, strict=True):
        if not json:
            print_asked(one.result, answers)
        say(f"Stored in {one.folder}")


def prompt_file(path: Path | None) -> str:
    from stereometer.files import read_text

    return read_text(path).strip() if path else ""


def folder(path: Path | None) -> Path | None:
    from stereometer.errors import UsageError

    if path is not None and not path.is_dir():
        raise UsageError(
            f"{path} is not a folder. --templates names a folder of text files. `zero-shot.txt` is one of their names."
        )
    return path


def sample_of(name: str | None) -> Any:
    from stereometer.errors import UsageError

    if name not in (None, "paper", "sound"):
        raise UsageError(
            f"There is no sample '{name}'. There are paper and sound. Leave it out to take that of the variant."
        )
    return name


def words_of(categories: Sequence[str]) -> Mapping[str, str]:
    """`gender=sexist` as column and word; a column alone is its own word."""
    return {name: word or name for name, _, word in (one.partition("=") for one in categories)}


def columns_of(pairs: Sequence[str], categories: Sequence[str], neither: str) -> Any:
    from stereometer.benchmarks.comments import columns_from

    return columns_from(pairs, categories, neither)


def replay_answers(
    file: Path,
    setting: str,
    columns: Sequence[str],
    asked: Any,
    name: str | None,
    benchmark: str,
    categories: Sequence[str],
    neither: str,
) -> None:
    """`replay --setting`: answers collected elsewhere, read and scored again."""
    from stereometer import asking
    from stereometer.cli.measuring import bars, check
    from stereometer.measures.recognition.settings import setting_of
    from stereometer.shapes.comment.metrics import METRICS

    wanted = bars(asked.require, METRICS)
    mapped, words = asking.answer_columns(columns), words_of(categories) or None
    one = asking.replay_answers(
        file,
        setting_of(setting),
        asked.settings,
        mapped,
        asked.out,
        words,
        name,
        benchmark,
        neither,
    )
    tell([one], asked.json)
    check([one.result], wanted)
