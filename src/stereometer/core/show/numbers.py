"""Numbers as text. A missing value is its reason, never a blank."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stereometer.core.types import Estimate, Slice

NO_BREAK = "\u00a0"


def number(value: float | None, digits: int = 1) -> str:
    if value is None:
        return "none"
    text = f"{value:,.{digits}f}"
    return text.replace("-", "−") if float(text.replace(",", "")) else text.lstrip("-")


def signed(value: float, digits: int = 1) -> str:
    text = number(value, digits)
    return text if value <= 0 or text == number(0.0, digits) else f"+{text}"


def value(estimate: Estimate, digits: int = 1) -> str:
    return "no score" if estimate.value is None else number(estimate.value, digits)


def span(low: float | None, high: float | None, digits: int = 1) -> str:
    if low is None or high is None:
        return ""
    return f"[{number(low, digits)},{NO_BREAK}{number(high, digits)}]"


def interval(estimate: Estimate, digits: int = 1) -> str:
    return span(estimate.low, estimate.high, digits)


def both(estimate: Estimate, digits: int = 1) -> str:
    """Value and interval."""
    return f"{value(estimate, digits)} {interval(estimate, digits)}".rstrip()


def spoken(estimate: Estimate, digits: int = 1) -> str:
    """Value and interval for those who hear them."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return f"no score, {estimate.why}" if estimate.value is None else value(estimate, digits)
    low, high = number(estimate.low, digits), number(estimate.high, digits)
    return f"{value(estimate, digits)}, from {low} to {high}"


def distance(estimate: Estimate, digits: int = 1) -> str:
    """How far from the ideal, on which side: what may be ranked, where the value itself may not."""
    if estimate.value is None or estimate.ideal is None:
        return ""
    away = number(abs(estimate.value - estimate.ideal), digits)
    if not float(away.replace(",", "")):
        return "at the ideal"
    return f"{away}{NO_BREAK}{'above' if estimate.value > estimate.ideal else 'below'}"


def ideal(estimate: Estimate) -> str:
    return "none" if estimate.ideal is None else f"{estimate.ideal:g}"


def p_value(p: float | None) -> str:
    if p is None:
        return ""
    if p < 0.001:
        return f"p{NO_BREAK}<{NO_BREAK}0.001"
    return f"p{NO_BREAK}={NO_BREAK}{p:.{3 if p < 0.1 else 2}f}"


def tests(count: int | None, correction: str | None) -> str:
    if count == 1:
        return "one test"
    how, _, over = (correction or "Holm over").partition(" over")
    return f"{how} over {count}{over}"


def adjusted(estimate: Estimate) -> str:
    """p after the correction, and over how many tests."""
    if estimate.p_adjusted is None:
        return "not tested"
    return f"{p_value(estimate.p_adjusted)} ({tests(estimate.tests, estimate.correction)})"


def used(estimate: Estimate) -> str:
    return f"{estimate.n:,} of {estimate.asked:,}"


def verdict(estimate: Estimate) -> str:
    """What the test says, or why there is nothing to say."""
    return estimate.why or estimate.verdict or "not tested"


def significant(value: float, digits: int = 4) -> float:
    return float(f"{value:.{digits}g}")


def share(value: float) -> str:
    return f"{value:.0%}".replace("%", f"{NO_BREAK}%")


def count(number_of: int, noun: str, many: str | None = None) -> str:
    return f"{number_of:,} {noun if number_of == 1 else many or noun + 's'}"


def duration(seconds: float) -> str:
    """As a person would say it: "18 s", "12 min", "1 h 44 min"."""
    if round(seconds) < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 3600:
        return f"{round(seconds / 60)} min"
    return f"{seconds // 3600:.0f} h {seconds % 3600 // 60:.0f} min"


def listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


SMALL = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def spelled(number_of: int) -> str:
    return SMALL[number_of] if number_of < len(SMALL) else str(number_of)


# ------------------------------------------------------------------------------- on the terminal


def slice_name(slice_: Slice) -> str:
    return " / ".join(slice_.values()) or "overall"


def headed(label: str, ideal: float | None) -> str:
    """A metric's name over its column."""
    return label if ideal is None else f"{label} (ideal {ideal:g})"


def with_interval(estimate: Estimate, digits: int = 1) -> str:
    """Value and interval; where ties leave it open, from where to where; or that there is none."""
    if estimate.value is None:
        return "none" if estimate.least is None else _bounds(estimate, digits)
    if estimate.low is None or estimate.high is None:
        return f"{estimate.value:.{digits}f}"
    return f"{estimate.value:.{digits}f} [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"


def _bounds(estimate: Estimate, digits: int = 1) -> str:
    return f"{number(estimate.least, digits)} to {number(estimate.most, digits)}"


def ties(estimate: Estimate) -> tuple[str, ...]:
    """How many, and what the score were if all of them were lost, or won."""
    many = count(estimate.ties, "tie")
    bounded = estimate.value is not None and estimate.least is not None
    return (f"{many}:", _bounds(estimate)) if bounded else (many,)


def missing(estimate: Estimate) -> tuple[str, ...]:
    """How many answers, and the interval whatever they had been."""
    if estimate.missing_low is None or estimate.missing_high is None:
        return ()
    low, high = number(estimate.missing_low), number(estimate.missing_high)
    return (f"{estimate.missing:,} unanswered:", f"[{low}, {high}]")


def short(estimate: Estimate) -> str:
    """The verdict without what it leaves possible; that ties leave no score is all there is."""
    if estimate.value is None:
        return "" if estimate.least is None else estimate.why or ""
    return re.sub(r": \S+ to \S+ all fit.*", "", estimate.verdict or "")


def says(estimate: Estimate) -> str:
    """The short verdict with its p."""
    if not estimate.verdict or estimate.p_adjusted is None:
        return short(estimate)
    return f"{short(estimate)} ({p_words(estimate.p_adjusted)})"


def signed_interval(value: float, low: float | None, high: float | None, digits: int = 1) -> str:
    """A number that may be on either side of 0, with its interval."""
    interval = "" if low is None or high is None else f" [{low:+.{digits}f}, {high:+.{digits}f}]"
    return f"{value:+.{digits}f}{interval}"


def p_words(p: float | None) -> str:
    """A p-value in a line of text."""
    return "" if p is None else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
