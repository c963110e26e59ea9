"""Stored runs held against bars: one outcome each, what was seen, and what would decide it; and the
verb `gate`, which says whether they may be released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil, inf
from pathlib import Path
from typing import Annotated, Any

from stereometer.core import catalog
from stereometer.core.compare import Comparison, compare
from stereometer.core.errors import ThresholdError, Undecided, UnknownName, UsageError, did_you_mean
from stereometer.core.files import replacing
from stereometer.core.gate.bars import Bar, BarRule, Outcome, read_rules
from stereometer.core.options import Resamples, Seed, verb
from stereometer.core.runs.stored import Stored, runs_of
from stereometer.core.shapes.differences import Closeness, Difference
from stereometer.core.show.numbers import count, signed_interval, with_interval
from stereometer.core.show.table import Table, number, text
from stereometer.core.show.view import View
from stereometer.core.types import Estimate, Result
from stereometer.core.types.shown import Tabular

WORST: tuple[Outcome, ...] = ("missed", "undecided")
MORE = "A bar is met where the whole interval satisfies it; point(NAME) asks about the value alone."


@dataclass(frozen=True)
class BarResult:
    """One rule held against one result."""

    rule: str
    metric: str
    benchmark: str
    measure: str
    variant: str
    model: str
    outcome: Outcome
    seen: str
    """The value with its interval, or the difference with its own."""
    value: float | None
    low: float | None
    high: float | None
    n: int
    asked: int
    hint: str = ""
    """What would decide it, where it is undecided."""

    @property
    def place(self) -> str:
        return f"{self.benchmark} · {self.measure} · {self.variant} · {self.model}"

    @property
    def words(self) -> str:
        ending = "." if self.outcome == "missed" else f": undecided. {self.hint}"
        return f"{self.model}: {self.metric} is {self.seen}. The bar is {self.rule}{ending}"


@dataclass(frozen=True, repr=False)
class Gate(Tabular):
    """Everything `stereometer gate` says."""

    judged: tuple[BarResult, ...]
    schema: str = "gate@1"

    def view(self) -> View:
        columns = (text("outcome"), text("bar"), text("value"), number("n", spare=1), text("run"))
        rows = (
            (
                *map(text, (each.outcome, each.rule, each.seen)),
                number(f"{each.n} of {each.asked}", spare=1),
                text(each.place),
            )
            for each in self.judged
        )
        title = count(len(self.judged), "bar")
        return View(title, about=(self.outcome,), parts=(Table(columns, tuple(rows)),))

    @property
    def outcome(self) -> Outcome:
        """Missed where one bar is missed, undecided where one is, else met."""
        return next((outcome for outcome in WORST if self.of(outcome)), "met")

    def of(self, outcome: Outcome) -> list[BarResult]:
        return [each for each in self.judged if each.outcome == outcome]

    def rows(self) -> list[dict[str, Any]]:
        """Flat records, one per bar and run."""
        return [asdict(each) for each in self.judged]

    def as_json(self) -> dict[str, Any]:
        return {"schema": self.schema, "outcome": self.outcome, "judged": self.rows()}

    def check(self, remark: str = "") -> None:
        """Raises an error with the exit code of the outcome, unless every bar is met."""
        missed, undecided = ([each.words for each in self.of(name)] for name in WORST)
        if missed:
            raise ThresholdError(" ".join(filter(None, (*missed, *undecided, remark))))
        if undecided:
            raise Undecided(" ".join(filter(None, (*undecided, remark, MORE))))


def judge(rule: BarRule, result: Result, comparison: Comparison | None = None) -> BarResult:
    """One rule on one result that it is about; a rule on a difference needs the comparison."""
    if rule.bar is None:
        return _no_worse(rule, result, _difference(rule, comparison))
    estimate = result.estimate(rule.metric, **rule.slice)
    outcome = _outcome(rule.bar, estimate, result)
    hint = _hint(rule, rule.bar, estimate, result) if outcome == "undecided" else ""
    if estimate.value is not None:
        seen = with_interval(estimate, 2)
    elif estimate.least is not None and estimate.why:
        seen = estimate.why
    else:
        seen = f"not available: {estimate.why}" if estimate.why else "not available"
    ends = estimate.value, estimate.low, estimate.high
    return _result(rule, result, outcome, seen, ends, estimate, hint)


def _result(
    rule: BarRule,
    result: Result,
    outcome: Outcome,
    seen: str,
    ends: tuple[float | None, float | None, float | None],
    of: Estimate | Difference,
    hint: str,
) -> BarResult:
    place = result.benchmark, result.measure, result.variant, result.model
    counts = of.n, of.asked
    return BarResult(str(rule), rule.metric, *place, outcome, seen, *ends, *counts, hint)


def _outcome(bar: Bar, estimate: Estimate, result: Result) -> Outcome:
    """A run that stopped early has no value that its interval does not vouch for."""
    stopped = result.stopped
    if stopped is None:
        return bar.outcome(estimate)
    held = bar if stopped["asked"] == stopped["of"] else replace(bar, point=False)
    known = estimate.value is not None if held.point else estimate.low is not None
    return held.outcome(estimate) if known else "undecided"


def is_there(rule: BarRule, result: Result) -> bool:
    """Whether a result is what the rule is about and has its metric."""
    return rule.is_about(result) and any(each.name == rule.metric for each in result.estimates)


def unknown(rule: BarRule, results: Sequence[Result]) -> UsageError:
    """A rule that is about nothing here would pass without a word."""
    about = [result for result in results if rule.is_about(result)]
    if not about:
        near = " ".join(filter(None, (_nearest(rule, name, results) for name in rule.where)))
        return UsageError(
            f"No run matches the bar '{rule}'. A bar without a run would pass without a word. "
            f"{near or 'Add a run that it applies to, or change the bar.'}"
        )
    names = dict.fromkeys(each.name for result in about for each in result.estimates)
    return UnknownName("metric", rule.metric, names, f"The bar is '{rule}'.")


def _nearest(rule: BarRule, name: str, results: Sequence[Result]) -> str:
    """What a bar may have meant by something that no run has."""
    known = {str(getattr(result, name)) for result in results}
    if any(replace(rule, where={name: rule.where[name]}).is_about(result) for result in results):
        return ""
    near = did_you_mean(rule.where[name], {each: each for each in known})
    return near or f"The {name} here is {' or '.join(sorted(known))}."


def _hint(rule: BarRule, bar: Bar, estimate: Estimate, result: Result) -> str:
    """How many more items, or that the rest of the set has not been asked."""
    rest = _rest(result)
    if estimate.value is None:
        return rest.strip() or "Ties leave it open: scores with more decimals would decide it."
    factor = bar.short_of(estimate)
    if factor is None:
        return f"The value lies on the bar: more items will not decide it soon.{rest}"
    return _more(rule, estimate.n, factor, "value", result)


def _more(rule: BarRule, n: int, factor: float, what: str, result: Result) -> str:
    """An interval is as many times as narrow as the root of the items says."""
    more, rest = max(ceil(n * max(factor, 1.0) ** 2) - n, 1), _rest(result)
    larger = "" if rest or rule.slice else _larger(result, n + more)
    return f"About {more:,} more items would decide it if the {what} stays.{rest}{larger}"


def _rest(result: Result) -> str:
    """What of the set has not been asked, if something has not."""
    limit, stopped = result.settings.get("limit"), result.stopped
    if limit:
        return f" The run was limited to {limit} items: ask the rest."
    if stopped and stopped["asked"] < stopped["of"]:
        return f" The run stopped after {stopped['asked']} items: run it without --until-decided."
    return ""


def _larger(result: Result, items: int) -> str:
    """The smallest published set of this kind, in the same language, that has so many."""
    cards = [source.card for source in catalog.every("benchmark").values()]
    enough = [
        (card.counts[result.kind], card.name)
        for card in cards
        if card.language == result.data.get("language")
        and card.counts.get(result.kind, 0) >= items
        and card.paper
    ]
    return " {1} has {0:,}.".format(*min(enough)) if enough else ""


# ------------------------------------------------------------------------- no worse than a baseline


def _difference(rule: BarRule, comparison: Comparison | None) -> Difference:
    if comparison is None:
        raise UsageError(
            f"The bar '{rule}' is about a difference from a baseline. There is none. "
            "Name its runs with --against."
        )
    (pair,) = comparison.pairs
    for difference in pair.differences:
        if difference.name == rule.no_worse and dict(difference.slice) == dict(rule.slice):
            return difference
    names = dict.fromkeys(difference.name for difference in pair.differences)
    raise UnknownName("difference", rule.no_worse, names, f"The bar is '{rule}'.")


def _no_worse(rule: BarRule, result: Result, difference: Difference) -> BarResult:
    outcome = worsening(difference, rule.margin)
    name, ends = _changed(difference)
    values = f"{difference.second:.1f} after {difference.first:.1f}"
    seen = f"{values}, {name}{signed_interval(*ends)}"
    hint = _margin_hint(rule, difference, result) if outcome == "undecided" else ""
    return _result(rule, result, outcome, seen, ends, difference, hint)


def _changed(difference: Difference) -> tuple[str, tuple[float, float, float]]:
    """What a bar on a difference is about: that of the values, or, where their ideal is within the
    scale, that of their distances from it."""
    if difference.sum_low is None or difference.ideal is None:
        return "", (difference.difference, difference.low, difference.high)
    nearer = Closeness.of(difference)
    return f"distance from {difference.ideal:g} ", (nearer.change, nearer.low, nearer.high)


def _margin_hint(rule: BarRule, difference: Difference, result: Result) -> str:
    # How many times as narrow the intervals must be to decide it, if the values stay.
    sides = _sides(difference)
    missed = [max(_ratio(mid - low, mid - rule.margin) for low, mid, _ in side) for side in sides]
    met = [min(_ratio(high - mid, rule.margin - mid) for _, mid, high in side) for side in sides]
    factor = min(*missed, max(met))
    if factor == inf:
        return (
            f"The difference lies on the margin: more items will not decide it soon.{_rest(result)}"
        )
    return _more(rule, difference.n, factor, "difference", result)


def _ratio(reach: float, away: float) -> float:
    return reach / away if away > 0 else inf


def worsening(difference: Difference, margin: float) -> Outcome:
    """Whether the second value is farther from the ideal by at most the margin.

    Where the ideal is an end of the scale, the interval of the difference says it. Where it is 50,
    with a and b the values less 50: the second is worse by more than m where b - a and b + a are
    both above m, or both below -m. That is shown where both intervals say so, and excluded where on
    either side one of them does not reach m: at most twice 2.5 % of error.
    """
    if difference.ideal is None:
        raise UsageError(
            f"{difference.name} has no ideal, so no value is worse than another. "
            "Choose a metric with one."
        )
    sides = _sides(difference)
    if any(all(low > margin for low, _, _ in side) for side in sides):
        return "missed"
    excluded = all(any(high <= margin for _, _, high in side) for side in sides)
    return "met" if excluded else "undecided"


Span = tuple[float, float, float]
"""The low end, the value and the high end of how much worse the second is."""


def _sides(difference: Difference) -> list[list[Span]]:
    """For every direction that is worse, what must be above the margin for it to be so."""
    spans = [(difference.low, difference.difference, difference.high)]
    turned = [(-high, -mid, -low) for low, mid, high in spans]
    if difference.sum_low is None or difference.sum_high is None or difference.ideal is None:
        is_top = max(difference.first, difference.second) <= (difference.ideal or 0.0)
        return [turned if is_top else spans]
    total = difference.first + difference.second - 2 * difference.ideal
    return [
        [*spans, (difference.sum_low, total, difference.sum_high)],
        [*turned, (-difference.sum_high, -total, -difference.sum_low)],
    ]


# ----------------------------------------------------------------------------------------- the verb


@verb
def gate(
    *runs: Annotated[Stored, "Folders of runs, or a folder that holds them."],
    bars: Annotated[
        str | Path,
        "A TOML file of bars on intervals and on differences from a baseline.",
    ] = Path("bars.toml"),
    against: Annotated[Stored | None, "The baseline's run, or a folder of its runs."] = None,
    junit: Annotated[str | Path | None, "Also write the outcomes as JUnit XML."] = None,
    summary: Annotated[
        str | Path | None,
        "Also add the outcomes to this Markdown file, such as GITHUB_STEP_SUMMARY.",
    ] = None,
    openmetrics: Annotated[str | Path | None, "Also write the numbers as OpenMetrics text."] = None,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
) -> Gate:
    """Hold stored runs against the bars of a file."""
    rules = read_rules(Path(bars))
    baselines = [run.result for run in runs_of([against] if against else [])]
    known: dict[Path | None, Comparison] = {}

    def compared(result: Result) -> Comparison | None:
        if baselines and result.folder not in known:
            first = _baseline(baselines, result)
            known[result.folder] = compare(first, result, seed=seed, resamples=resamples)
        return known.get(result.folder)

    outcome = held([run.result for run in runs_of(runs)], rules, compared)
    write(outcome, junit, summary, openmetrics)
    return outcome


def write(
    outcome: Gate,
    junit: str | Path | None = None,
    summary: str | Path | None = None,
    openmetrics: str | Path | None = None,
) -> None:
    """Every file that is asked for; a summary goes behind what others wrote there."""
    for name, path in (("junit", junit), ("openmetrics", openmetrics)):
        if path is not None:
            with replacing(Path(path)) as file:
                file.write(catalog.find("outcome", name)(outcome))
    if summary is not None:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(catalog.find("outcome", "summary")(outcome))


def held(
    results: Sequence[Result],
    rules: Sequence[BarRule],
    compared: Callable[[Result], Comparison | None] = lambda result: None,
) -> Gate:
    """Every rule against every result that it is about; one that is about none is an error."""
    judged: list[BarResult] = []
    for rule in rules:
        named = [(rule.among([row.name for row in each.estimates]), each) for each in results]
        about = [(meant, each) for meant, each in named if is_there(meant, each)]
        if not about:
            raise unknown(rule, results)
        for meant, each in about:
            judged.append(judge(meant, each, compared(each) if rule.bar is None else None))
    return Gate(tuple(judged))


def _baseline(baselines: Sequence[Result], result: Result) -> Result:
    def measured(each: Result) -> tuple[object, ...]:
        digest, limit = each.data.get("digest"), each.settings.get("limit")
        return each.benchmark, each.measure, each.variant, digest, limit

    alike = [each for each in baselines if measured(each) == measured(result)]
    if len(alike) != 1:
        raise UsageError(
            f"--against has {len(alike)} runs of {result.benchmark} by {result.measure}, variant "
            f"{result.variant}, on the same items. Exactly one is the baseline. Name its folder."
        )
    return alike[0]
