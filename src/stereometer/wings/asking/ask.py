"""The verb `ask`: put questions to a model in words."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Unpack

from stereometer.core import catalog, results_view
from stereometer.core.files import UTF8, read_text
from stereometer.core.options import (
    QUESTIONS,
    Cache,
    Category,
    Column,
    Coverage,
    Data,
    Encoding,
    Limit,
    Model,
    ModelOptions,
    Neither,
    Option,
    Out,
    Resamples,
    Seed,
    VariantName,
    check_known,
    verb,
)
from stereometer.core.runs.carry import carry_out
from stereometer.core.runs.engines import engines_of
from stereometer.core.runs.execute import LOG, Announce
from stereometer.core.runs.measure import backend_of
from stereometer.core.runs.models import named, opened_in_turn
from stereometer.core.runs.progress import Watch
from stereometer.core.runs.stored import Run
from stereometer.core.shapes.view import Answered
from stereometer.core.show.view import View
from stereometer.core.types import Result, Settings
from stereometer.core.types.method import check_limit
from stereometer.core.types.results import Results
from stereometer.kinds.comments.benchmarks import columns_from
from stereometer.kinds.comments.items import STUDY, setting_of
from stereometer.kinds.comments.recognition.prompts import check_folder
from stereometer.wings.asking.jobs import jobs_in_words, open_comments, words_of
from stereometer.wings.relations.calibrate import Calibration, calibrate


def _manner(about: str, default: Any = None, **more: Any) -> Option:
    return Option(about, QUESTIONS, default=default, **more)


class AskOptions(ModelOptions, total=False):
    """How questions are put; what is left out is the method's or the benchmark's own."""

    repeats: Annotated[int, _manner("How often each question is asked.", 10)]
    temperature: Annotated[
        float, _manner("Sampling temperature; 0 always takes the likeliest word.", 0.3)
    ]
    sample: Annotated[
        str | None,
        _manner(
            "`paper` (the first comments) or `sound` (drawn at random); by default that of the "
            "variant."
        ),
    ]
    size: Annotated[
        int,
        _manner(
            "Comments of each kind in the single settings; twice as many in the mixed ones.", 30
        ),
    ]
    threshold: Annotated[
        float, _manner("Share of annotators who must agree on a comment's category.", 0.5)
    ]
    templates: Annotated[
        str | Path | None, _manner("A folder with prompts of your own, named like ours.")
    ]
    edits: Annotated[
        str | Path | None, _manner("A table of original and edit, for the misspelling setting.")
    ]
    chat: Annotated[
        bool | None,
        _manner(
            "Ask as a conversation, through the model's chat template, or as raw text; by default "
            "a conversation where the model has a template, except for --variant paper and "
            "--likelihood."
        ),
    ]
    system: Annotated[
        str,
        _manner(
            "The system prompt of a conversation: on the command line a file that holds it.",
            words=Path,
            read=lambda path: read_text(path).strip(),
        ),
    ]
    wording: Annotated[
        str, _manner("How questions are worded, by number; 1 is the usual one.", "1")
    ]
    neutral: Annotated[bool, _manner("Offer a third option that prefers neither candidate.", False)]
    graded: Annotated[
        bool,
        _manner(
            "Read the probabilities of the options and not what is written, if the model gives "
            "them.",
            False,
        ),
    ]
    isolated: Annotated[bool, _manner("Let each candidate be rated by itself, from 1 to 7.", False)]
    likelihood: Annotated[
        bool,
        _manner("Also measure the probability of the label words, if the model gives it.", False),
    ]
    scales: Annotated[
        int, _manner("Scales of a survey that are asked together; 0 for a whole page.", 0)
    ]


METHODS_OWN = tuple(AskOptions.__annotations__.keys() - ModelOptions.__annotations__.keys())
PATHS = ("templates", "edits")


class AnswersInWords(Results):
    """Results with what was answered, and forced choice beside the likelihoods of the same items,
    where those were asked for."""

    def __init__(self, results: Iterable[Result], likelihood: bool = False) -> None:
        super().__init__(results)
        self.likelihood = likelihood

    @cached_property
    def answered(self) -> list[Answered | None]:
        return [
            catalog.shape(result.kind).answered(result, Run(result, result.folder).read())
            for result in self
            if result.folder is not None
        ]

    @cached_property
    def calibrations(self) -> list[Calibration]:
        """Forced choice comes first, then the likelihoods of the same items."""
        if not self.likelihood or any(self.answered):
            return []
        folders = [result.folder for result in self if result.folder is not None]
        pairs = zip(folders[1::2], folders[::2], strict=False)
        return [calibrate(likely, choice) for likely, choice in pairs]

    def view(self, slices: bool = False) -> View:
        parts: list[View] = []
        for result, said in zip(self, self.answered, strict=True):
            parts += [results_view.results([result], slices), *([said.view] if said else [])]
        return View(parts=(*parts, *(each.view() for each in self.calibrations)))

    def as_json(self) -> dict[str, Any]:
        results = [result.as_json() for result in self]
        said = [answers.document for answers in self.answered if answers is not None]
        if said:
            return {"schema": "asked@1", "results": results, "said": said}
        calibration = [each.as_json() for each in self.calibrations]
        return {"schema": "chosen@1", "results": results, "calibration": calibration}


@verb
def ask(
    benchmark: Annotated[
        str | Path,
        Option(
            "ethos, a table of your own comments, a set for forced choice (starter, stereoset, "
            "crows-pairs), survey, or the folder of a survey.",
            words=str,
        ),
    ],
    *,
    model: Annotated[
        Model | list[Model],
        Option(
            "A causal model, or server:URL#model; may be repeated.",
            words=list[str],
            flags=("--model", "-m"),
        ),
    ],
    setting: Annotated[
        str | Sequence[str],
        "zero-shot, one-shot, few-shot-single, few-shot-mixed, few-shot-mixed-instruction, "
        "misspelling; by default the first five.",
    ] = (),
    data: Data = None,
    limit: Limit = None,
    out: Out = None,
    cache: Cache = True,
    column: Column = None,
    encoding: Encoding = UTF8,
    category: Category = (),
    neither: Neither = "neither",
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    variant: VariantName = "sound",
    coverage: Coverage = 0.90,
    progress: Watch | bool = True,
    announce: Announce = LOG.warning,
    **options: Unpack[AskOptions],
) -> Results:
    """Ask a model in words: recognise hate speech, choose between candidates, rate groups."""
    check_known(options, ask)
    settings = Settings(variant, seed, resamples, coverage=coverage)
    check_limit(limit)
    names = [setting] if isinstance(setting, str) else list(setting) or list(STUDY)
    for each in names:
        setting_of(each)
    words = words_of(category)
    own = columns_from(column or {}, list(words), neither, encoding)
    comments = open_comments(str(benchmark), Path(data) if data else None, own)
    given = {name: value for name, value in options.items() if name in METHODS_OWN}
    paths = {name: Path(str(given[name])) for name in PATHS if given.get(name)}
    if "templates" in paths:
        check_folder(paths["templates"])
    loading = {name: value for name, value in options.items() if name not in METHODS_OWN}
    models = named(model)
    how = {**given, **paths, "categories": words}
    with engines_of(options) as engines:
        jobs = (
            job
            for answering, _, called in opened_in_turn(models, seed, loading, engines)
            # A mistake in a model's last job is reported before its first is paid for.
            for job in list(
                jobs_in_words(comments, names, backend_of(answering), settings, how, limit, called)
            )
        )
        results = carry_out(jobs, engines, options, out, cache, progress, announce)
    return AnswersInWords(results, options.get("likelihood", False)) if results else results
