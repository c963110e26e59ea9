"""Verdicts over several rows, systems, steps or repeats: how often they claim what is not so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import sqrt

import numpy as np

from stereometer.core.asking.conversation import Conversation
from stereometer.core.compare import Compared, _adjusted
from stereometer.core.shapes.differences import Difference
from stereometer.core.shapes.points import DrawnUnit, Points, Stratum
from stereometer.core.shapes.verdicts import PREFERENCE, judged
from stereometer.core.stats.intervals import Floats, wilson_percent
from stereometer.core.stats.means import StudentMean
from stereometer.core.stats.ranks import permutation_p
from stereometer.core.stats.tests import holm
from stereometer.core.types import Estimate, Score, Settings
from stereometer.kinds.cats import differences as changes
from stereometer.kinds.cats.items import TASKS
from stereometer.kinds.cats.points import KINDS, headline_slices
from stereometer.kinds.traits import metrics
from stereometer.kinds.traits.abc import survey
from stereometer.kinds.traits.align.agreement import RatedCells
from stereometer.kinds.traits.align.estimates import OVER_BOTH, _tau
from stereometer.kinds.traits.survey.method import ModelSurvey, SurveyOptions
from stereometer.report.tables import partly_pooled
from stereometer.report.trend import trend_of
from stereometer.wings.relations.relate import family_means
from tests.builders.sure import sure
from tests.simulations import cats, families

SETTINGS = Settings(resamples=100)

# ------------------------------------------------------------------------------ families of compare


def equal_systems(
    terms: tuple[int, ...], items: int, systems: int, sets: int, seed: int = 31
) -> tuple[float, float]:
    """In what share of comparisons of systems that differ in nothing something is claimed: of any
    metric, and of ss. `terms` are those of each domain, `items` each of theirs in a task."""
    rng, seen = np.random.default_rng(seed), np.zeros(2)
    for _ in range(sets):
        pairs = [
            Compared("a", "b", 1, 1, tuple(rows), (), (), 0, 0)
            for rows in _differences(terms, items, systems, rng)
        ]
        judged_pairs = _adjusted(pairs, SETTINGS.level, ())
        names = {row.name for pair in judged_pairs for row in pair.differences if row.beyond_noise}
        seen += (bool(names), "ss" in names)
    return float(seen[0] / sets), float(seen[1] / sets)


def _differences(
    terms: tuple[int, ...], items: int, systems: int, rng: np.random.Generator
) -> Iterator[list[Difference]]:
    """Of every system with the first, on the same items."""
    places = [
        (f"domain {at}", f"term {term}", task)
        for at, count in enumerate(terms)
        for term in range(count)
        for task in TASKS
    ]
    ss = np.clip(rng.normal(58, cats.SPREAD, len(places) // 2), 0, 100).repeat(2) / 100
    won = rng.random((systems, len(places), items)) < ss[:, None]
    outcomes = 12 * won + 2 * (rng.random((2, *won.shape)) < 0.85).sum(axis=0)
    for other in outcomes[1:]:
        tables = np.zeros((len(places), KINDS, KINDS), dtype=np.int64)
        np.add.at(tables, (np.arange(len(places))[:, None], outcomes[0], other), 1)
        strata = [
            Stratum(
                {"task": task, "domain": domain, "target": term}, DrawnUnit((domain, term)), table
            )
            for (domain, term, task), table in zip(places, tables, strict=True)
        ]
        points = Points((KINDS, KINDS), strata)
        yield [
            row
            for slice_ in headline_slices(points)
            for row in changes.differences(points.within(slice_), won[0].size, SETTINGS)
        ]


# ---------------------------------------------------------------------------- detectable difference


def power_at_detectable(
    terms: tuple[int, ...], items: tuple[int, ...], sets: int, seed: int = 32
) -> float:
    """How often the verdict names a preference in the first domain, where that is just as large as
    what is said to be detectable, and the other domains have none."""
    rng = np.random.default_rng(seed)
    gap = float(
        np.mean([sure(_first_domain(terms, items, 0.0, rng).detectable) for _ in range(99)])
    )
    found = [families._claimed(_first_domain(terms, items, gap, rng)) for _ in range(sets)]
    return float(np.mean(found))


def _first_domain(
    terms: tuple[int, ...], items: tuple[int, ...], gap: float, rng: np.random.Generator
) -> Estimate:
    middle = (50.0 + gap, *[50.0] * (len(terms) - 1))
    rows = judged(
        families._cats(families.Scene(terms, items, middle), rng), {"ss": PREFERENCE}, SETTINGS
    )
    return next(row for row in rows if row.slice == {"domain": "domain 0"})


# ------------------------------------------------------------------------------------------ surveys

Habit = Callable[[np.random.Generator, int], float]
"""What a model answers, whatever is asked, given the place on the page."""
HABITS: dict[str, Habit] = {
    "always 80": lambda rng, place: 80.0,
    "0 three times of four": lambda rng, place: 0.0 if rng.random() < 0.75 else 100 * rng.random(),
    "multiples of 25": lambda rng, place: 25.0 * rng.integers(5),
    "the first line high": lambda rng, place: 90.0 if place == 1 else 50.0 + 5 * rng.random(),
    "rising down the page": lambda rng, place: 5.0 * place + 10 * rng.random(),
    "unsure at the end": lambda rng, place: 70.0 if place < 8 else float(rng.integers(101)),
}


def surveys(habit: Habit, repeats: int, sets: int, groups: int = 6, seed: int = 33) -> float:
    """In what share of surveys a model that has no view of groups gets any verdict."""
    scales = survey.SOURCE.benchmark(survey.read(survey.packaged())[0], "").items("survey")
    names = list(dict.fromkeys(scale.slices["group"] for scale in scales))[:groups]
    asked = [scale for scale in scales if scale.slices["group"] in names]
    rng, claimed = np.random.default_rng(seed), 0
    for at in range(sets):
        measure = ModelSurvey(
            "survey@1", SurveyOptions(repeats=repeats, seed=at), Conversation(False)
        )
        scores = []
        for question in measure.items(asked)[0]:
            answered = habit(rng, question.place)
            turned = question.page[question.place - 1].turned
            effect = (100 - answered if turned else answered) - metrics.MIDDLE
            derived = {"answered": answered}
            scores.append(Score(question.id, question.slices, {"effect": effect}, derived=derived))
        claimed += any(row.beyond_noise for row in metrics.summarize_ratings(scores, SETTINGS))
    return claimed / sets


# ------------------------------------------------------------------------------------------- trends


def trends(
    noise: float, steps: int, sets: int, drift: float = 0.0, terms: int = 40, seed: int = 34
) -> float:
    """How often a trend is named over checkpoints that differ by `noise` points, each from the
    same preference, and by `drift` from the first to the last; ten items per term."""
    rng, found = np.random.default_rng(seed), 0
    units = [str(term) for term in range(terms) for _ in range(10)]
    for _ in range(sets):
        lean = rng.normal(58, cats.SPREAD, terms).repeat(10)[:, None]
        moved = rng.normal(0, noise, steps) + drift * np.arange(steps) / (steps - 1)
        won = rng.random((len(units), steps)) < (lean + moved) / 100
        trend = trend_of("ss", 100 * won.astype(np.float64), units, SETTINGS)
        found += trend is not None and trend.p is not None and trend.p < 0.05
    return found / sets


# ----------------------------------------------------------------------------- partly pooled slices


def pooled(slices: int, apart: float, items: tuple[int, int], sets: int, seed: int = 35) -> Floats:
    """Root mean square error of the raw and of the partly pooled value of slices whose true values
    are `apart` points apart, and the coverage of the pooled one; items from fewest to most."""
    rng, squares, covered = np.random.default_rng(seed), np.zeros(2), 0.0
    for _ in range(sets):
        n = np.geomspace(*items, slices).astype(int)
        true = np.clip(rng.normal(56, apart, slices), 1, 99)
        won = 100 * rng.binomial(n, true / 100) / n
        ends = np.array([wilson_percent(share, of, 0.95) for share, of in zip(won, n, strict=True)])
        values, low, high = partly_pooled(won, np.diff(ends)[:, 0] / 2 / 1.96, 0.95)
        squares += [((won - true) ** 2).mean(), ((values - true) ** 2).mean()]
        covered += float(((low <= true) & (true <= high)).mean())
    return np.array([*np.sqrt(squares / sets), covered / sets])


# ------------------------------------------------------------------------------------------ systems


def any_system(systems: int, shared: float, sets: int, seed: int = 36) -> tuple[float, float]:
    """In what share of reports of systems without a preference the overall row of any claims one:
    by its own verdict, and after Holm over the systems. `shared` is how far terms have the same
    effect on all."""
    rng, seen = np.random.default_rng(seed), np.zeros(2)
    for _ in range(sets):
        own = rng.normal(size=(systems, 40))
        terms = cats.SPREAD * (sqrt(shared) * rng.normal(size=40) + sqrt(1 - shared) * own)
        ps = [StudentMean.of(row + rng.normal(0, 7, 40)).p() for row in terms]
        seen += (min(ps) < 0.05, min(holm(ps)) < 0.05)
    return float(seen[0] / sets), float(seen[1] / sets)


def related_families(sizes: Sequence[int], alike: float, sets: int, seed: int = 37) -> Floats:
    """How often lms and ss are called related where they are not, by systems and by means of
    families of these sizes; `alike` is how far the systems of one are the same."""
    rng, seen = np.random.default_rng(seed), np.zeros(2)
    at = np.repeat(np.arange(len(sizes)), sizes)
    for _ in range(sets):
        x, y = (
            sqrt(alike) * rng.normal(size=len(sizes))[at]
            + sqrt(1 - alike) * rng.normal(size=at.size)
            for _ in range(2)
        )
        means = family_means(x, y, [str(each) for each in at])
        seen += [permutation_p(*each, 200, rng) < 0.05 for each in ((x, y), means)]
    return np.array(seen / sets)


def tau_coverage(groups: int, sets: int, raters: int = 12, seed: int = 38) -> float:
    """How often the interval of tau over groups holds the tau of all groups like these."""
    rng = np.random.default_rng(seed)
    true = float(np.mean([sure(_cells(rng, 200, raters).tau()) for _ in range(20)]))
    hits = 0
    for _ in range(sets):
        part = _cells(rng, groups, raters)
        row = _tau(part, SETTINGS, None, OVER_BOTH)
        hits += sure(row.low) <= true <= sure(row.high)
    return hits / sets


def _cells(rng: np.random.Generator, groups: int, raters: int, traits: int = 5) -> RatedCells:
    """A model that shares half of what people think, groups having leanings of their own."""
    names = tuple(map(str, range(groups)))
    think = 12 * rng.normal(size=(groups, 1)) + 12 * rng.normal(size=(groups, traits))
    model = think + 17 * rng.normal(size=think.shape)
    noise = 22 * rng.normal(size=(groups, raters, traits))
    people = tuple(50 + think[at] + noise[at] for at in range(groups))
    own = tuple(tuple(f"{name}/{at}" for at in range(raters)) for name in names)
    return RatedCells(names, tuple(map(str, range(traits))), model, people, own)
