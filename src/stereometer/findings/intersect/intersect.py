"""Groups where they meet: order, dominance and emergence, as a Result of its own (Cao et al. 2022, section 5.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from stereometer.benchmarks.abc.items import Choice, crossed, grid
from stereometer.benchmarks.abc.traits import POLES
from stereometer.findings.intersect.crossing import Crossing, crossing, resampled_means
from stereometer.findings.intersect.emergence import DIRECTIONS, Emergent, emergent
from stereometer.findings.intersect.expected import agreement, read_expected
from stereometer.runs import store as runs
from stereometer.runs.runner import Tally, stored, versions
from stereometer.stats.intervals import Floats, generator, percentile
from stereometer.stats.tests import bootstrap_p, holm
from stereometer.types import Estimate, Result, Score, Settings

LISTED = 50
"""Emergent traits shown of each direction, as in the paper's Table A10."""
DOMINATES = 0.1
FEW_GROUPS = 3
"""Groups of a domain below which drawing them again says nothing."""
OVER_GROUPS = "bootstrap over groups"


@dataclass(frozen=True)
class Ask:
    """What is crossed, and what it is held against."""

    choice: Choice
    settings: Settings
    expected: Path | None = None


def check_tables(ask: Ask) -> None:
    """Raises for a mistake in any table."""
    made = grid(ask.choice)
    names = [pair.name for pair in crossed(made, ask.choice.rules)]
    if ask.expected:
        read_expected(ask.expected, names, made.traits)


def intersect(run: Path, ask: Ask, out: Path | None = None) -> tuple[Result, Path]:
    """The three questions, from the stored scores of such a run."""
    result, made = runs.load_result(run), grid(ask.choice)
    pairs = crossed(made, ask.choice.rules)
    wanted = (
        read_expected(ask.expected, [pair.name for pair in pairs], made.traits)
        if ask.expected
        else None
    )
    found = crossing(runs.load_scores(run), made.groups, pairs, made.traits)
    plan = _plan(result, ask) | {"scores": found.digest}
    lists = {
        direction: emergent(found, direction, generator(ask.settings.seed, {}, direction))
        for direction in DIRECTIONS
    }

    def summarize(scores: Iterable[Score]) -> list[Estimate]:
        for _ in scores:
            pass
        against = (
            agreement(wanted, lists["above"], found, ask.settings) if wanted is not None else []
        )
        return [
            *order(found, ask.settings),
            *dominance(found, ask.settings),
            *emergence(found, lists),
            *against,
        ]

    return stored(
        plan,
        _listed(found, lists),
        summarize,
        lambda estimates: _result(result, plan, estimates),
        out,
        Tally(),
    )


# ------------------------------------------------------------------------------------- Q1: does order matter


def order(found: Crossing, settings: Settings) -> Iterator[Estimate]:
    """Mean tau of a pair with its first and second part (where both orders exist), with the closer part, and with its reverse."""
    both = found.reversed >= 0
    with np.errstate(invalid="ignore"):
        closer = np.fmax(found.taus[:, 0], found.taus[:, 1])
    values = {
        "tau_first_part": np.where(both, found.taus[:, 0], np.nan),
        "tau_second_part": np.where(both, found.taus[:, 1], np.nan),
        "tau_closer_part": closer,
        "tau_reversed": found.reversed_taus,
    }
    drawn = resampled_means(
        found, values, settings.resamples, generator(settings.seed, {}, "order")
    )
    few = len(found.groups) < FEW_GROUPS
    for name, row in values.items():
        made = _mean(name, row, drawn[name], settings)
        yield (
            replace(made, low=None, high=None, interval=f"none: fewer than {FEW_GROUPS} groups")
            if few and made.value is not None
            else made
        )


def _mean(name: str, row: Floats, drawn: Floats, settings: Settings, **fixed: str) -> Estimate:
    known = row[~np.isnan(row)]
    empty = Estimate(name, fixed, None, None, None, known.size, row.size, 0, None)
    if not known.size:
        return replace(empty, why="no pair has it")
    low, high = percentile(drawn[~np.isnan(drawn)], settings.level)
    return replace(empty, value=float(known.mean()), low=low, high=high, interval=OVER_GROUPS)


# -------------------------------------------------------------------------------- Q2: which domain dominates


def dominance(found: Crossing, settings: Settings) -> list[Estimate]:
    """For two domains: mean tau of their pairs with the part of each, and the difference; a domain dominates from 0.1 on."""
    domains = list(dict.fromkeys(group.domain for group in found.groups))
    made = [one for two in combinations(domains, 2) for one in _two_domains(found, *two, settings)]
    tested = [at for at, one in enumerate(made) if one.p is not None]
    for at, p in zip(tested, holm([made[at].p or 0.0 for at in tested]), strict=True):
        made[at] = replace(made[at], p_adjusted=p, tests=len(tested))
    return [
        replace(one, verdict=_dominates(one, settings), ideal=0.0)
        if one.name == "dominance"
        else one
        for one in made
    ]


def _two_domains(found: Crossing, one: str, other: str, settings: Settings) -> Iterator[Estimate]:
    of = np.array([group.domain for group in found.groups])[found.parts]
    here = ((of[:, 0] == one) & (of[:, 1] == other)) | ((of[:, 0] == other) & (of[:, 1] == one))
    if not here.any():
        return
    first = of[:, 0] == one
    with_one, with_other = (
        np.where(here, np.where(side, *found.taus.T), np.nan) for side in (first, ~first)
    )
    rows = {"one": with_one, "other": with_other, "difference": with_one - with_other}
    drawn = resampled_means(
        found,
        rows,
        settings.resamples,
        generator(settings.seed, {"one": one, "other": other}, "dominance"),
    )
    few = (
        min(np.unique(found.parts[here][of[here] == name]).size for name in (one, other))
        < FEW_GROUPS
    )
    for name, row, domain, against in (
        ("tau_with_domain", "one", one, other),
        ("tau_with_domain", "other", other, one),
        ("dominance", "difference", one, other),
    ):
        made = replace(
            _mean(name, rows[row], drawn[row], settings, domain=domain, other_domain=against),
            asked=int(here.sum()),
        )
        if few and made.value is not None:
            yield replace(
                made,
                low=None,
                high=None,
                interval=f"none: fewer than {FEW_GROUPS} groups of a domain",
            )
        elif name == "dominance" and made.value is not None:
            yield replace(made, p=bootstrap_p(drawn[row][~np.isnan(drawn[row])]))
        else:
            yield made


def _dominates(one: Estimate, settings: Settings) -> str:
    value = one.value or 0.0
    if abs(value) < DOMINATES:
        return "neither dominates"
    names = one.slice["domain"], one.slice["other_domain"]
    winner, loser = names if value > 0 else names[::-1]
    doubt = (
        ", not tested"
        if one.p_adjusted is None
        else ""
        if one.p_adjusted < 1 - settings.level
        else ", within noise"
    )
    return f"{winner} dominates {loser}{doubt}"


# ------------------------------------------------------------------------------------------ Q3: what emerges


def emergence(found: Crossing, lists: dict[str, list[Emergent]]) -> Iterator[Estimate]:
    """How many cells there are and how many stand the test, then the largest of each direction."""
    for direction, every in lists.items():
        cells = len(found.pairs) * len(found.traits) * len(POLES)
        sure = sum(one.q < 0.05 for one in every)
        yield Estimate(
            "emergent_cells", {"direction": direction}, float(sure), None, None, len(every), cells, 0, None,
            interval="none: a count, with the false-discovery rate held at 0.05",
        )  # fmt: skip
        for one in every[:LISTED]:
            yield Estimate(
                "emergence", _slice(found, one), one.increase, None, None, one.templates, one.templates, 0, 0.0,
                interval="none: tested by the signs of its differences from either part", p=one.p, p_adjusted=one.q, tests=len(every),
                verdict="emerges" if one.q < 0.05 else "not distinguishable from its parts",
            )  # fmt: skip


def _slice(found: Crossing, one: Emergent) -> dict[str, str]:
    trait = found.traits[one.trait]
    return {
        "group": found.pairs[one.pair].name,
        "adjective": trait.head(POLES[one.pole]),
        "direction": one.direction,
    }


def _listed(found: Crossing, lists: dict[str, list[Emergent]]) -> Iterator[Score]:
    """The listed traits with the scores behind them: what the table of emergent traits shows."""
    for every in lists.values():
        for one in every[:LISTED]:
            slices = _slice(found, one) | {
                "trait": found.traits[one.trait].name,
                "dimension": found.traits[one.trait].dimension,
            }
            name = f"{slices['group']}/{slices['adjective']}/{one.direction}"
            yield Score(
                name,
                slices,
                {"effect": one.increase},
                derived={"part": one.part, "p": one.p, "q": one.q},
            )


# -------------------------------------------------------------------------------------------------- results


def _plan(result: Result, ask: Ask) -> dict[str, Any]:
    return {
        "benchmark": result.benchmark,
        "data": result.data["digest"],
        "measure": f"{result.measure}+intersection",
        "variant": result.variant,
        "model": result.model,
        "digest": result.model_card["digest"],
        "expected": ask.expected.read_text("utf-8") if ask.expected else None,
        "seed": ask.settings.seed,
        "resamples": ask.settings.resamples,
        "level": ask.settings.level,
    }


def _result(result: Result, plan: dict[str, Any], estimates: Sequence[Estimate]) -> Result:
    return replace(
        result,
        measure=plan["measure"],
        settings=dict(result.settings)
        | {name: plan[name] for name in ("seed", "resamples", "level")},
        versions=versions(),
        estimates=tuple(estimates),
    )
