"""Runs that stop when every bar is decided: which bars can be, in which order items are asked, and
what such a result may say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from random import Random

from stereometer import catalog
from stereometer.errors import UsageError
from stereometer.findings.gate.bars import Bar, Outcome, read_bar
from stereometer.findings.gate.bearing import bearing, metrics_of
from stereometer.findings.gate.rules import Rule
from stereometer.findings.gate.sequential import NOTHING, OverItems, OverTerms, Place, Track
from stereometer.shapes.coverage import Coverage
from stereometer.shapes.shape import Shape
from stereometer.shapes.verdicts import FEW_TERMS, NULL_VALUE, Verdicts, equivalent
from stereometer.show.numbers import number
from stereometer.types import (
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

BLOCK = 32
"""Items that are asked before the next look, at least; terms are never torn."""
LEFT_OUT = "left out, since no interval of it holds at every look"


def decided(*bars: str) -> Callable[[Sequence[Job]], Sequence[Job]]:
    """For `until` of `run`: stop asking when every bar, such as `"|ss-50|<=5"`, is met or missed.

    Terms or items are asked in random order, and intervals hold at every look. A bar that the
    benchmark's metrics cannot decide is an error.
    """
    if not bars:
        raise UsageError(
            "No bar was given. Without one nothing says when to stop. Write decided('|ss-50|<=5')."
        )
    rules = [Rule(read_bar(text)) for text in bars]
    return lambda jobs: [until_decided(job, rules) for job in bearing(jobs, rules)]


def until_decided(job: Job, rules: Sequence[Rule]) -> Job:
    """The job with what stops it; a job that no bar is about asks everything."""
    here = [rule for rule in rules if rule.fits(job.plan) and _measured(rule, job)]
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


def _measured(rule: Rule, job: Job) -> bool:
    """A metric that nobody declared may be a method's own."""
    others = metrics_of(catalog.names("shape"))
    return rule.metric in metrics_of([job.kind]) or rule.metric not in others


class Until:
    """The items of one job in random order, until every rule is met or missed."""

    def __init__(
        self, items: Sequence[Item], rules: Sequence[Rule], shape: Shape, settings: Settings
    ) -> None:
        self.items, self.shape, self.settings = items, shape, settings
        self.by_terms = _by_terms(rules, shape)
        self.marks = [mark for rule in rules if rule.bar for mark in _marks(rule.bar)]
        _check(rules, shape, settings, items, self.by_terms)
        self.tracks = [(rule, self._track(rule.metric, rule.slice)) for rule in rules]
        self.scores: list[Score] = []

    def blocks(self) -> Iterator[Sequence[Item]]:
        block: list[Item] = []
        for unit in self._units():
            block += unit
            if len(block) >= BLOCK:
                yield block
                block = []
                if self.is_decided:
                    return
        if block:
            yield block

    def _units(self) -> list[list[Item]]:
        """Terms or items, in an order that hangs on the seed and not on the file's."""
        units: dict[tuple[str, ...], list[Item]] = {}
        for item in sorted(self.items, key=lambda item: item.id):
            term = tuple(item.slices[name] for name in self.shape.term_by)
            units.setdefault(term if self.by_terms else (item.id,), []).append(item)
        order = sorted(units)
        Random(self.settings.seed).shuffle(order)
        return [units[key] for key in order]

    def add(self, score: Score) -> None:
        self.scores.append(replace(score, texts={}))
        for _, track in self.tracks:
            track.add(score)

    @property
    def is_decided(self) -> bool:
        return all(self._outcome(rule, track) != "undecided" for rule, track in self.tracks)

    def _outcome(self, rule: Rule, track: Track) -> Outcome:
        if rule.bar is None or not self._has_score(rule):
            return "undecided"
        low, high = track.interval()
        nothing = Estimate(rule.metric, rule.slice, None, None, None, 0, 0, 0, None)
        seen = replace(nothing, value=(low + high) / 2, low=low, high=high)
        return replace(rule.bar, point=False).outcome(seen)

    def _has_score(self, rule: Rule) -> bool:
        """Whether so many items are answered, and so few tied, that there is a value at all."""
        here = [score for score in self.scores if rule.slice.items() <= score.slices.items()]
        if Coverage.of(here).shortfall(self.settings) is not None:
            return False
        answered = [score for score in here if score.skipped is None]
        tied = self.shape.tie_shares(answered, self.settings.variant)(rule.slice)
        return tied.get(rule.metric, 0.0) <= self.settings.ties

    def _track(self, metric: str, slice_: Slice) -> Track:
        place = Place(self.shape, metric, slice_, self.settings)
        return OverTerms(place) if self.by_terms else OverItems(place, self.items, self.marks)

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
        track = self._track(estimate.name, estimate.slice)
        for score in self.scores:
            track.add(score)
        ends = track.interval()
        if ends == NOTHING:
            return replace(bare, value=None, least=None, most=None, why=LEFT_OUT)
        value = estimate.value
        if not self.by_terms and len(self.scores) == len(self.items):
            ends = (value, value)
        inside = min(max(value, ends[0]), ends[1])
        held = replace(bare, value=inside, low=ends[0], high=ends[1])
        return self._judged(replace(held, interval=track.how, scope=track.scope))

    def _judged(self, estimate: Estimate) -> Estimate:
        """What the overall value says; slices are many, and no correction is made for them."""
        words = self.shape.metric(estimate.name).words
        if estimate.slice or words is None or estimate.low is None or estimate.high is None:
            return estimate
        near = equivalent((estimate.low, estimate.high), self.settings)
        known = replace(estimate, equivalent=near if estimate.ideal == NULL_VALUE else None)
        beyond = not estimate.low <= NULL_VALUE <= estimate.high
        says = _says(known, words, beyond, self.settings)
        return replace(known, verdict=says, beyond_noise=beyond)


def _says(estimate: Estimate, words: Verdicts, beyond: bool, settings: Settings) -> str:
    if beyond or estimate.equivalent:
        return str(words.of(estimate, float(not beyond), settings.level, settings.delta)[0])
    return f"{words.neither}: anything from {number(estimate.low)} to {number(estimate.high)}"


def _untested(estimate: Estimate) -> Estimate:
    """Without what holds only where one looks once."""
    return replace(
        estimate,
        low=None,
        high=None,
        interval=None,
        verdict=None,
        beyond_noise=None,
        equivalent=None,
        detectable=None,
        p=None,
        p_adjusted=None,
        tests=None,
        correction=None,
    )


def _described(
    job: Job, until: Until, bars: Sequence[str], estimates: Sequence[Estimate]
) -> Result:
    result = job.describe(estimates)
    asked, whole = len(until.scores), len(until.items)
    share = f"{asked:,} of {whole:,} items ({asked / whole:.0%})"
    record = {"bars": list(bars), "asked": asked, "of": whole, "decided": until.is_decided}
    order = "whole terms" if until.by_terms else "items"
    ended = "every bar was decided" if until.is_decided else "no more were left"
    note = (
        f"Asked {share}, {order} in random order, until {ended}. Intervals hold at every look; "
        "metrics that have none such are left out. For a run of the whole set leave out "
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


def _marks(bar: Bar) -> tuple[float, ...]:
    """The values at which a bar turns."""
    if bar.centre is None:
        return (bar.number,)
    return bar.centre - bar.number, bar.centre + bar.number


def _by_terms(rules: Sequence[Rule], shape: Shape) -> bool:
    """Bars on the interval of a mean over terms are about terms like these."""
    points = {rule.bar.point for rule in rules if rule.bar}
    if shape.term_by and len(points) > 1:
        raise UsageError(
            "Some bars are about intervals and some about point(...). The first are decided by "
            "whole terms in random order, the others by items. Give one kind of them."
        )
    return bool(shape.term_by) and points == {False}


def _check(
    rules: Sequence[Rule],
    shape: Shape,
    settings: Settings,
    items: Sequence[Item],
    by_terms: bool,
) -> None:
    if settings.variant != "sound":
        raise UsageError(
            f"--until-decided is for the variant sound, not {settings.variant}. What the authors "
            "computed are numbers of whole sets. Leave one of them out."
        )
    for rule in rules:
        _check_metric(rule, shape)
        here = [item.slices for item in items if rule.slice.items() <= item.slices.items()]
        terms = {tuple(slices[name] for name in shape.term_by) for slices in here}
        if not here:
            raise UsageError(
                f"No item is in the slice of the bar '{rule}'. Nothing would ever decide it. "
                "Fix the slice."
            )
        if by_terms and len(terms) < FEW_TERMS:
            raise UsageError(
                f"The bar '{rule}' is about {len(terms)} target terms. Fewer than {FEW_TERMS} do "
                f"not stand for others. Ask about the value with point({rule.metric})."
            )


def _check_metric(rule: Rule, shape: Shape) -> None:
    if rule.bar is None:
        raise UsageError(
            f"The bar '{rule}' is about a difference from a baseline. `run` has none. Hold the "
            "stored run against it with `stereometer gate --against`."
        )
    if rule.metric not in shape.means:
        usable = ", ".join(shape.means) or "none"
        raise UsageError(
            f"--until-decided cannot decide '{rule}': {rule.metric} is not a mean of items, and "
            f"only means have a test that holds at every look. Here that is {usable}."
        )
