"""Is a stronger language model a more stereotyped one? lms and ss across systems (Nadeem et al. 2021, section 7)."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from stereometer.errors import UsageError
from stereometer.files import finite, read_table
from stereometer.runs import store as runs
from stereometer.stats.intervals import Floats, generator, percentile, resampled_clusters
from stereometer.stats.ranks import permutation_p, resampled_points, spearman
from stereometer.stats.tests import holm
from stereometer.types import Result, Settings

FEWEST = 3
"""Systems without which there is nothing to correlate."""
FEW = 5
"""Fewer systems than this cannot be drawn again in enough ways for an interval."""
SIZES = ("parameters", "corpus_gb")


@dataclass(frozen=True)
class Point:
    """One system."""

    system: str
    lms: float
    ss: float
    parameters: float | None = None
    corpus_gb: float | None = None
    source: str = ""
    """Where the sizes are from."""


@dataclass(frozen=True)
class Correlation:
    """Spearman's rho of two things across systems."""

    first: str
    second: str
    rho: float | None
    n: int
    low: float | None = None
    high: float | None = None
    interval: str = ""
    low_terms: float | None = None
    high_terms: float | None = None
    """The same from target terms drawn again with the systems held fixed: what another set of terms might say of these systems."""
    terms: int | None = None
    p: float | None = None
    p_adjusted: float | None = None
    tests: int | None = None
    verdict: str | None = None
    why: str | None = None


@dataclass(frozen=True)
class Relation:
    benchmark: str
    measure: str
    variant: str
    points: tuple[Point, ...]
    correlations: tuple[Correlation, ...]
    left_out: tuple[str, ...]
    settings: Mapping[str, Any]
    notes: tuple[str, ...]
    schema: str = "relate@1"

    def as_json(self) -> dict[str, Any]:
        return {"schema": self.schema} | asdict(self)


def relate(
    *paths: str | Path, facts: str | Path | None = None, settings: Settings | None = None
) -> Relation:
    """The correlation of lms and ss over stored runs, and of both with the sizes that are known."""
    if len(paths) < FEWEST:
        raise UsageError(
            f"relate needs at least {FEWEST} runs. A correlation over fewer says nothing. Name more folders."
        )
    results = runs.load_alike(runs.folders_of(paths))
    if not any(one.name == "ss" for one in results[0].estimates):
        raise UsageError(
            f"{results[0].measure} has no lms and ss. They are of context association tests. Name runs of those."
        )
    own = read_facts(Path(facts)) if facts is not None else {}
    found = related(
        results, runs.labels(results), dict(shipped_facts()) | own, settings or Settings()
    )
    if len(found.points) < FEWEST:
        raise UsageError(
            f"Only {len(found.points)} of the runs have both lms and ss. A correlation needs {FEWEST}. See why in their results."
        )
    return replace(found, notes=(*found.notes, *_unused(own, results)))


def _unused(own: Mapping[str, Facts], results: Sequence[Result]) -> Iterator[str]:
    models = sorted({result.model for result in results})
    for name in own:
        if name not in models:
            yield f"The table of facts names {name}, which is none of the systems: {', '.join(models)}. Its sizes are not used."


def related(
    results: Sequence[Result], labels: Sequence[str], known: Mapping[str, Facts], settings: Settings
) -> Relation:
    pairs = [
        (label, result)
        for label, result in zip(labels, results, strict=True)
        if _overall(result, "lms") is not None
    ]
    pairs = [(label, result) for label, result in pairs if _overall(result, "ss") is not None]
    points = [_point(label, result, known) for label, result in pairs]
    terms = _terms([result for _, result in pairs])
    first = results[0]
    return Relation(
        first.benchmark,
        first.measure,
        first.variant,
        tuple(points),
        tuple(_correlations(points, terms, settings)) if len(points) >= FEWEST else (),
        tuple(label for label in labels if label not in {point.system for point in points}),
        {"seed": settings.seed, "resamples": settings.resamples, "level": settings.level},
        tuple(filter(None, [first.data.get("notice")])),
    )


def _overall(result: Result, name: str) -> float | None:
    try:
        return result.estimate(name).value
    except KeyError:
        return None


def _point(label: str, result: Result, known: Mapping[str, Facts]) -> Point:
    """Sizes from the model's card, else from what is known of a system of that name."""
    card, fact = result.model_card.get("settings", {}), known.get(result.model, Facts())
    sizes = {name: card.get(name) or getattr(fact, name) for name in SIZES}
    source = "the model's card" if any(card.get(name) for name in SIZES) else fact.source
    return Point(
        label,
        float(_overall(result, "lms") or 0.0),
        float(_overall(result, "ss") or 0.0),
        source=source,
        **sizes,
    )


def _terms(results: Sequence[Result]) -> tuple[Floats, Floats] | None:
    """lms and ss of the target terms that every system has, terms x systems."""
    tables = [_by_term(result) for result in results]
    shared = sorted(set.intersection(*(set(table) for table in tables))) if tables else []
    if len(shared) < 2:
        return None
    both = np.array([[table[term] for table in tables] for term in shared])
    return both[:, :, 0], both[:, :, 1]


def _by_term(result: Result) -> dict[tuple[str, str], tuple[float, float]]:
    values: dict[str, dict[tuple[str, str], float]] = {"lms": {}, "ss": {}}
    for one in result.estimates:
        if "target" in one.slice and one.name in values and one.value is not None:
            values[one.name][one.slice["domain"], one.slice["target"]] = one.value
    return {
        term: (values["lms"][term], values["ss"][term])
        for term in values["lms"]
        if term in values["ss"]
    }


# -------------------------------------------------------------------------------------- correlations


def _correlations(
    points: Sequence[Point], terms: tuple[Floats, Floats] | None, settings: Settings
) -> Iterator[Correlation]:
    """lms with ss, a test of its own; then sizes with both, corrected together."""
    (main,) = _judged([_correlation(points, "lms", "ss", settings)], settings.level)
    yield _over_terms(main, terms, settings)
    yield from _judged(
        [_correlation(points, size, name, settings) for size in SIZES for name in ("lms", "ss")],
        settings.level,
    )


def _correlation(
    points: Sequence[Point], first: str, second: str, settings: Settings
) -> Correlation:
    both = [
        (a, b)
        for point in points
        if (a := getattr(point, first)) is not None and (b := getattr(point, second)) is not None
    ]
    if len(both) < FEWEST:
        return Correlation(
            first, second, None, len(both), why=f"known of {len(both)} systems, {FEWEST} are needed"
        )
    x, y = np.array(both, dtype=np.float64).T
    rho = float(spearman(x, y))
    if np.isnan(rho):
        return Correlation(
            first, second, None, len(both), why="one of the two is the same for all systems"
        )
    rng = generator(settings.seed, {"first": first, "second": second}, "relate")
    p = permutation_p(x, y, settings.resamples, rng)
    if len(both) < FEW:
        return Correlation(
            first, second, rho, len(both), interval=f"none: fewer than {FEW} systems", p=p
        )
    low, high = percentile(resampled_points(x, y, settings.resamples, rng), settings.level)
    if low == high:
        return Correlation(
            first,
            second,
            rho,
            len(both),
            interval="none: the order is perfect in every draw, which is not certainty",
            p=p,
        )
    return Correlation(
        first, second, rho, len(both), low, high, "percentile bootstrap over systems", p=p
    )


def _over_terms(
    one: Correlation, terms: tuple[Floats, Floats] | None, settings: Settings
) -> Correlation:
    if terms is None or one.rho is None:
        return one
    lms, ss = terms
    weights = resampled_clusters(
        len(lms), settings.resamples, generator(settings.seed, {}, "relate terms")
    )
    draws = spearman(weights @ lms, weights @ ss)
    low, high = percentile(draws[~np.isnan(draws)], settings.level)
    return replace(one, low_terms=low, high_terms=high, terms=len(lms))


def _judged(found: Sequence[Correlation], level: float) -> Iterator[Correlation]:
    tested = [one for one in found if one.p is not None]
    adjusted = iter(holm([one.p or 0.0 for one in tested]))
    for one in found:
        yield one if one.p is None else _with_verdict(one, next(adjusted), len(tested), level)


def _with_verdict(one: Correlation, p: float, tests: int, level: float) -> Correlation:
    rises = "rises with" if (one.rho or 0) > 0 else "falls with"
    verdict = (
        f"{one.second} {rises} {one.first}"
        if p < 1 - level
        else "not distinguishable from no relation"
    )
    return replace(one, p_adjusted=p, tests=tests, verdict=verdict)


# ----------------------------------------------------------------------------------------------- sizes


@dataclass(frozen=True)
class Facts:
    """What is known of a system besides its scores."""

    parameters: float | None = None
    corpus_gb: float | None = None
    source: str = ""


@cache
def shipped_facts() -> Mapping[str, Facts]:
    """`system_facts.csv`: the systems of the StereoSet paper."""
    text = resources.files("stereometer.findings").joinpath("system_facts.csv").read_text("utf-8")
    return {
        row["system"]: Facts(float(row["parameters"]), float(row["corpus_gb"]), row["source"])
        for row in csv.DictReader(text.splitlines())
    }


def read_facts(path: Path) -> dict[str, Facts]:
    """A table with `system` and `parameters` or `corpus_gb` or both; empty where not known."""
    found = {}
    for line, row in read_table(path, ["system"]):
        sizes = {name: _size(row.get(name, ""), f"{path}, line {line}: {name}") for name in SIZES}
        found[row["system"]] = Facts(**sizes, source=row.get("source") or path.name)
    return found


def _size(text: str, where: str) -> float | None:
    if not text.strip():
        return None
    value = finite(text, where, "A size is a number above 0. Repair it or leave it empty.")
    if value <= 0:
        raise UsageError(f"{where} is {text}. A size is above 0. Repair it or leave it empty.")
    return value
