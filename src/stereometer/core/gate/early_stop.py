"""Bars that a verb is given for what it will measure: `run(..., require="icat>=70")`; and runs that
stop when every bar is decided: which bars can be, in which order items are asked, and what such a
result may say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from stereometer.core import catalog
from stereometer.core.errors import UsageError
from stereometer.core.gate.bars import (
    BarRule,
    Outcome,
    bearing,
    metrics_of,
    read_bar,
    read_rules,
)
from stereometer.core.gate.gate import Gate, held
from stereometer.core.gate.sequential import (
    NOTHING,
    Doubtful,
    Ends,
    MetricPlace,
    OverItems,
    Track,
    unit,
)
from stereometer.core.shapes.points import Coverage, term
from stereometer.core.shapes.shape import Shape
from stereometer.core.shapes.verdicts import FEW_TERMS, NULL_VALUE, equivalent
from stereometer.core.show.numbers import number
from stereometer.core.stats.means import effective
from stereometer.core.types import (
    Asking,
    Estimate,
    Item,
    Job,
    Result,
    Score,
    Settings,
    Slice,
    digest_of,
)
from stereometer.core.types.results import Results

BLOCK = 32
"""Items that are asked before the next look, at least; terms are never torn."""
CHANCES = 2
"""That a preference has to be found: while items are asked, and when they have run out."""
ONCE = (
    *("low", "high", "interval", "missing_low", "missing_high", "equivalent", "detectable"),
    *("p", "p_adjusted", "tests", "correction", "verdict", "beyond_noise"),
)
"""Fields of an estimate that hold only where one looks once."""
LEFT_OUT = "left out, since no interval of it holds at every look"


def until_decided(job: Job, rules: Sequence[BarRule]) -> Job:
    """The job with what stops it; a job that no bar is about asks everything."""
    ours = metrics_of([job.kind])
    named = [rule.among(ours) for rule in rules if rule.fits(job.plan)]
    # A metric that nobody declared may be a method's own.
    others = {*metrics_of(catalog.names("shape"))} - {*ours}
    here = [rule for rule in named if rule.metric not in others]
    if not here:
        return job
    if not isinstance(job.source, Asking):
        raise UsageError(
            f"{job.plan['model']} has its scores already. Asking less of it saves nothing. Leave "
            "--until-decided out."
        )
    known = {each.name: job.plan[each.name] for each in fields(Settings)}
    until = Until(job.source.items, here, catalog.shape(job.kind), Settings(**known))
    bars = [str(rule) for rule in here]
    return replace(
        job,
        plan={**job.plan, "until_decided": bars},
        folder=f"{job.folder}-until-{digest_of(bars)[:6]}",
        stopping=until,
        summarize=lambda scores: until.counted(job.summarize(scores)),
        describe=partial(_described, job, until, bars),
    )


class Until:
    """The items of one job in random order, until every rule is met or missed."""

    def __init__(
        self, items: Sequence[Item], rules: Sequence[BarRule], shape: Shape, settings: Settings
    ) -> None:
        self.items, self.shape, self.settings = items, shape, settings
        self.of_this_set = _of_this_set(rules)
        """Whether bars ask about the value of these items, and not about others like them."""
        self.units = {item.id: unit(shape, item) for item in items}
        self.marks = [mark for rule in rules if rule.bar for mark in rule.bar.marks]
        _check(rules, shape, settings, items, self.of_this_set)
        self.tracks = [(rule, self._track(rule.metric, rule.slice)) for rule in rules]
        self.scores: list[Score] = []

    def blocks(self) -> Iterator[Sequence[Item]]:
        block: list[Item] = []
        for together in self._units():
            block += together
            if len(block) >= BLOCK:
                yield block
                block = []
                if self.is_decided:
                    return
        if block:
            yield block

    def _units(self) -> list[list[Item]]:
        """What is drawn as a whole, in an order that depends on the seed and not on the file's."""
        units: dict[Hashable, list[Item]] = {}
        for item in sorted(self.items, key=lambda item: item.id):
            key = item.id if self.of_this_set else self.units[item.id]
            units.setdefault(key, []).append(item)
        order = sorted(units, key=str)
        Random(self.settings.seed).shuffle(order)
        return [units[key] for key in order]

    def add(self, score: Score) -> None:
        self.scores.append(score)
        for _, track in self.tracks:
            track.add(score)

    @property
    def is_whole(self) -> bool:
        return len(self.scores) == len(self.items)

    @property
    def is_decided(self) -> bool:
        """The value of this very set is known at the latest when all of it was asked."""
        if self.of_this_set and self.is_whole:
            return True
        return all(self._outcome(rule, track) != "undecided" for rule, track in self.tracks)

    def _outcome(self, rule: BarRule, track: Track) -> Outcome:
        if rule.bar is None or not self._has_score(rule):
            return "undecided"
        low, high = track.interval(self._error)
        seen = Estimate(rule.metric, rule.slice, (low + high) / 2, low, high, 0, 0, 0, None)
        return replace(rule.bar, point=False).outcome(seen)

    def _has_score(self, rule: BarRule) -> bool:
        """Whether so many items are answered, and so few tied, that there is a value at all."""
        here = [score for score in self.scores if rule.slice.items() <= score.slices.items()]
        if Coverage.of(here).shortfall(self.settings) is not None:
            return False
        answered = [score for score in here if score.skipped is None]
        tied = self.shape.tie_shares(answered, self.settings.variant)(rule.slice)
        return tied.get(rule.metric, 0.0) <= self.settings.ties

    @property
    def _error(self) -> float:
        """Of each end of an interval; about this very set bars have one side."""
        return (1 - self.settings.level) / (1 if self.of_this_set else 2)

    def _track(self, metric: str, slice_: Slice) -> Track:
        place = MetricPlace(self.shape, metric, slice_, self.settings, self.units)
        if self.of_this_set:
            return OverItems(place, self.items, self.marks)
        return Doubtful(place, self.items, self.marks)

    @property
    def caution(self) -> str:
        """How the intervals that are stored are to be read."""
        if self.of_this_set and self.is_whole:
            return "The values are of these very items, and have no interval."
        if self.is_decided:
            return "Intervals hold at every look."
        level = number(100 * self._last_level)
        return f"Intervals are at {level} %, since the looks before took half of the error."

    # ------------------------------------------------------------------------------ what is stored

    def counted(self, estimates: Sequence[Estimate]) -> list[Estimate]:
        """Only what holds at every look: overall, and in the slices that bars are about."""
        asked = [dict(rule.slice) for rule, _ in self.tracks]
        return [
            self._held(estimate)
            for estimate in estimates
            if not estimate.slice or dict(estimate.slice) in asked
        ]

    def _held(self, estimate: Estimate) -> Estimate:
        bare = _untested(estimate)
        if estimate.value is None:
            return bare
        if estimate.name not in self.shape.means:
            return replace(bare, value=None, least=None, most=None, why=LEFT_OUT)
        if self.of_this_set and self.is_whole:
            return replace(bare, scope="the value of these very items")
        if self.is_whole and not self.is_decided:
            return self._at_last(estimate)
        return self._early(estimate.value, bare)

    def _early(self, value: float, bare: Estimate) -> Estimate:
        track = self._track(bare.name, bare.slice)
        for score in self.scores:
            track.add(score)
        low, high = track.interval(self._error)
        if (low, high) == NOTHING:
            return replace(bare, value=None, least=None, most=None, why=LEFT_OUT)
        held = replace(bare, value=min(max(value, low), high), low=low, high=high)
        stated = replace(held, interval=track.how, scope=track.scope)
        surely = track.interval(self._error / CHANCES)
        return stated if self.of_this_set else self._judged(stated, surely)

    def _judged(self, estimate: Estimate, surely: Ends) -> Estimate:
        """What the overall value says; slices are many, and no correction is made for them.

        A preference has two chances to be found, early and at the end, and half of the error at
        each: here is the narrower interval of `estimate`, and the one that leaves 50 out surely.
        """
        words = self.shape.metric(estimate.name).words
        if estimate.slice or words is None:
            return estimate
        near = equivalent((estimate.low or 0.0, estimate.high or 0.0), self.settings)
        known = replace(estimate, equivalent=near if estimate.ideal == NULL_VALUE else None)
        within = surely[0] <= NULL_VALUE <= surely[1]
        level, delta = self.settings.level, self.settings.delta
        says, beyond = words.of(known, float(within), level, delta)
        return replace(known, verdict=says, beyond_noise=beyond)

    def _at_last(self, estimate: Estimate) -> Estimate:
        """Items ran out: what a run of the whole set says, with half of the error, since the looks
        before had the other half."""
        row = next(
            row for row in self._whole if (row.name, row.slice) == (estimate.name, estimate.slice)
        )
        level = f"{number(100 * self._last_level)} %, as looks before took half of the error"
        told = replace(
            row, interval=f"{row.interval}, at {level}", correction=f"one test at {level}"
        )
        if not row.slice:
            return told
        bare = _untested(told)
        return replace(bare, low=told.low, high=told.high, interval=told.interval)

    @property
    def _last_level(self) -> float:
        return 1 - (1 - self.settings.level) / CHANCES

    @cached_property
    def _whole(self) -> Sequence[Estimate]:
        return self.shape.summarize(self.scores, replace(self.settings, level=self._last_level))


def _untested(estimate: Estimate) -> Estimate:
    """Without what holds only where one looks once."""
    gone: dict[str, Any] = dict.fromkeys(ONCE)
    return replace(estimate, **gone)


def _described(
    job: Job, until: Until, bars: Sequence[str], estimates: Sequence[Estimate]
) -> Result:
    result = job.describe(estimates)
    asked, whole = len(until.scores), len(until.items)
    share = f"{asked:,} of {whole:,} items ({asked / whole:.0%})"
    record = {"bars": list(bars), "asked": asked, "of": whole, "decided": until.is_decided}
    order = "items" if until.of_this_set else "terms and identical texts as wholes,"
    ended = "every bar was decided" if until.is_decided else "no more were left"
    note = (
        f"Asked {share}, {order} in random order, until {ended}. {until.caution} "
        "Metrics without such an interval are left out. For a run of the whole set leave out "
        "--until-decided: answers are kept."
    )
    return replace(
        result,
        notes=(note, *result.notes),
        settings={**result.settings, "until_decided": record},
        data={**result.data, "items": asked, "title": f"{result.data['title']}, {share}"},
        estimates=tuple(replace(estimate, published=None) for estimate in result.estimates),
    )


# ------------------------------------------------------------------------------------- what can be


def _of_this_set(rules: Sequence[BarRule]) -> bool:
    points = {rule.bar.point for rule in rules if rule.bar}
    if len(points) > 1:
        raise UsageError(
            "Some bars are about intervals and some about point(...). The first are decided by "
            "whole terms in random order, the others by items. Give one kind of them."
        )
    return points == {True}


def _check(
    rules: Sequence[BarRule], shape: Shape, settings: Settings, items: Sequence[Item], of_set: bool
) -> None:
    if settings.variant != "sound":
        raise UsageError(
            f"--until-decided is for the variant sound, not {settings.variant}. What the authors "
            "computed are numbers of whole sets. Leave one of them out."
        )
    for rule in rules:
        _check_metric(rule, shape)
        here = [item.slices for item in items if rule.slice.items() <= item.slices.items()]
        if not here:
            raise UsageError(
                f"No item is in the slice of the bar '{rule}'. Nothing would ever decide it. "
                "Fix the slice."
            )
        sizes = Counter(term(slices, shape.unit_by) for slices in here)
        terms = 0.0  # as how many of equal weight these items count
        if () not in sizes:
            counts = np.array([*sizes.values()], dtype=float)
            terms = len(sizes) if shape.term_by else effective(counts)
        if not of_set and 0 < terms < FEW_TERMS:
            raise UsageError(
                f"The bar '{rule}' is about {terms:.0f} target terms. Fewer than {FEW_TERMS} do "
                f"not stand for others. Ask about the value with point({rule.metric})."
            )


def _check_metric(rule: BarRule, shape: Shape) -> None:
    if rule.bar is None:
        raise UsageError(
            f"The bar '{rule}' is about a difference from a baseline. `run` has none. Check the "
            "stored run with `stereometer gate --against`."
        )
    if rule.metric not in shape.means:
        usable = ", ".join(shape.means) or "none"
        raise UsageError(
            f"--until-decided cannot decide '{rule}': {rule.metric} is not a mean of items, and "
            f"only means have a test that holds at every look. Here that is {usable}."
        )


@dataclass(frozen=True)
class Holding:
    """Rules on values of this run alone, and whether it stops when they are decided."""

    rules: Sequence[BarRule]
    until_decided: bool = False

    def jobs(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """With what stops them; raises where a bar is about nothing that they measure."""
        if self.rules:
            bearing(jobs, self.rules)
        return [until_decided(job, self.rules) for job in jobs] if self.until_decided else jobs

    def hold(self, results: Results) -> Results:
        """The results with how they stand to the bars."""
        results.gate = self.gate(results)
        return results

    def gate(self, results: Sequence[Result]) -> Gate | None:
        return held(results, self.rules) if results and self.rules else None


def holding(
    require: str | Sequence[str] = (),
    bars: str | Path | None = None,
    until_decided: bool = False,
    limit: int | None = None,
    shard: str | None = None,
) -> Holding:
    texts = [require] if isinstance(require, str) else require
    rules = [BarRule(read_bar(text)) for text in texts]
    rules += read_rules(Path(bars)) if bars else []
    for rule in rules:
        if rule.bar is None:
            raise UsageError(
                f"The bar '{rule}' is about a difference from a baseline, and `run` has none. "
                "Store the run, then check it with `stereometer gate RUN --bars FILE --against "
                "BASE`."
            )
    if until_decided and not rules:
        raise UsageError(
            "--until-decided needs bars. Without them nothing says when to stop. Give --require or "
            "--bars."
        )
    if until_decided and (limit is not None or shard is not None):
        name = "--limit" if limit is not None else "--shard"
        raise UsageError(
            f"{name} and --until-decided were both given. Each says which items are asked. Leave "
            "one of them out."
        )
    return Holding(rules, until_decided)
