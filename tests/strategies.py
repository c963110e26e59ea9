"""Random scores, sentences, answers and tables. Values come from a coarse grid, so that ties are
common."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from stereometer.core.types import Answer, Score

MODERATE = settings(deadline=None, max_examples=40, database=None)
FEW = settings(deadline=None, max_examples=20, database=None)

# ------------------------------------------------------------------------------------------- scores

GRID = st.sampled_from([-3.0, -2.0, -1.0])
NUDGE = st.sampled_from([0.0, 4e-7, -4e-7, 3e-6])
"""Two nudges of the middle kind are a tie for `sound` and a difference for `paper`; the last is a
difference for both."""
VALUES = st.builds(lambda step, nudge: step + nudge, GRID, NUDGE)
DOMAINS = st.sampled_from(["age", "trade"])
TASKS = st.sampled_from(["intrasentence", "intersentence"])
ANSWERED = st.none()
REASONS = st.sampled_from([None, None, None, None, "token-boundary", "no score in the file"])


def cat_score(
    number: int,
    domain: str,
    term: int,
    task: str,
    values: Sequence[float],
    skipped: str | None = None,
) -> Score:
    """Every term belongs to one domain, as every target term of StereoSet does."""
    slices = {"task": task, "domain": domain, "target": f"{domain}-{term}"}
    named = dict(zip(("stereotype", "anti-stereotype", "unrelated"), values, strict=True))
    return Score(f"item-{number}", slices, {} if skipped else named, skipped)


def cat_scores(
    terms: int = 7, max_size: int = 40, reasons: st.SearchStrategy[str | None] = ANSWERED
) -> st.SearchStrategy[list[Score]]:
    """Scores over up to twice `terms` target terms (two domains)."""
    triples = st.tuples(VALUES, VALUES, VALUES)
    rows = st.tuples(DOMAINS, st.integers(1, terms), TASKS, triples, reasons)
    return st.lists(rows, min_size=1, max_size=max_size).map(
        lambda found: [cat_score(number, *row) for number, row in enumerate(found)]
    )


def pair_score(
    number: int,
    bias_type: str,
    direction: str | None,
    more: float,
    less: float,
    skipped: str | None = None,
) -> Score:
    slices = {"bias_type": bias_type} | ({"direction": direction} if direction else {})
    return Score(
        f"pair-{number}", slices, {} if skipped else {"sent_more": more, "sent_less": less}, skipped
    )


def pair_scores(
    max_size: int = 40, reasons: st.SearchStrategy[str | None] = ANSWERED
) -> st.SearchStrategy[list[Score]]:
    nudges = st.sampled_from([0.0, 4e-7, 3e-6, 3e-4, 2e-3])
    values = st.builds(lambda step, nudge: step + nudge, GRID, nudges)
    rows = st.tuples(
        st.sampled_from(["age", "height", "trade"]),
        st.sampled_from([None, "stereo", "antistereo"]),
        values,
        values,
        reasons,
    )
    return st.lists(rows, min_size=1, max_size=max_size).map(
        lambda found: [pair_score(number, *row) for number, row in enumerate(found)]
    )


# -------------------------------------------------------------------------------------------- words

WORDS = st.sampled_from(
    ["the", "baker", "don't", "well-known", "sang", "a", "song", "café", "42", "she", "quietly"]
)
SENTENCES = st.lists(WORDS, min_size=1, max_size=12).map(lambda words: " ".join(words) + ".")
TEXT = st.text(st.characters(codec="utf-8"), max_size=30)

# ------------------------------------------------------------------------------------------ answers

NUMBERS = st.floats(allow_nan=False, allow_infinity=True)
COLUMNS = st.lists(NUMBERS, max_size=6).map(lambda values: array("d", values))
ROWS = st.dictionaries(st.sampled_from(["logprob", "logodds", "mass", "ø"]), COLUMNS, max_size=3)
ANSWERS = st.lists(ROWS, max_size=4).map(lambda rows: Answer(tuple(rows)))

# ------------------------------------------------------------------------------------------- tables

FIELDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00\ufeff"), max_size=20)


def tables(columns: int) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(st.lists(FIELDS, min_size=columns, max_size=columns), max_size=8)


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
