"""The Ladder: what is published of a model that is submitted again and again."""

from __future__ import annotations

LEVEL = 0.01
"""That anything no better is ever published as better, however often somebody submits."""


def level_of(submission: int, level: float = LEVEL) -> float:
    """Of the test of the second, third ... submission: these sum to `level` over all of them.

    The Ladder (Blum and Hardt 2015) publishes a submitter's first value. A later one is published
    only where a paired test finds it better than the published one; otherwise that is repeated, and
    all that leaks is that the test did not reject. Their parameter-free form asks for one standard
    error, which a thousand random submissions pass a few times.
    """
    if submission < 2:
        raise ValueError("the first submission is not tested")
    return level / (submission * (submission - 1))


def climbs(p: float, nearer: bool, submission: int, level: float = LEVEL) -> bool:
    """Whether a submission takes the place of the published one: it is nearer to the ideal, and
    the paired test says so."""
    return nearer and p < level_of(submission, level)
