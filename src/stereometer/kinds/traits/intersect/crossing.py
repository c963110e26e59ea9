"""Scores of groups and of pairs of groups, laid out for what Cao et al. 2022 (5.2) ask.

Traits that emerge where two groups meet.

A pair's score is above the larger, or below the smaller, of its parts'. What a pair has in common
over all adjectives says nothing of any of them (longer phrases score higher), so its differences
from a part are centred, within each template. The test is against each part by itself, and both
must be beaten: were the pair no further than a part, the sign of their difference in each template
would be a matter of chance. The larger of the two p counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from stereometer.core.stats.intervals import Floats, resampled_clusters
from stereometer.core.stats.joint import every_sign
from stereometer.core.stats.means import NO_SPREAD, known_means, weighted_means
from stereometer.core.stats.ranks import tau_rows
from stereometer.core.stats.tests import false_discovery
from stereometer.core.types import Score, Settings
from stereometer.kinds.traits.abc.files import POLES, SocialGroup, Trait
from stereometer.kinds.traits.intersect.shape import ENUMERABLE, FLIPS

CHUNK = 500
"""Resamples whose weights of pairs are held at once."""


@dataclass(frozen=True)
class Crossing:
    """Single groups, pairs of them, and what each template gives both."""

    groups: tuple[SocialGroup, ...]
    pairs: tuple[SocialGroup, ...]
    traits: tuple[Trait, ...]
    single: Floats
    """Templates x groups x traits x poles; NaN where there is no score."""
    paired: Floats
    """Templates x pairs x traits x poles."""

    @property
    def digest(self) -> str:
        """Of all scores."""
        return sha256(self.single.tobytes() + self.paired.tobytes()).hexdigest()

    @cached_property
    def parts(self) -> NDArray[np.intp]:
        """Of each pair, the places of its first and second part among the groups."""
        at = {group.name: index for index, group in enumerate(self.groups)}
        parts = [[at[part] for part in pair.parts] for pair in self.pairs]
        return np.array(parts, dtype=np.intp).reshape(-1, 2)

    @cached_property
    def reversed(self) -> NDArray[np.intp]:
        """Of each pair, the place of the same groups the other way round. -1 where grammar has
        none."""
        at = {pair.parts: index for index, pair in enumerate(self.pairs)}
        return np.array([at.get(pair.parts[::-1], -1) for pair in self.pairs], dtype=np.intp)

    @cached_property
    def profiles(self) -> tuple[Floats, Floats]:
        """Right pole less left, averaged over templates: of the groups and of the pairs."""
        single, paired = (np.diff(scores)[..., 0] for scores in (self.single, self.paired))
        return known_means(single, 0), known_means(paired, 0)

    @cached_property
    def taus(self) -> Floats:
        """Of each pair with its first and with its second part."""
        single, paired = self.profiles
        return np.stack([tau_rows(paired, single[self.parts[:, side]]) for side in (0, 1)], axis=-1)

    @cached_property
    def reversed_taus(self) -> Floats:
        """Of each pair with the same the other way round; NaN where there is none."""
        paired = self.profiles[1]
        taus = np.full(len(self.pairs), np.nan)
        both = np.flatnonzero(self.reversed >= 0)
        if both.size:
            taus[both] = tau_rows(paired[both], paired[self.reversed[both]])
        return taus


def crossing(
    scores: Iterable[Score],
    groups: Sequence[SocialGroup],
    pairs: Sequence[SocialGroup],
    traits: Sequence[Trait],
) -> Crossing:
    """From the scores of one run over groups and pairs."""
    rows = {group.name: index for index, group in enumerate((*groups, *pairs))}
    columns = {trait.name: index for index, trait in enumerate(traits)}
    tables: dict[str, Floats] = {}
    shape = len(rows), len(columns), len(POLES)
    for score in scores:
        table = tables.setdefault(score.slices["template"], np.full(shape, np.nan))
        if score.skipped is None:
            row, column = rows[score.slices["group"]], columns[score.slices["trait"]]
            table[row, column] = [score.values[pole] for pole in POLES]
    single, paired = np.split(np.stack(list(tables.values())), [len(groups)], axis=1)
    return Crossing(tuple(groups), tuple(pairs), tuple(traits), single, paired)


def resampled_means(
    table: Crossing, values: Mapping[str, Floats], resamples: int, rng: np.random.Generator
) -> dict[str, Floats]:
    """Means of values of the pairs, NaN left out, when groups are drawn again; NaN if undefined."""
    rows, (first, second), means = np.stack([*values.values()], axis=1), table.parts.T, []
    for start in range(0, resamples, CHUNK):
        drawn = resampled_clusters(len(table.groups), min(CHUNK, resamples - start), rng)
        # A pair weighs the product of what its parts weigh.
        means.append(weighted_means(rows, (drawn[:, first] * drawn[:, second]).astype(np.float64)))
    return dict(zip(values, np.concatenate(means).T, strict=True))


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
    centred: Floats = cells - known_means(cells, (2, 3))[:, :, None, None]
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
