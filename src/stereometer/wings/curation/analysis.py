"""All analyses of a data set, and of runs on it, as one value: what `stereometer analyze` shows."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import ModelError, UsageError
from stereometer.core.options import Benchmark as Name
from stereometer.core.options import Data, NegativeLabel, Resamples, Seed, verb
from stereometer.core.runs.open import open_benchmark, open_model
from stereometer.core.runs.stored import Run, runs_of
from stereometer.core.shapes.differences import Shift
from stereometer.core.shapes.sentences import SentenceItem, SentenceShape
from stereometer.core.show import numbers
from stereometer.core.show.view import Piece, View, aside, extremes, heading, line, records
from stereometer.core.stats.agreement import Alpha, alpha
from stereometer.core.stats.intervals import generator
from stereometer.core.types import Backend, Estimate, Result, Scorer, Settings
from stereometer.core.types.document import Document
from stereometer.core.types.groups import lists_by_key
from stereometer.core.types.shown import Shown
from stereometer.wings.curation import keywords, sentiment
from stereometer.wings.curation.restriction import restricted, shift_table, shifts
from stereometer.wings.curation.runs import RunsOnThese, curated_shapes, runs_on

ENDS = 3


@dataclass(frozen=True)
class RankedTerm(Document):
    """One row: a domain, or a term at one of its ends."""

    domain: str
    target: str
    """Empty in the row of the whole domain."""
    end: str
    """`domain`, `most` or `least`."""
    estimates: Mapping[str, Estimate]
    """By metric, those of a first table that the result has."""
    ranked_by: str
    """The metric that leads the result."""

    @property
    def leading(self) -> Estimate | None:
        return self.estimates.get(self.ranked_by)

    def as_json(self) -> dict[str, Any]:
        value = super().as_json()
        estimates: dict[str, Any] = value.pop("estimates")
        del value["ranked_by"]
        return value | estimates


def ranked_terms(result: Result, ends: int = ENDS) -> list[RankedTerm]:
    """Domains in their order, each with its `ends` highest and lowest terms; where there are fewer,
    one half each, the middle with the highest. Empty for shapes that do not count by term."""
    shape = catalog.shape(result.kind)
    if not shape.term_name:
        return []
    places: dict[tuple[str, str], dict[str, Estimate]] = {}
    for row in result.estimates:
        if set(row.slice) in ({shape.domains}, set(shape.term_by)):
            place = row.slice[shape.domains], row.slice.get(shape.term_name, "")
            places.setdefault(place, {})[row.name] = row
    headline = [metric.name for metric in shape.metrics_of(result) if metric.headline]
    by = shape.leading(result).name

    def term(domain: str, target: str, end: str) -> RankedTerm:
        here = places.get((domain, target), {})
        estimates = {name: here[name] for name in headline if name in here}
        return RankedTerm(domain, target, end, estimates, by)

    rows: list[RankedTerm] = []
    for domain in sorted({domain for domain, _ in places}):
        ranked = _ranked({of: here for (place, of), here in places.items() if place == domain}, by)
        upper = min(ends, -(-len(ranked) // 2))
        lowest = ranked[max(upper, len(ranked) - ends) :]
        rows.append(term(domain, "", "domain"))
        rows += [term(domain, target, "most") for target in ranked[:upper]]
        rows += [term(domain, target, "least") for target in lowest]
    return rows


def _ranked(terms: Mapping[str, Mapping[str, Estimate]], by: str) -> list[str]:
    """Terms with a value, the highest first."""
    values = {
        target: here[by].value
        for target, here in terms.items()
        if target and by in here and here[by].value is not None
    }
    return sorted(values, key=lambda target: (-(values[target] or 0.0), target))


Keywords = Callable[[Sequence[SentenceItem]], list[keywords.Keyword]]
LEVELS = (4, 5)
"""Validators that agree: the paper's footnote 2 takes four or more."""


@dataclass(frozen=True)
class Restricted:
    """A run on the items that so many validators agree on."""

    validators: int
    items: int
    estimates: Sequence[Any]
    shifts: Sequence[Shift]


@dataclass(frozen=True)
class RunAnalysis:
    model: str
    measure: str
    variant: str
    terms: Sequence[RankedTerm]
    restricted: Sequence[Restricted]


@dataclass(frozen=True)
class ShapeAnalysis:
    """The items of one shape."""

    shape: str
    items: int
    statistics: Sequence[Mapping[str, Any]]
    tones: Sequence[sentiment.Tone]
    contrasts: Sequence[sentiment.ToneContrast]
    keywords: Sequence[keywords.Keyword]
    term_agreement: Sequence[Mapping[str, Any]]
    alpha: Alpha
    levels: Mapping[str, int]
    runs: Sequence[RunAnalysis] = ()


@dataclass(frozen=True, repr=False)
class Analysis(Shown, Document):
    benchmark: str
    digest: str
    shapes: Sequence[ShapeAnalysis]
    sentiment: str
    """What judged the sentiment, or why nothing did."""
    notes: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    schema: str = "analysis@1"

    def view(self) -> View:
        parts = (piece for shape in self.shapes for piece in _shown(shape, self.sentiment))
        about = (f"content {self.digest[:12]}",)
        return View(self.benchmark, about=about, parts=tuple(parts), notes=tuple(self.notes))


@verb
def analyze(
    name: Name,
    *,
    data: Data = None,
    run: RunsOnThese = (),
    sentiment: Annotated[
        str, "What judges sentiment: `sentiment` (VADER) or `sentiment:MODEL`."
    ] = "sentiment",
    negative_label: NegativeLabel = None,
    top: Annotated[int, "Keywords to show for each domain."] = 16,
    lemmas: Annotated[bool, "Count keywords by base form, as StereoSet's Table 3 does."] = False,
    ends: Annotated[int, "Most and least stereotyped terms to show for each domain."] = ENDS,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
) -> Analysis:
    """Statistics, sentiment, keywords and agreement of a data set, and what stored runs say."""
    chosen = Settings(seed=seed, resamples=resamples)
    if top < 1 or ends < 1:
        raise UsageError(
            "The number of keywords or terms is below 1. At least one is shown. Choose a number "
            "from 1 up."
        )
    benchmark = open_benchmark(str(name), data)
    runs = runs_on(benchmark, runs_of(run))
    options = {"negative_label": negative_label}
    backend, judged = _judge(sentiment, options, benchmark.card.language)
    frequency, notes = _reference(benchmark, lemmas)
    count = partial(keywords.keywords, top=top, form=keywords.lemma if lemmas else str)
    words: Keywords = partial(count, frequency=frequency) if frequency else lambda items: []
    shapes = [
        _shape(benchmark, shape, runs, backend, words, ends, chosen)
        for shape in curated_shapes(benchmark)
    ]
    recorded = {name: getattr(chosen, name) for name in ("seed", "resamples", "level")}
    return Analysis(
        benchmark.name,
        benchmark.digest,
        shapes,
        judged,
        (*benchmark.notes, *notes),
        recorded | {"smoothing": keywords.SMOOTHING, "lemmas": lemmas},
    )


def _judge(model: str, options: Mapping[str, Any], language: str) -> tuple[Backend | None, str]:
    """The sentiment backend; the analysis stands without its package, or in another language."""
    if model == "sentiment" and keywords.other_than_english(language):
        return None, (
            f"not judged: VADER reads English, the items are {language}; name a classifier with "
            "--sentiment"
        )
    try:
        backend = open_model(model, options=options)
    except ModelError as error:
        if model != "sentiment":
            raise
        return None, f"not judged: {error}"
    if isinstance(backend, Scorer) or "whole-text" not in backend.abilities.kinds:
        raise UsageError(
            f"{model} does not judge sentiment. `sentiment` and `sentiment:MODEL` do. Name one of "
            "those."
        )
    toned_by = f", {backend.toned_by}" if isinstance(backend, sentiment.Toned) else ""
    return backend, f"{backend.card.name} ({backend.card.digest[:24]}){toned_by}"


def _reference(
    benchmark: Benchmark, lemmas: bool
) -> tuple[keywords.Frequency | None, tuple[str, ...]]:
    language = benchmark.card.language
    note = (
        "The card names no language with reference frequencies: keywords are compared with English."
    )
    try:
        frequency = (keywords.by_lemma if lemmas else keywords.reference)(language)
    except ModelError as error:
        return None, (str(error),)
    return frequency, () if language in keywords.LANGUAGES else (note,)


def _shape(
    benchmark: Benchmark,
    shape: SentenceShape,
    runs: Sequence[Run],
    backend: Backend | None,
    words: Keywords,
    ends: int,
    settings: Settings,
) -> ShapeAnalysis:
    items: Any = benchmark.items(shape.name)
    judged = [item for item in items if item.unscorable is None]
    signs = sentiment.signs(judged, shape, backend) if backend is not None and judged else None
    return ShapeAnalysis(
        shape.name,
        len(items),
        shape.statistics(items),
        sentiment.tones(judged, signs) if signs else [],
        sentiment.contrasts(judged, shape, signs, settings) if signs else [],
        words(items),
        shape.term_agreement(items),
        raw_alpha(items, settings),
        levels(items),
        [_run(run, items, ends, settings) for run in runs if run.result.kind == shape.name],
    )


def _run(run: Run, items: Sequence[SentenceItem], ends: int, settings: Settings) -> RunAnalysis:
    settings, result, shape = run.settings(settings), run.result, run.shape
    parts = [
        Restricted(
            least,
            len(keep),
            restricted(shape, run.scores, keep, settings),
            shifts(shape, run.scores, keep, settings),
        )
        for least in LEVELS
        if (keep := agreed(items, least))
    ]
    ranked = ranked_terms(result, ends)
    return RunAnalysis(result.model, result.measure, result.variant, ranked, parts)


def levels(items: Sequence[SentenceItem]) -> dict[str, int]:
    """Items by how many gave the item's own label; a CAT is as its least agreed candidate."""
    counts = Counter(
        "not validated" if item.own_votes is None else "{} of {}".format(*item.own_votes)
        for item in items
    )
    return dict(sorted(counts.items()))


def agreed(items: Sequence[SentenceItem], least: int) -> set[str]:
    """Ids of items whose own label (of a CAT: of every candidate) at least `least` people gave."""
    return {item.id for item in items if item.own_votes and item.own_votes[0] >= least}


def raw_alpha(items: Sequence[SentenceItem], settings: Settings) -> Alpha:
    """Over the candidates of CATs, or over pairs; items about one term are drawn together."""
    clusters: dict[Hashable, list[Any]] = {}
    for item in items:
        clusters.setdefault(item.term or item.id, []).extend(item.labels)
    rng = generator(settings.seed, {}, "alpha")
    return alpha(clusters, settings.resamples, settings.level, rng)


RANKED = (
    "A term has few items; the ends of a ranking are where chance collects. p: Holm over all terms."
)


def _shown(shape: ShapeAnalysis, judge: str) -> Iterator[Piece]:
    yield heading(f"{numbers.count(shape.items, 'item')} of shape {shape.shape}")
    yield from records(shape.statistics)
    yield from _tones(shape, judge)
    yield heading("keywords (times as frequent as in the language)")
    words = lists_by_key((each.group, f"{each.word} {each.score:.0f}") for each in shape.keywords)
    yield from (line(f"{group}: {', '.join(its)}") for group, its in words.items())
    yield from _validators(shape)
    for run in shape.runs:
        yield from _run_shown(run, shape.shape)


def _tones(shape: ShapeAnalysis, judge: str) -> Iterator[Piece]:
    yield heading(f"sentiment in percent, by {judge}")
    yield from records([dict(vars(tone)) for tone in shape.tones])
    yield from records(
        [
            {
                "negative, stereotype - other": row.group,
                "n": row.n,
                "difference": numbers.signed_interval(row.difference, row.low, row.high),
                "p": numbers.p_words(row.p_adjusted),
                "verdict": row.verdict,
                "test": row.test,
            }
            for row in shape.contrasts
        ]
    )


def _validators(shape: ShapeAnalysis) -> Iterator[Piece]:
    yield heading("validators")
    alpha = shape.alpha
    if alpha.value is None:
        yield line(f"Krippendorff's alpha: none; {alpha.why}.")
    else:
        span = "" if alpha.low is None else f" [{alpha.low:.3f}, {alpha.high:.3f}]"
        labels = f"{alpha.labels} labels of {alpha.units} units"
        yield line(f"Krippendorff's alpha (names): {alpha.value:.3f}{span}, {labels}")
    levels = ", ".join(f"{level}: {count}" for level, count in shape.levels.items())
    yield line(f"items by validators who gave the item's own label: {levels}")
    if shape.term_agreement:
        yield line("agreement by target term, lowest and highest (all of them: --json)")
        yield from records(extremes(shape.term_agreement))


def _run_shown(run: RunAnalysis, kind: str) -> Iterator[Piece]:
    variant = f"variant {run.variant}"
    if run.terms:
        title = f"most and least stereotyped terms · {run.model} · {run.measure} · {variant}"
        yield heading(title)
        yield from records([_term(term, kind) for term in run.terms])
        yield from aside(RANKED)
    for part in run.restricted:
        agreed = f"where at least {part.validators} validators agree ({part.items} items)"
        yield heading(f"{agreed} · {run.model} · {variant}")
        yield from shift_table(part.shifts, "agreed", kind)


def _term(term: RankedTerm, kind: str) -> dict[str, str]:
    shape, leading = catalog.shape(kind), term.leading
    values = {
        name: numbers.with_interval(estimate, shape.metric(name).digits)
        for name, estimate in term.estimates.items()
    }
    return {
        "": f"  {term.target}" if term.target else term.domain,
        "end": term.end if term.target else "",
        "n": str(leading.n) if leading else "",
        **values,
        f"what {term.ranked_by} says": numbers.says(leading) if leading else "",
    }
