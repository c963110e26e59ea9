"""Traits that emerge where two groups meet.

A pair's score is above the larger, or below the smaller, of its parts'. What a pair has in common
over all adjectives says nothing of any of them (longer phrases score higher), so its differences
from a part are centred, within each template. The test is against each part by itself, and both
must be beaten: were the pair no further than a part, the sign of their difference in each template
would be a matter of chance. The larger of the two p counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stereometer.benchmarks.abc.traits import POLES
from stereometer.findings.intersect.crossing import Crossing
from stereometer.shapes.intersection import ENUMERABLE, FLIPS
from stereometer.stats.intervals import Floats
from stereometer.stats.joint import every_sign
from stereometer.stats.means import NO_SPREAD
from stereometer.stats.tests import false_discovery
from stereometer.types import Settings

CELLS = 2048
"""Cells tested at once."""
DIRECTIONS = ("above", "below")


@dataclass(frozen=True)
class Emergent:
    """A pair and an adjective, and how far the pair is beyond its parts."""

    pair: int
    trait: int
    pole: int
    direction: str
    templates: int
    increase: float
    """Positive where the pair is beyond both parts, as the paper counts it."""
    part: float
    """The larger part's score (`above`), or the smaller part's (`below`)."""
    centred: float
    """The increase beyond what the pair's adjectives have in common."""
    low: float
    high: float
    """Of the centred increase, over templates; not a number where those all agree."""
    p: float
    q: float
    """p with the false-discovery rate controlled over all cells of the direction."""


def emergent(
    table: Crossing, direction: str, settings: Settings, rng: np.random.Generator
) -> list[Emergent]:
    """Every pair and adjective with a score in every template, the smallest q first."""
    sign = 1.0 if direction == "above" else -1.0
    raw = [sign * difference for difference in differences(table)]
    centred = [centre(difference) for difference in raw]
    flat = [cells.reshape(len(cells), -1) for cells in (*raw, *centred)]
    keep = ~np.isnan(np.stack(flat)).any(axis=(0, 1))
    places = np.flatnonzero(keep)
    if not places.size:
        return []
    *raw, first, second = (cells[:, keep] for cells in flat)
    p = beyond_both_p(first, second, rng)
    # The larger, or smaller, of the parts' means over templates.
    means = [table.single[:, table.parts[:, side]].mean(axis=0) for side in (0, 1)]
    nearer: Floats = (np.maximum if direction == "above" else np.minimum)(*means)
    columns = {
        "increase": np.minimum(*(cells.mean(axis=0) for cells in raw)),
        "part": nearer.reshape(-1)[keep],
        "centred": np.minimum(first.mean(axis=0), second.mean(axis=0)),
        **_interval(first, second, settings.level),
        "p": p,
        "q": false_discovery(p),
    }
    shape = len(table.pairs), len(table.traits), len(POLES)
    pairs, traits, poles = np.unravel_index(places, shape)
    numbers = np.stack(list(columns.values()), axis=-1).tolist()
    cells = [
        Emergent(int(pair), int(trait), int(pole), direction, len(first), *row)
        for pair, trait, pole, row in zip(pairs, traits, poles, numbers, strict=True)
    ]
    return sorted(cells, key=lambda cell: (cell.q, -cell.centred))


def differences(table: Crossing) -> list[Floats]:
    """The pair less its first and less its second part: templates x pairs x traits x poles."""
    return [table.paired - table.single[:, table.parts[:, side]] for side in (0, 1)]


def centre(cells: Floats) -> Floats:
    """Without what a pair has in common over all adjectives in a template."""
    there = ~np.isnan(cells)
    with np.errstate(invalid="ignore"):
        common = np.where(there, cells, 0.0).sum(axis=(2, 3)) / there.sum(axis=(2, 3))
    centred: Floats = cells - common[:, :, None, None]
    return centred


def _interval(first: Floats, second: Floats, level: float) -> dict[str, Floats]:
    """Of the smaller of two means over templates: the smaller of their Student's limits."""
    from scipy.special import stdtrit

    n = len(first)
    if n < 2:
        nothing = np.full(first.shape[1], np.nan)
        return {"low": nothing, "high": nothing}
    means = np.stack([first.mean(axis=0), second.mean(axis=0)])
    errors = np.stack([first.std(axis=0, ddof=1), second.std(axis=0, ddof=1)]) / np.sqrt(n)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * np.where(errors > NO_SPREAD, errors, np.nan)
    return {"low": (means - half).min(axis=0), "high": (means + half).min(axis=0)}


def beyond_both_p(first: Floats, second: Floats, rng: np.random.Generator) -> Floats:
    """One-sided p of each column (rows are templates) that both differences are above 0."""
    signs = _signs(len(first), rng)
    return np.maximum(sign_flip_p(first, signs), sign_flip_p(second, signs))


def sign_flip_p(differences: Floats, signs: Floats) -> Floats:
    """How often each column's sum is reached when the signs of its rows are chosen by chance."""
    p = np.empty(differences.shape[1])
    for start in range(0, differences.shape[1], CELLS):
        cells = differences[:, start : start + CELLS]
        reached = cells.sum(axis=0) - 1e-9
        p[start : start + CELLS] = (signs @ cells >= reached).mean(axis=0)
    return p


def _signs(templates: int, rng: np.random.Generator) -> Floats:
    """Every choice of signs, or the true one and others drawn at random."""
    if templates <= ENUMERABLE:
        return every_sign(templates)
    return np.concatenate(
        [np.ones((1, templates)), rng.choice([1.0, -1.0], size=(FLIPS, templates))]
    )
