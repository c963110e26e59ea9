"""A group's profile: its association with each trait and dimension, over templates; from ratings
that a model gave on a survey's scales; and from sentences of a text."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import sqrt
from typing import Any

import numpy as np

from stereometer.core.shapes.points import Coverage
from stereometer.core.stats.intervals import Floats, generator
from stereometer.core.stats.means import StudentMean
from stereometer.core.stats.tests import Said, corrected, exchange_p, least_p
from stereometer.core.types import Estimate, Score, Settings, Slice
from stereometer.kinds.traits.abc.files import POLES

NEITHER = "not distinguishable from 0"
TEMPLATES = "templates"
"""What a score is averaged over, unless a measure says otherwise."""
OVER_TEMPLATES, ONE_TEMPLATE = "Student's t over templates", "none: a single template"
Cells = dict[tuple[str, str], dict[str, list[float]]]
"""By template and trait, then by group."""
LARGE = 3.0
"""Standard deviations between templates beyond which hardly any score lies."""


def difference(values: Mapping[str, float]) -> float:
    """Of a trait: positive towards the right pole. Some measures give it as it is."""
    return values["effect"] if "effect" in values else values["right"] - values["left"]


@dataclass
class TemplateSample:
    """The differences of one slice, by template."""

    slice: Slice
    coverage: Coverage = field(default_factory=Coverage)
    by_template: dict[str, list[float]] = field(default_factory=dict)

    def add(self, score: Score, template: str | None) -> None:
        self.coverage.add(score)
        if score.skipped is None and template is not None:
            self.by_template.setdefault(template, []).append(difference(score.values))

    def estimate(self, name: str, settings: Settings, noun: str = TEMPLATES) -> Estimate:
        """The mean over templates with its interval and test, or why there is none."""
        empty = self.coverage.estimate(name, self.slice, 0.0)
        nothing = None if self.by_template else f"no whole {noun[:-1]}"
        if why := self.coverage.shortfall(settings) or nothing:
            return replace(empty, why=why)
        means = np.array([np.mean(values) for values in self.by_template.values()])
        known = replace(empty, value=float(means.mean()), terms=means.size)
        if means.size < 2:
            return replace(known, interval=ONE_TEMPLATE.replace(TEMPLATES[:-1], noun[:-1]))
        mean = StudentMean.of(means)
        if not mean.has_spread:
            return replace(known, interval=f"none: all {noun} agree, which is not certainty")
        ends, how = mean.interval(settings.level), OVER_TEMPLATES.replace(TEMPLATES, noun)
        tested = replace(known, interval=how, p=mean.p(), test=how, free=mean.free)
        return replace(tested, low=ends[0], high=ends[1])


def summarize(
    scores: Iterable[Score],
    settings: Settings,
    noun: str = TEMPLATES,
    unit: Callable[[Score], str | None] = lambda score: score.slices["template"],
    together: bool = False,
) -> list[Estimate]:
    """`association` of each group with each trait and dimension, and `group_spread`. The latter is
    how far groups are apart. `unit` says what varies as a whole, None of what is part of no whole
    one, and `noun` its name; traits and dimensions are corrected apart, or together."""
    everything = Coverage()
    samples: dict[tuple[tuple[str, str], ...], TemplateSample] = {}
    cells: Cells = {}
    for score in scores:
        everything.add(score)
        for kind in ("trait", "dimension"):
            slice_ = {name: score.slices[name] for name in ("group", kind)}
            sample = samples.setdefault(tuple(slice_.items()), TemplateSample(slice_))
            sample.add(score, unit(score))
        if score.skipped is None and (whole := unit(score)) is not None:
            groups = cells.setdefault((whole, score.slices["trait"]), {})
            groups.setdefault(score.slices["group"], []).append(difference(score.values))
    associations = [
        sample.estimate("association", settings, noun)
        for sample in sorted(samples.values(), key=lambda sample: "dimension" in sample.slice)
    ]
    spread = _spread(everything, cells, settings, noun)
    return [spread, *judged(associations, settings.level, together)]


def judged(estimates: Iterable[Estimate], level: float, together: bool = False) -> list[Estimate]:
    """Holm over the traits, and over the dimensions, of all groups, or over both together; the
    verdict names the pole. An interval around 0 has none, however small p is."""
    return corrected(
        estimates,
        lambda estimate, p: _verdict(estimate, p, level),
        lambda estimate: together or "trait" in estimate.slice,
    )


def _verdict(estimate: Estimate, p: float, level: float) -> Said:
    value = estimate.value or 0.0
    low, high = (value if end is None else end for end in (estimate.low, estimate.high))
    if p >= 1 - level or low <= 0 <= high:
        return NEITHER, False
    if "trait" not in estimate.slice:
        return "above 0" if value > 0 else "below 0", True
    left, mark, right = estimate.slice["trait"].partition(" - ")
    poles = (left, right) if mark else ("the left pole", "the right pole")
    return f"towards {poles[value > 0]}", True


def outlook(templates: int, tests: int, level: float) -> str | None:
    """What so few templates could show: how far from 0 a score must be, next to their spread."""
    if templates < 2:
        return "One template: scores have no interval, and none can be told from 0."
    from scipy.special import stdtrit

    quantile = float(stdtrit(templates - 1, 1 - (1 - level) / 2 / tests))
    needed = quantile / sqrt(templates)
    if needed <= LARGE:
        return None
    return (
        f"{templates} templates and {tests:,} tests: a score is beyond noise only if it is over "
        f"{int(needed):,} standard deviations (between templates) from 0. "
        "More templates, or fewer groups, would show more."
    )


def _spread(coverage: Coverage, cells: Cells, settings: Settings, noun: str) -> Estimate:
    """The standard deviation of a trait over groups, averaged over traits; a value per template."""
    by_template: dict[str, list[float]] = {}
    for (template, _), groups in cells.items():
        if len(groups) > 1:
            spread = float(np.std([np.mean(values) for values in groups.values()], ddof=1))
            by_template.setdefault(template, []).append(spread)
    if not by_template:
        why = coverage.shortfall(settings) or "needs two groups"
        return coverage.estimate("group_spread", {}, 0.0, why=why)
    sample = TemplateSample({}, coverage, by_template)
    return untested(sample.estimate("group_spread", settings, noun))


def untested(estimate: Estimate, **known: Any) -> Estimate:
    """Without its test, and with what else is known."""
    return replace(estimate, p=None, test=None, free=None, **known)


MIDDLE = 50.0
REPEATS, PAIRS = "repeats", "repeat pairs"


def _place(score: Score) -> tuple[str, str, str]:
    """Of which group, trait and two repeats a score is, the first repeat being number 1."""
    pair = (int(score.slices["template"].rpartition("-")[2]) - 1) // 2
    return score.slices["group"], score.slices["trait"], str(pair)


def summarize_ratings(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """As for templates, one being two repeats that exchange each other's poles; and where answers
    lie before poles are turned back."""
    every = list(scores)
    answered = TemplateSample({}, Coverage.of(every))
    for score in every:
        if score.skipped is None:
            repeat = answered.by_template.setdefault(score.slices["template"], [])
            repeat.append(score.derived["answered"])
    lean = untested(answered.estimate("answered_mean", settings, REPEATS), ideal=MIDDLE)
    both = Counter(_place(score) for score in every if score.skipped is None)
    whole = min(2, len({score.slices["template"] for score in every}))

    def pair(score: Score) -> str | None:
        """None of an answer whose counterpart is missing: a liking for one end would stay in."""
        return _place(score)[2] if both[_place(score)] == whole else None

    return [*summarize(every, settings, PAIRS, pair, together=True), lean]


MIDDLE_DRAWS = "middle of the draws of sentences"
NO_INTERVAL = "none: a dimension has only a test"
EXCHANGED = "all words of the dimension exchanged between its poles"
TOO_FEW = "none: too few words for a test"
Place = tuple[str, str]
"""A group, and a trait or dimension."""


@dataclass
class Nearness:
    """What scores hold beside effects."""

    draws: dict[Place, Mapping[str, float]] = field(default_factory=dict)
    words: dict[Place, dict[str, dict[str, float]]] = field(default_factory=dict)
    """How near each word of each pole is, by group and dimension: one that stands in several traits
    is one word."""

    def seen(self, scores: Iterable[Score]) -> Iterator[Score]:
        for score in scores:
            if score.skipped is None:
                group = score.slices["group"]
                self.draws[group, score.slices["trait"]] = score.derived
                poles = self.words.setdefault((group, score.slices["dimension"]), {})
                for name, value in score.derived.items():
                    pole, _, word = name.partition("/")
                    if word:
                        poles.setdefault(pole, {})[word] = value
            yield score

    def poles(self, place: Place) -> tuple[Floats, Floats] | None:
        """None of scores that do not hold words of both poles."""
        words = self.words.get(place, {})
        if not words.keys() >= set(POLES):
            return None
        left, right = (np.array(list(words[pole].values())) for pole in POLES)
        return left, right


def summarize_sentences(scores: Iterable[Score], settings: Settings) -> list[Estimate]:
    """As for templates; intervals are of draws of sentences, p of words. A cell has an effect and
    the middle of its draws, and no test: its poles have two or three words, which no exchange tells
    from chance. A dimension is tested over all words of its poles."""
    nearness = Nearness()
    rows = summarize(nearness.seen(scores), settings)
    return judged([_of_text(row, nearness, settings) for row in rows], settings.level)


def _of_text(estimate: Estimate, nearness: Nearness, settings: Settings) -> Estimate:
    if estimate.value is None or "group" not in estimate.slice:
        return estimate
    group = estimate.slice["group"]
    if "trait" in estimate.slice:
        drawn = nearness.draws[group, estimate.slice["trait"]]
        return untested(estimate, low=drawn["low"], high=drawn["high"], interval=MIDDLE_DRAWS)
    poles = nearness.poles((group, estimate.slice["dimension"]))
    if poles is None:
        return estimate
    least = least_p(*map(len, poles))
    if least >= 1 - settings.level:
        why = f"{TOO_FEW}: with {len(poles[0])} and {len(poles[1])} p cannot fall below {least:.2g}"
        return untested(estimate, low=None, high=None, interval=why)
    p = exchange_p(*poles, generator(settings.seed, estimate.slice, "words"))
    return replace(estimate, p=p, test=EXCHANGED, free=None, interval=NO_INTERVAL)
