"""Numbers as the report prints them. A missing value is its reason, never a blank."""

from __future__ import annotations

from stereometer.types import Estimate

PLACES = {"confidence_median_difference": 2}
"""Decimals of a metric; one for the percentages."""
NO_BREAK = "\u00a0"


def number(value: float, places: int = 1) -> str:
    text = f"{value:,.{places}f}"
    return text.replace("-", "−") if float(text.replace(",", "")) else text.lstrip("-")


def places(one: Estimate) -> int:
    return PLACES.get(one.name, 1)


def value(one: Estimate) -> str:
    return "no score" if one.value is None else number(one.value, places(one))


def interval(one: Estimate) -> str:
    if one.low is None or one.high is None:
        return ""
    return f"[{number(one.low, places(one))},{NO_BREAK}{number(one.high, places(one))}]"


def distance(one: Estimate) -> str:
    """How far from the ideal, and on which side: what may be ranked, where the value itself may not."""
    if one.value is None or one.ideal is None:
        return ""
    away = number(abs(one.value - one.ideal), places(one))
    if not float(away.replace(",", "")):
        return "at the ideal"
    return f"{away}{NO_BREAK}{'above' if one.value > one.ideal else 'below'}"


def ideal(one: Estimate) -> str:
    return "none" if one.ideal is None else f"{one.ideal:g}"


def p_value(p: float) -> str:
    return (
        f"p{NO_BREAK}<{NO_BREAK}0.001"
        if p < 0.001
        else f"p{NO_BREAK}={NO_BREAK}{p:.{3 if p < 0.1 else 2}f}"
    )


def adjusted(one: Estimate) -> str:
    """p after Holm, and over how many tests."""
    if one.p_adjusted is None:
        return "not tested"
    tests = "one test" if one.tests == 1 else f"Holm over {one.tests}"
    return f"{p_value(one.p_adjusted)} ({tests})"


def used(one: Estimate) -> str:
    return f"{one.n:,} of {one.asked:,}"


def verdict(one: Estimate) -> str:
    """What the test says, or why there is nothing to say."""
    return one.why or one.verdict or "not tested"


def significant(figure: float, digits: int = 4) -> float:
    return float(f"{figure:.{digits}g}")


def count(number_of: int, noun: str, many: str | None = None) -> str:
    return f"{number_of:,} {noun if number_of == 1 else many or noun + 's'}"


def listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


SMALL = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def spelled(number_of: int) -> str:
    return SMALL[number_of] if number_of < len(SMALL) else str(number_of)
