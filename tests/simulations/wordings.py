"""Items asked in several wordings, drawn: how often intervals over both hold the truth, and how
often wordings that do nothing are said to differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import ndtr

from stereometer.core.stats.crossed import Crossed
from stereometer.core.stats.intervals import Floats, Ints
from stereometer.core.stats.means import PerUnit, together
from stereometer.core.types import Settings
from stereometer.wings.sweep.curve import curve
from stereometer.wings.sweep.reading import PartQuestion, SweptPart
from stereometer.wings.sweep.shape import JOINT, SHIFT, SPREAD
from stereometer.wings.sweep.table import ReadingQuestion
from stereometer.wings.sweep.way import FORMS, Way

ITEM, ANSWER = 1.0, 1.0
"""Spread of what items lean to, and of one answer, on the scale of the model's leaning."""


@dataclass(frozen=True)
class Scene:
    """A model that leans by `lean`, and what adds to it."""

    sizes: Ints
    """Items of each unit."""
    wordings: int = 6
    lean: float = 0.0
    units: float = 0.15
    spread: float = 0.0
    """Of wordings."""
    both: float = 0.0
    """Of what a unit does in one wording."""
    skipped: float = 0.0
    """Share of answers that are missing, on average; wordings differ in it."""
    by_term: bool = True
    skewed: bool = False
    """Whether one wording in many lies far off."""

    @property
    def others(self) -> float:
        return sqrt(self.units**2 + ITEM**2 + self.both**2 + ANSWER**2)

    def preferred(self, wording: Floats) -> Floats:
        """What all items like these would prefer under wordings that add so much, in percent."""
        share: Floats = 100 * ndtr((self.lean + wording) / self.others)
        return share

    def of_wordings(self, rng: np.random.Generator, count: int) -> Floats:
        drawn = rng.exponential(1.0, count) - 1 if self.skewed else rng.normal(0.0, 1.0, count)
        return self.spread * drawn

    def drawn(self, rng: np.random.Generator) -> tuple[Floats, Crossed]:
        """What each wording would have of all items, and what it has of those drawn."""
        of = np.repeat(np.arange(self.sizes.size), self.sizes)
        shape = of.size, self.wordings
        wording = self.of_wordings(rng, self.wordings)
        leaning = self.lean + wording + rng.normal(0, ITEM, of.size)[:, None]
        leaning += rng.normal(0, self.units, self.sizes.size)[of][:, None]
        leaning += rng.normal(0, self.both, (self.sizes.size, self.wordings))[of]
        sides = np.where(leaning + rng.normal(0, ANSWER, shape) > 0, 100.0, 0.0)
        sides[rng.random(shape) < self.skipped * rng.uniform(0, 2, self.wordings)] = np.nan
        columns = [PerUnit.of(of, column) for column in sides.T]
        values, weights = together([each.alike if self.by_term else each for each in columns])
        alone = np.zeros(self.wordings, dtype=np.int64)
        return self.preferred(wording), Crossed(np.stack(values, axis=1), weights, alone, {0: 1.0})


UNEVEN = np.random.default_rng(5).integers(1, 40, 79)
ZIPF = np.maximum(1, 60 // np.arange(1, 31))
SCENES: Mapping[str, Scene] = {
    "no effect, 24 terms": Scene(np.full(24, 6)),
    "no effect, 79 uneven terms": Scene(UNEVEN, lean=0.3),
    "no effect, 20 pairs": Scene(np.ones(20, np.int64), lean=0.5, units=0, by_term=False),
    "small, 79 uneven terms": Scene(UNEVEN, lean=0.3, spread=0.1, both=0.05),
    "small, 262 pairs": Scene(np.ones(262, np.int64), lean=0.1, spread=0.15, by_term=False),
    "large, 79 uneven terms": Scene(UNEVEN, spread=0.6, both=0.1),
    "large, 60 pairs": Scene(np.ones(60, np.int64), spread=0.6, units=0, by_term=False),
    "some, 20 pairs": Scene(np.ones(20, np.int64), spread=0.3, units=0, by_term=False),
    "some, 10 terms": Scene(np.full(10, 8), lean=0.2, units=0.2, spread=0.3, both=0.1),
    "some, three wordings": Scene(np.ones(60, np.int64), 3, spread=0.3, by_term=False),
    "some, twelve wordings": Scene(np.ones(60, np.int64), 12, spread=0.3, by_term=False),
    "some, a fifth skipped": Scene(
        UNEVEN, lean=0.2, spread=0.3, both=0.1, skipped=0.2, by_term=False
    ),
    "some, 60 pairs, a fifth skipped": Scene(
        np.ones(60, np.int64), lean=0.2, units=0, spread=0.2, skipped=0.2, by_term=False
    ),
    "some, Zipf terms": Scene(ZIPF, lean=0.2, units=0.2, spread=0.2, both=0.1, by_term=False),
}
SKEWED = Scene(UNEVEN, spread=0.3, both=0.1, skewed=True)


@dataclass(frozen=True)
class Held:
    """Shares of sets."""

    mean: float
    """In which the interval of the mean holds that over all wordings like these."""
    items: float
    """Likewise of the interval over items alone."""
    wordings: float
    """And of Student's t over the wordings alone."""
    spread: float
    """In which the interval of the spread holds it."""
    another: float
    """In which the range for another wording holds one that is drawn."""
    found: float
    """In which the wordings are said to differ."""


def held(scene: Scene, sets: int, seed: int = 0) -> Held:
    rng = np.random.default_rng([seed, scene.sizes.size, scene.wordings])
    every = scene.preferred(scene.of_wordings(np.random.default_rng(1), 400_000))
    true, spread = float(every.mean()), float(every.std())
    counts = np.zeros(6)
    for _ in range(sets):
        _, crossed = scene.drawn(rng)
        other = float(scene.preferred(scene.of_wordings(rng, 1))[0])
        alone = PerUnit(crossed.weights @ crossed.values, np.ones(scene.wordings)).mean
        counts += [
            _within(true, crossed.mean.interval(0.95)),
            _within(true, crossed.over_units.interval(0.95)),
            _within(true, alone.interval(0.95)),
            _within(spread, crossed.spread.interval(0.95)),
            _within(other, crossed.another(0.95)),
            crossed.spread.p < 0.05,
        ]
    return Held(*(counts / sets).tolist())


def _within(value: float, interval: tuple[float, float]) -> bool:
    return interval[0] - 1e-9 <= value <= interval[1] + 1e-9


def rejected(scene: Scene, sets: int, test: Callable[[Crossed], float]) -> float:
    """How often a model whose mean over wordings like these is 50 is said to have another."""
    rng = np.random.default_rng([7, scene.sizes.size])
    return sum(test(scene.drawn(rng)[1]) < 0.05 for _ in range(sets)) / sets


# ------------------------------------------------------------------------------- a whole question

WORDINGS = [str(at) for at in range(1, 7)]
COMPARED, RATED = "compared", "rated alone"


@dataclass(frozen=True)
class Question:
    """Pairs asked as a comparison, in two forms, and as a rating; each task has wordings of its
    own, which lean by `spread`, and each form of a wording by `both` more."""

    pairs: int = 80
    spread: float = 0.0
    both: float = 0.0
    lean: float = 0.0
    moved: float = 0.0
    """By the second form."""

    def said(self, rng: np.random.Generator, resamples: int = 199) -> Mapping[str, bool]:
        """What is found beyond noise: a preference, and each choice that moves it."""
        of_item = rng.normal(0, ITEM, self.pairs)
        of_wording = {
            (task, wording): rng.normal(0, self.spread)
            for task in (COMPARED, RATED)
            for wording in WORDINGS
        }
        ways = [
            Way(task, "sound", "It was drawn.", asking=task, wording=wording, form=form)
            for task in (COMPARED, RATED)
            for form in FORMS
            for wording in WORDINGS
        ]
        sides: dict[str, Floats] = {}
        for way in ways:
            lean = self.lean + of_wording[way.asking, way.wording] + rng.normal(0, self.both)
            lean += self.moved * (way.form == FORMS[1])
            sides[way.id] = np.sign(lean + of_item + rng.normal(0, ANSWER, self.pairs))
        part = SweptPart(
            "pair", [str(at) for at in range(self.pairs)], np.ones(self.pairs, bool), sides
        )
        question = ReadingQuestion("choice", "pair", "Which?", tuple(ways))
        settings = Settings(seed=int(rng.integers(2**31)), resamples=resamples)
        rows = curve(
            PartQuestion(question, part, ways, settings, {}, {way.id: 0.1 for way in ways})
        )
        (joint,) = (row for row in rows if row.name == JOINT)
        moved = {row.slice["choice"]: bool(row.beyond_noise) for row in rows if row.name == SHIFT}
        (spread,) = (row for row in rows if row.name == SPREAD and len(row.slice) == 2)
        assert joint.p is not None
        return {"joint": joint.p < 0.05, **moved, "wording": bool(spread.beyond_noise)}


def shares_said(question: Question, sets: int) -> dict[str, float]:
    rng = np.random.default_rng([question.pairs, int(100 * question.spread)])
    counts: Counter[str] = Counter()
    for _ in range(sets):
        counts.update(name for name, said in question.said(rng).items() if said)
    return {name: counts[name] / sets for name in ("joint", "form", "asking", "wording")}
