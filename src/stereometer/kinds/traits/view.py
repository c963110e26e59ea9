"""The first table of groups and traits: dimensions, and the traits that stand out."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from stereometer.core.shapes.shape import Shape
from stereometer.core.shapes.view import overall, plain, undeclared
from stereometer.core.show import numbers
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.show.view import View
from stereometer.core.types import Estimate, Result
from stereometer.kinds.traits.metrics import TOO_FEW
from stereometer.kinds.traits.words import NOT_MORE, ProfileWords, poles

SHOWN = 3
"""Traits that are named, and reasons why values are missing."""


def first_tables(shape: Shape, results: Sequence[Result], words: ProfileWords) -> View:
    """A row per group; of several results a table each."""
    profiles = [_by_group(result) for result in results]
    if not all(profiles):
        return plain(shape, results)
    tables = [
        _table(groups, "\n".join(_legend(result, words)), result.model if len(results) > 1 else "")
        for result, groups in zip(results, profiles, strict=True)
    ]
    return View(parts=(*tables, *undeclared(shape, results)))


Associations = tuple[list[Estimate], dict[str, Estimate]]
"""Of a group, with its traits and, by name, with dimensions."""


def _by_group(result: Result) -> dict[str, Associations]:
    groups: dict[str, Associations] = {}
    for estimate in result.estimates:
        if estimate.name == "association":
            traits, dimensions = groups.setdefault(estimate.slice["group"], ([], {}))
            if "trait" in estimate.slice:
                traits.append(estimate)
            else:
                dimensions[estimate.slice["dimension"]] = estimate
    return groups


def _table(groups: dict[str, Associations], foot: str, caption: str) -> Table:
    dimensions = list(dict.fromkeys(name for _, of in groups.values() for name in of))
    heads = [text(name, spare=at) for at, name in enumerate(dimensions, 1)]
    heads += [text("tied most to"), text("tests beyond noise", spare=len(dimensions) + 1)]
    rows = tuple(_cells(group, *tied, dimensions) for group, tied in groups.items())
    return Table((text("group"), number("n / asked"), *heads), rows, caption, foot)


def _cells(
    group: str, traits: list[Estimate], of: dict[str, Estimate], dimensions: Sequence[str]
) -> tuple[Cell, ...]:
    used = f"{sum(trait.n for trait in traits)} / {sum(trait.asked for trait in traits)}"
    values = [_value(of[name]) if name in of else "" for name in dimensions]
    tested = _tested(traits) or _tested(of.values())
    beyond = sum(bool(estimate.beyond_noise) for estimate in tested)
    ends = (", ".join(_ends(traits)), f"{beyond} of {len(tested)}" if tested else "")
    return (text(group), number(used), *map(text, values), *map(text, ends))


def _tested(estimates: Iterable[Estimate]) -> list[Estimate]:
    return [estimate for estimate in estimates if estimate.verdict is not None]


def _value(estimate: Estimate) -> str:
    if estimate.value is None:
        return "none"
    return numbers.signed_interval(estimate.value, estimate.low, estimate.high, 2)


def _ends(traits: Sequence[Estimate]) -> list[str]:
    """The poles with the largest associations, whichever side they are on."""
    valued = [(trait.value, poles(trait.slice["trait"])) for trait in traits if trait.value]
    valued.sort(key=lambda pair: -abs(pair[0]))
    return [f"{ends[value > 0]} {abs(value):.2f}" for value, ends in valued[:SHOWN]]


def _legend(result: Result, words: ProfileWords) -> Iterator[str]:
    spread = overall(result).get("group_spread")
    for reason, count in (spread.skipped if spread else {}).items():
        yield f"{numbers.count(count, 'cell')} skipped ({reason})."
    yield from _absent(result)
    yield from _untested(result)
    value = "none" if spread is None or spread.value is None else f"{spread.value:.3f}"
    yield (
        f"Positive: towards {_right_poles(result)} (the right pole). [low, high]: "
        f"{words.interval}, {float(result.settings['level']):.0%}. "
        f"Standard deviation between groups: {value}."
    )
    if mean := overall(result).get("answered_mean"):
        yield (
            f"Mean answer before poles are turned back: {numbers.with_interval(mean)}; away from "
            "50 the model likes one end of the scale, whatever stands there."
        )
    if words.caveat:
        yield f"{words.caveat}."
    yield f"A score says {words.says}: {NOT_MORE}."


def _right_poles(result: Result) -> str:
    names = (estimate.slice["trait"] for estimate in result.estimates if "trait" in estimate.slice)
    traits = list(dict.fromkeys(names))
    right = ", ".join(trait.rpartition(" - ")[2] for trait in traits[:SHOWN])
    return f"{right} ..." if len(traits) > SHOWN else right


def _untested(result: Result) -> Iterator[str]:
    """Dimensions whose words are too few for any test."""
    how = (row.interval or "" for row in result.estimates)
    few = Counter(why for why in how if why.startswith(TOO_FEW))
    for why, count in few.most_common(SHOWN):
        reason = why.removeprefix("none: ")
        yield f"{numbers.count(count, 'dimension')} not tested, {reason}."


def _absent(result: Result) -> Iterator[str]:
    """Why values are missing, the usual reasons first."""
    reasons = Counter(estimate.why for estimate in result.estimates if estimate.why is not None)
    values = numbers.count(len(result.estimates), "value")
    for why, count in reasons.most_common(SHOWN):
        yield f"none: {why} ({count} of {values})."
    left = reasons.total() - sum(count for _, count in reasons.most_common(SHOWN))
    if left:
        values = numbers.count(left, "more value")
        yield f"{values} without a score: result.json says why for each."
