"""Is a stronger language model a more stereotyped one? (Nadeem et al. 2021, section 7)"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import factorial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from stereometer.core import catalog
from stereometer.core.addendum import Addendum
from stereometer.core.errors import UsageError
from stereometer.core.options import Option, Resamples, Seed, verb
from stereometer.core.runs import store
from stereometer.core.runs.stored import Stored, check_counted, runs_alike
from stereometer.core.show import numbers
from stereometer.core.show.figure import Figure
from stereometer.core.show.view import Piece, View, aside, line, records
from stereometer.core.stats.intervals import Floats, generator, percentile, resampled_clusters
from stereometer.core.stats.ranks import permutation_p, resampled_points, spearman
from stereometer.core.stats.tests import Said, corrected
from stereometer.core.types import Result, Settings
from stereometer.core.types.document import UNSTORED, Document
from stereometer.core.types.shown import Shown
from stereometer.report import write_report
from stereometer.report.system_facts import SIZES, Facts, read_facts, shipped_facts
from stereometer.report.systems import Group

FEWEST = 3
"""Systems without which there is nothing to correlate."""
FEW = 8
"""Fewer systems than this cannot be drawn again in enough ways for an interval that covers."""
RELATED = ("lms", "ss")
ALIKE = "no interval: systems of one family are not independent"
PERFECT = "none: the order is perfect in every draw, which is not certainty"
LEGEND = (
    "rho: Spearman, 95 % percentile intervals; p: permutation test, Holm over the correlations "
    "with size. Systems of one family, where the table of facts names it, are tested as one, by "
    "their means. A correlation is no cause."
)


@dataclass(frozen=True)
class SystemPoint:
    """One system."""

    system: str
    lms: float
    ss: float
    parameters: float | None = None
    corpus_gb: float | None = None
    source: str = ""
    """Where the sizes are from."""
    family: str = ""
    """Systems of one are not independent; its own name where none is known."""


@dataclass(frozen=True)
class Correlation:
    """Spearman's rho of two things across systems."""

    first: str
    second: str
    rho: float | None
    n: int
    families: int | None = None
    """What the test exchanges: means of systems that belong together."""
    low: float | None = None
    high: float | None = None
    interval: str = ""
    low_terms: float | None = None
    high_terms: float | None = None
    """The interval from target terms drawn again with the systems held fixed: what another set of
    terms might say of these systems."""
    terms: int | None = None
    p: float | None = None
    p_adjusted: float | None = None
    tests: int | None = None
    verdict: str | None = None
    beyond_noise: bool | None = None
    why: str | None = None

    @property
    def sentence(self) -> str:
        pair = f"{self.first} with {self.second}"
        if self.rho is None:
            return f"{pair}: none, {self.why}."
        span, terms = self.interval, ""
        if self.low is not None:
            span = f"[{self.low:.2f}, {self.high:.2f}] over systems"
        if self.terms:
            ends = f"[{self.low_terms:.2f}, {self.high_terms:.2f}]"
            terms = f", {ends} over {self.terms} target terms, these systems held fixed"
        p = numbers.p_words(self.p_adjusted)
        verdict = f"{self.verdict} ({p})" if p else self.verdict
        return f"{pair}: rho {self.rho:.2f}, n {self.n}, {span}{terms}; {verdict}."


@dataclass(frozen=True, repr=False)
class Relation(Shown, Document):
    benchmark: str
    measure: str
    variant: str
    points: tuple[SystemPoint, ...]
    correlations: tuple[Correlation, ...]
    left_out: tuple[str, ...]
    settings: Mapping[str, Any]
    notes: tuple[str, ...]
    schema: str = "relate@1"
    report: Path | None = field(default=None, compare=False, metadata=UNSTORED)

    def view(self) -> View:
        rows = []
        for point in self.points:
            sizes = {"parameters": _size(point.parameters), "corpus, GB": _size(point.corpus_gb)}
            rows.append({"system": point.system, "lms": point.lms, "ss": point.ss, **sizes})
        parts: tuple[Piece, ...] = (
            *records(rows),
            *(line(f"{label} is left out: it has no lms or no ss.") for label in self.left_out),
            *(line(each.sentence) for each in self.correlations),
            *aside(LEGEND),
        )
        about = (self.measure, f"variant {self.variant}", f"{len(self.points)} systems")
        return View(self.benchmark, about=about, parts=parts, notes=self.notes)

    @property
    def remarks(self) -> list[str]:
        page = f"Written to {self.report}. Open it in any browser; it needs no network."
        return [page] if self.report else []


def _size(value: float | None) -> str:
    return "" if value is None else f"{value / 1e6:,.0f} M" if value >= 1e6 else f"{value:g}"


@verb
def relate(
    *runs: Annotated[Stored, "Folders of runs on the same items, measured alike."],
    facts: Annotated[
        str | Path | None,
        "A table with system, parameters, corpus_gb and family, for models whose card lacks them.",
    ] = None,
    output: Annotated[
        str | Path | None,
        Option("Also write the report with the figures here.", flags=("--output", "-o")),
    ] = None,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
) -> Relation:
    """Correlate language modelling, stereotyping and size across systems; an ensemble beside its
    members is left out."""
    if len(runs) < FEWEST:
        raise UsageError(
            f"relate needs at least {FEWEST} runs. Fewer say nothing. Name more folders."
        )
    alike = runs_alike(runs)
    check_counted(alike)
    results = [run.result for run in alike]
    first = results[0]
    if not set(RELATED) <= {metric.name for metric in catalog.shape(first.kind).metrics}:
        raise UsageError(
            f"{first.measure} has no lms and ss. CATs have them. Name runs on stereoset."
        )
    own = read_facts(Path(facts)) if facts is not None else {}
    settings = Settings(seed=seed, resamples=resamples)
    relation = related(results, store.labels(results), {**shipped_facts(), **own}, settings)
    if len(relation.points) < FEWEST:
        raise UsageError(
            f"Only {len(relation.points)} of the runs have both lms and ss. "
            f"A correlation needs {FEWEST}. See why in their results."
        )
    models = sorted({result.model for result in results})
    unused = (
        f"The table of facts names {name}, which is none of the systems: {', '.join(models)}. Its "
        "sizes are not used."
        for name in own
        if name not in models
    )
    report = write_report(list(runs), output, facts) if output is not None else None
    return replace(relation, notes=(*relation.notes, *unused), report=report)


def related(
    results: Sequence[Result], labels: Sequence[str], known: Mapping[str, Facts], settings: Settings
) -> Relation:
    beside = _beside_members(results, labels)
    first, points, counted = results[0], [], []
    for label, result in zip(labels, results, strict=True):
        values = _overall(result)
        if label not in beside and values.keys() == set(RELATED):
            points.append(_point(label, result, values, known))
            counted.append(result)
    terms = _terms(counted)
    known_of = {*beside, *(point.system for point in points)}
    return Relation(
        *(first.benchmark, first.measure, first.variant),
        tuple(points),
        tuple(_correlations(points, terms, settings)) if len(points) >= FEWEST else (),
        tuple(label for label in labels if label not in known_of),
        {"seed": settings.seed, "resamples": settings.resamples, "level": settings.level},
        (*filter(None, [first.data.get("notice")]), *beside.values()),
    )


def _beside_members(results: Sequence[Result], labels: Sequence[str]) -> dict[str, str]:
    """Ensembles that stand beside a system that they are made of, each with a note."""
    systems = {*labels, *(result.model for result in results)}
    members = {
        label: systems & set(result.model_card.get("settings", {}).get("members", ()))
        for label, result in zip(labels, results, strict=True)
    }
    return {
        label: f"{label} is left out: it is made of {', '.join(sorted(shared))}, and would count "
        "them twice."
        for label, shared in members.items()
        if shared
    }


def _overall(result: Result) -> dict[str, float]:
    """The overall values of lms and ss, those that there are."""
    return {
        row.name: row.value
        for row in result.estimates
        if row.name in RELATED and not row.slice and row.value is not None
    }


def _point(
    label: str, result: Result, values: Mapping[str, float], known: Mapping[str, Facts]
) -> SystemPoint:
    """Sizes from the model's card, else from what is known of a system of that name."""
    card, fact = result.model_card.get("settings", {}), known.get(result.model, Facts())
    sizes = {name: card.get(name) or getattr(fact, name) for name in SIZES}
    source = "the model's card" if any(card.get(name) for name in SIZES) else fact.source
    family = fact.family or label
    return SystemPoint(
        label, float(values["lms"]), float(values["ss"]), source=source, family=family, **sizes
    )


def _terms(results: Sequence[Result]) -> tuple[Floats, Floats] | None:
    """lms and ss of the target terms that every system has, terms x systems."""
    tables = list(map(_by_term, results))
    shared = sorted(set.intersection(*map(set, tables))) if tables else []
    if len(shared) < 2:
        return None
    both = np.array([[table[term] for table in tables] for term in shared])
    return both[:, :, 0], both[:, :, 1]


def _by_term(result: Result) -> dict[tuple[str, ...], tuple[float, float]]:
    shape = catalog.shape(result.kind)
    values: dict[str, dict[tuple[str, ...], float]] = {name: {} for name in RELATED}
    for row in result.estimates:
        if row.name in RELATED and row.value is not None and not shape.headline_slice(row.slice):
            values[row.name][tuple(row.slice.values())] = row.value
    lms, ss = (values[name] for name in RELATED)
    return {term: (lms[term], ss[term]) for term in lms if term in ss}


# ------------------------------------------------------------------------------------- correlations


def _correlations(
    points: Sequence[SystemPoint], terms: tuple[Floats, Floats] | None, settings: Settings
) -> Iterator[Correlation]:
    """lms with ss, a test of its own; then sizes with both, corrected together."""
    pairs = [RELATED, *((size, name) for size in SIZES for name in RELATED)]

    def says(row: Correlation, p: float) -> Said:
        if p >= 1 - settings.level:
            return _too_few(row, p) or "not distinguishable from no relation", False
        return f"{row.second} {'rises' if (row.rho or 0) > 0 else 'falls'} with {row.first}", True

    rows = [_correlation(points, *pair, settings) for pair in pairs]
    main, *sizes = corrected(rows, says, lambda row: row.first in SIZES)
    yield from (_over_terms(main, terms, settings), *sizes)


def _correlation(
    points: Sequence[SystemPoint], first: str, second: str, settings: Settings
) -> Correlation:
    both = [
        (a, b, point.family)
        for point in points
        if (a := getattr(point, first)) is not None and (b := getattr(point, second)) is not None
    ]
    empty = Correlation(first, second, None, len(both))
    if len(both) < FEWEST:
        return replace(empty, why=f"known of {len(both)} systems, {FEWEST} are needed")
    x, y = np.array([each[:2] for each in both], dtype=np.float64).T
    families = [family for _, _, family in both]
    rho = float(spearman(x, y))
    if np.isnan(rho):
        return replace(empty, why="one of the two is the same for all systems")
    rng = generator(settings.seed, {"first": first, "second": second}, "relate")
    known = replace(empty, rho=rho, families=len(set(families)))
    if len(set(families)) < FEWEST:
        return replace(known, interval=ALIKE, verdict=f"not tested: fewer than {FEWEST} families")
    p = permutation_p(*family_means(x, y, families), settings.resamples, rng)
    tested = replace(known, p=p)
    if len(set(families)) < len(both):
        return replace(tested, interval=ALIKE)
    if len(both) < FEW:
        return replace(tested, interval=f"none: fewer than {FEW} systems")
    low, high = percentile(resampled_points(x, y, settings.resamples, rng), settings.level)
    if low == high:
        return replace(tested, interval=PERFECT)
    return replace(tested, low=low, high=high, interval="percentile bootstrap over systems")


def family_means(x: Floats, y: Floats, families: Sequence[str]) -> tuple[Floats, Floats]:
    """One point per family: its systems share data and design, and are no several witnesses."""
    _, at, counts = np.unique(families, return_inverse=True, return_counts=True)
    return np.bincount(at, x) / counts, np.bincount(at, y) / counts


def _over_terms(
    row: Correlation, terms: tuple[Floats, Floats] | None, settings: Settings
) -> Correlation:
    if terms is None or row.rho is None:
        return row
    lms, ss = terms
    rng = generator(settings.seed, {}, "relate terms")
    weights = resampled_clusters(len(lms), settings.resamples, rng)
    draws = spearman(weights @ lms, weights @ ss)
    low, high = percentile(draws[~np.isnan(draws)], settings.level)
    return replace(row, low_terms=low, high_terms=high, terms=len(lms))


def _too_few(row: Correlation, adjusted: float) -> str | None:
    """What is said where the order is perfect, and there are too few orders for a smaller p."""
    count = row.families or row.n
    if row.p is None or row.p > 2 / factorial(count) * (1 + 1e-9):
        return None
    noun = "systems" if count == row.n else "families of systems"
    return f"undecided: with {count} {noun} p cannot fall below {adjusted:.2g}"


class Relations(Addendum):
    about = "Whether language modelling, preference and size go together across systems."

    def figures_across(self, group: Group) -> Iterator[Figure]:
        from stereometer.wings.relations.figure import relation

        if set(RELATED) <= {metric.name for metric in group.shape.metrics}:
            yield relation(group)


ADDENDUM = Relations()
