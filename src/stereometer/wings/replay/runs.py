"""The verb `replay`: measure from scores, or read answers, that were made elsewhere."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import comb
from pathlib import Path
from typing import Annotated, Any

from stereometer.core import catalog, options
from stereometer.core.benchmarks.benchmark import Benchmark, Card, Source
from stereometer.core.errors import DataError, UsageError
from stereometer.core.files import UTF8
from stereometer.core.gate.early_stop import holding
from stereometer.core.runs.execute import execute
from stereometer.core.runs.job import Measurement, limited, limited_order, with_ties
from stereometer.core.runs.open import open_benchmark
from stereometer.core.runs.store import place_of
from stereometer.core.shapes.sentences import SentenceShape
from stereometer.core.tables import PLAIN, Layout
from stereometer.core.types import Job, Method, ModelCard, Score, Settings
from stereometer.core.types.document import digest_of_rows
from stereometer.core.types.names import MeasureName
from stereometer.core.types.results import Results
from stereometer.kinds.comments.benchmarks import own_card
from stereometer.kinds.comments.items import MISSPELLING, NEITHER, Comment, Setting, setting_of
from stereometer.kinds.comments.recognition.method import Recognition
from stereometer.kinds.pairs.items import Pair
from stereometer.wings.asking.ask import AnswersInWords
from stereometer.wings.asking.jobs import words_of
from stereometer.wings.replay import answers
from stereometer.wings.replay.answer_rows import AnsweredComments, AnswerRows
from stereometer.wings.replay.harnesses import read_harness
from stereometer.wings.replay.replay import Replayed, joined, missing, read_replay, scale_notes

MANY_DRAWS = 10_000
"""As many others must be possible before items are taken for the draw of a limit."""
PAIR, COMMENT, REPLAYED = Pair.shape, Comment.shape, "replayed"


class ReplayedScores(Results):
    """The one result of a file of scores."""

    def as_json(self) -> dict[str, Any]:
        return self[0].as_json()


@options.verb
def replay(
    file: Annotated[
        str | Path,
        "StereoSet predictions, the CSV of the CrowS-Pairs script, or JSONL of "
        "log-probabilities; with --setting, a table of answers.",
    ],
    *,
    benchmark: Annotated[str | Path, options.Option("The benchmark that was measured.", words=str)],
    data: options.Data = None,
    name: Annotated[str | None, "Name of the system; by default from the file's name."] = None,
    measure: Annotated[
        str | None, "The measure the scores are of, so that runs of it can be compared."
    ] = None,
    setting: Annotated[
        str | None, "Read the file as answers to this setting: zero-shot, one-shot ..."
    ] = None,
    harness: Annotated[
        str | None,
        options.Option("Whose per-item file it is: lm-eval, inspect or eee.", flags=("--format",)),
    ] = None,
    out: options.Out = None,
    column: options.Column = None,
    encoding: options.Encoding = UTF8,
    category: options.Category = (),
    neither: options.Neither = "neither",
    seed: options.Seed = 0,
    resamples: options.Resamples = 10_000,
    variant: options.VariantName = "sound",
    coverage: options.Coverage = 0.90,
    delta: options.Delta = 5.0,
    require: options.Require = (),
) -> Results:
    """Measure from scores, or read answers, that were made elsewhere."""
    bound, path = holding(require), Path(file)
    settings = Settings(variant, seed, resamples, coverage=coverage, delta=delta)
    layout = Layout(encoding, column or {})
    if setting:
        asked, words = setting_of(setting), words_of(category) or None
        job = answers_job(path, asked, settings, layout, str(benchmark), words, name, neither)
    else:
        job = replay_job(path, str(benchmark), data, settings, name, measure, harness, layout)
    bound.jobs([job])
    done = [execute(job, place_of(job, out)).result]
    return bound.hold(AnswersInWords(done) if setting else ReplayedScores(done))


def replay_job(
    file: Path,
    benchmark: str,
    data: str | Path | None,
    settings: Settings,
    system: str | None = None,
    measure: str | None = None,
    harness: str | None = None,
    layout: Layout = PLAIN,
) -> Job:
    """Scores by candidate, joined to the items they are of."""
    source = catalog.find("benchmark", benchmark) if catalog.has("benchmark", benchmark) else None
    if source is not None and COMMENT in source.measures:
        raise UsageError(
            f"{benchmark} holds comments. Answers about them are read by the setting they were "
            "asked in. Add --setting, such as zero-shot."
        )
    if harness and layout != PLAIN:
        raise UsageError(
            f"{file} is read as {harness} writes it. Leave out --column and --encoding."
        )
    scores = read_harness(file, harness, system) if harness else read_replay(file, system, layout)
    if scores.pairs and data is None and source is not None:
        loaded, shape = _pairs_in(file, scores, source), PAIR
    else:
        loaded = open_benchmark(benchmark, data)
        shape = _shape_of(scores, loaded)
    scores, notes = joined(scores, whole := loaded.items(shape))
    limit = _limit_of(scores, whole, settings.coverage)
    items = limited(whole, limit)
    notes = (*scale_notes(scores, settings.variant), *notes, *missing(scores, items))
    name = _measure_name(measure, shape) if measure else f"{shape}-{scores.method}"
    method = catalog.find("method", measure) if measure else None
    settings = with_ties(settings, REPLAYED, method)
    about = (loaded, items, name, scores.card, REPLAYED, settings, limit, notes)
    measurement = Measurement(*about, of=len(whole))
    return measurement.job(catalog.shape(shape), lambda: scores.scores(items, settings.variant))


def _limit_of(scores: Replayed, items: Sequence[Any], coverage: float) -> int | None:
    """The limit of the run that a file is of: a limit draws items by a digest of their ids, so that
    what it drew can be recognised. None where the file is of the whole set, or of other items."""
    order: list[Any] = list(limited_order(items))
    scored = [
        any(id_ in scores.by_id for ids in item.candidate_ids.values() for id_ in ids)
        for item in order
    ]
    drawn = max((at for at, known in enumerate(scored, 1) if known), default=0)
    tasks = {item.slices.get("task") for item, known in zip(order, scored, strict=True) if known}
    asked = sum(item.slices.get("task") in tasks for item in order[:drawn])
    is_draw = drawn <= coverage * len(items) and sum(scored) >= coverage * asked > 0
    return drawn if is_draw and comb(len(items), drawn) > MANY_DRAWS else None


def _pairs_in(file: Path, scores: Replayed, source: Source) -> Benchmark:
    """The pairs that a file of scores carries itself."""
    if PAIR not in source.measures:
        raise UsageError(
            f"{file} holds scores of pairs, but {source.name} is not a set of pairs. The scores "
            "belong to another benchmark. Give its name with --benchmark, or its items with --data."
        )
    pairs = Benchmark(source.card, {PAIR: scores.pairs}, file.name, measures=source.measures)
    if not pairs.as_released:
        title = f"{source.card.title}, only the pairs in {file.name}"
        pairs = replace(pairs, card=replace(source.card, title=title))
    return pairs.described("The pairs are those in the file.")


def _measure_name(measure: str, shape: str) -> str:
    """The measure that a user says made the scores: a known one, of their shape."""
    method: Method = catalog.find("method", measure)
    if method.reads != shape:
        raise UsageError(
            f"{measure} scores items of shape {method.reads}, the file has scores of shape {shape}."
            " They cannot be of that measure. Leave out --measure."
        )
    return str(MeasureName(method.name, method.version))


def _shape_of(scores: Replayed, loaded: Benchmark) -> str:
    """Of a benchmark that has several, the shape whose candidates the ids name."""
    if scores.pairs:
        return PAIR

    def named(shape: str) -> int:
        ends = tuple(f":{name}" for name in catalog.shape(shape).candidates)
        return sum(id_.endswith(ends) for id_ in scores.by_id)

    scored = [shape for shape in loaded.shapes if isinstance(catalog.shape(shape), SentenceShape)]
    return max(scored, key=named, default=PAIR)


# ------------------------------------------------------------------------------------------ answers


def answers_job(
    path: Path,
    setting: Setting,
    settings: Settings,
    layout: Layout,
    benchmark: str,
    words: Mapping[str, str] | None = None,
    name: str | None = None,
    neither: str = NEITHER,
) -> Job:
    """Answers collected elsewhere, read and scored again. The gold labels are the file's own;
    `neither` is its word for none of them."""
    card, known, nouns = _about(benchmark)
    rows = AnswerRows(answers.read_answers(path, setting, layout))
    if not len(rows):
        raise DataError(
            f"{path} has no rows: no answer was found in it. Check that it is the right file."
        )
    measure = Recognition(setting, settings.variant)
    named = () if setting.mixed else tuple(row["category"] for row in rows.distinct("category"))
    words = words or known or answers.labels_in(rows.distinct("label"), setting, neither)
    golds = answers.Golds(path, words, named, neither, nouns)
    read = _read_misspelt if setting is MISSPELLING else _read_sorted
    comments, source, counts, questions = read(rows, measure, golds)
    notes = (
        "Comments and labels are those in the file; they were not compared with the released ones.",
        *answers.uneven(counts, questions),
        *measure.notes,
    )
    system, how = name or path.name.split(".")[0], {"file": path.name}
    measurement = Measurement(
        Benchmark(card, {COMMENT: comments}, path.name),
        comments,
        measure.name,
        ModelCard(system, REPLAYED, "replay@1", digest_of_rows(rows), settings=how),
        REPLAYED,
        settings,
        notes=notes,
        recorded={"setting": setting.name, "repeats": 1 + max(counts, default=-1)},
        claimed=True,
    )
    return measurement.job(catalog.shape(COMMENT), source, measure.summarize)


Read = tuple[Sequence[Comment], Callable[[], Iterable[Score]], Mapping[int, int], int]
"""Comments, scores, how many answers each repeat has, and how many questions there are."""


def _read_sorted(rows: AnswerRows, measure: Recognition, golds: answers.Golds) -> Read:
    """Nothing is held of the rows; they are read when they are scored."""
    answers.sort_rows(rows, measure, golds)
    counts: Counter[int] = Counter()
    questions = 0
    for _, turns in answers.asked_in(rows, golds):
        counts.update(at for at, _ in turns)
        questions += 1
    scores = partial(answers.scored_rows, rows, measure, golds)
    return AnsweredComments(rows), scores, counts, questions


def _read_misspelt(rows: AnswerRows, measure: Recognition, golds: answers.Golds) -> Read:
    """Comments with their edits are few."""
    scores = list(answers.misspelt_rows(rows, measure, golds))
    texts = {score.slices["comment"]: score.texts["comment"] for score in scores}
    comments = [Comment(id_, text, {}, row) for row, (id_, text) in enumerate(texts.items(), 1)]
    return comments, lambda: scores, {0: len(scores)} if scores else {}, len(scores)


def _about(benchmark: str) -> tuple[Card, Mapping[str, str], Mapping[str, str]]:
    """The card of a benchmark of comments, the words of its categories and their other names; a
    file about comments of one's own names them itself."""
    source: Source = catalog.find("benchmark", benchmark)
    if source.name != "custom" and COMMENT not in source.measures:
        raise UsageError(
            f"{benchmark} is measured by likelihood. A setting is for answers about comments. "
            "Name ethos, or custom for comments of your own."
        )
    words = source.defaults.get("categories", {})
    card = own_card() if source.name == "custom" else source.card
    return card, words, source.nouns
