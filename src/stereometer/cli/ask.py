"""ask: put questions to a model in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from stereometer.cli import render
from stereometer.cli.calibrate import print_calibration
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.jobs import carry_out
from stereometer.cli.options import (
    Comments,
    Counting,
    Json,
    Loading,
    Running,
    Serving,
    Slices,
    Spreading,
    opening,
)
from stereometer.errors import UsageError
from stereometer.files import read_text
from stereometer.types import Finished


@dataclass(frozen=True)
class Prompting:
    """How questions are put."""

    panel: ClassVar = "Questions"
    repeats: Annotated[int, "How often each question is asked."] = 10
    temperature: Annotated[float, "Sampling temperature; 0 always takes the likeliest word."] = 0.3
    sample: Annotated[
        str | None,
        "`paper` (the first comments) or `sound` (drawn at random); "
        "by default that of the variant.",
    ] = None
    size: Annotated[
        int, "Comments of each kind in the single settings; twice as many in the mixed ones."
    ] = 30
    threshold: Annotated[float, "Share of annotators who must agree on a comment's category."] = 0.5
    templates: Annotated[Path | None, "A folder with prompts of your own, named like ours."] = None
    edits: Annotated[Path | None, "A table of original and edit, for the misspelling setting."] = (
        None
    )
    chat: Annotated[
        bool | None,
        "Ask as a conversation, through the model's chat template, or as raw text; by default a "
        "conversation where the model has a template, except for --variant paper and --likelihood.",
    ] = None
    system: Annotated[Path | None, "A file with the system prompt of a conversation."] = None
    likelihood: Annotated[
        bool, "Also measure the probability of the label words, if the model gives it."
    ] = False
    scales: Annotated[int, "Scales of a survey that are asked together; 0 for a whole page."] = 0


@command(
    "Measure",
    "ask ethos --model smollm2-135m --setting zero-shot --limit 20",
    "ask starter --model server:http://localhost:8080#my-model",
    "ask survey -m smollm2-135m --scales 1 --repeats 4",
    "ask comments.csv -m smollm2-135m --column comment=text --category insult",
)
def ask(
    *,
    benchmark: Annotated[
        str,
        "ethos, a table of your own comments, a set for forced choice "
        "(starter, stereoset, crows-pairs), survey, or the folder of a survey.",
    ],
    model: Annotated[
        str, typer.Option("--model", "-m", help="A causal model, or server:URL#model.")
    ],
    setting: Annotated[
        list[str] | None,
        "zero-shot, one-shot, few-shot-single, few-shot-mixed, "
        "few-shot-mixed-instruction, misspelling; by default the first five.",
    ] = None,
    prompting: Prompting,
    comments: Comments,
    serving: Serving,
    running: Running,
    spreading: Spreading,
    counting: Counting,
    loading: Loading,
    slices: Slices = False,
    json: Json = False,
) -> None:
    """Ask a model in words: recognise hate speech, choose between candidates, rate groups."""
    from stereometer.runs.ask import backend_of, jobs_for, open_comments
    from stereometer.runs.models import open_for
    from stereometer.shapes.comment.settings import STUDY, setting_of

    settings, names = counting.settings, setting or list(STUDY)
    for name in names:
        setting_of(name)
    system = read_text(prompting.system).strip() if prompting.system else ""
    how = asdict(prompting) | {"categories": comments.words, "system": system}
    _check(prompting)
    opened = open_comments(benchmark, running.data, comments.columns)
    options = opening(serving, loading, dry_run=running.dry_run)
    with spreading.engines() as engines:
        backend = backend_of(open_for(engines, model, counting.seed, options))
        # A mistake in the last job is reported before the first is paid for.
        jobs = list(jobs_for(opened, names, backend, settings, how, running.limit))
        show = partial(print_asked, json=json, likelihood=prompting.likelihood, slices=slices)
        carry_out(jobs, running, spreading, engines, json, show)


def print_asked(
    finished: Sequence[Finished], json: bool, likelihood: bool = False, slices: bool = False
) -> None:
    """Results with what was answered; forced choice beside the likelihoods, if asked for."""
    from stereometer import catalog
    from stereometer.findings.calibrate import calibrate
    from stereometer.runs.store import load_scores

    answered = [
        catalog.shape(each.result.kind).answered(each.result, load_scores(each.folder, each.result))
        for each in finished
    ]
    written = [answers for answers in answered if answers is not None]
    # Forced choice comes first, then the likelihoods of the same items.
    pairs = zip(finished[1::2], finished[::2], strict=False) if likelihood and not written else ()
    calibrations = [calibrate(likely.folder, choice.folder) for likely, choice in pairs]
    if json:
        results = [each.result.as_json() for each in finished]
        document: dict[str, Any] = {"schema": "chosen@1", "results": results}
        if written:
            said = [answers.document for answers in written]
            document |= {"schema": "asked@1", "said": said}
        else:
            document["calibration"] = [calibration.as_json() for calibration in calibrations]
        render.print_json(document)
    else:
        for each, answers in zip(finished, answered, strict=True):
            render.results([each.result], slices)
            if answers is not None:
                render.overview(answers.overview)
        for calibration in calibrations:
            print_calibration(calibration)
    for each in finished:
        say(f"Stored in {each.folder}")


def _check(prompting: Prompting) -> None:
    folder = prompting.templates
    if folder is not None and not folder.is_dir():
        raise UsageError(
            f"{folder} is not a folder. --templates takes a folder of text files. "
            "They have names such as `zero-shot.txt`."
        )
