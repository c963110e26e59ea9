"""SeT (Cao et al. 2022, section 3.1): how far an output matrix must move for a token to win. Exact.

With logits a = W x the least change of W that makes token t win by a margin g moves a_t up by u and
every other logit above a level tau down to it, where tau + g = a_t + u; a change of the logits by v
costs ||v|| / ||x||. Setting the derivative to zero, u = sum over the others of (a_i - tau)+, which
fixes tau. The paper prints no closed form and squishes columns in turns.

One sorted row of logits serves every token asked: the number of logits above tau is found by
bisection for each.
"""

from collections.abc import Sequence

import numpy as np

from stereometer.core.stats.intervals import Floats, Ints

FIRST_TOP = 256
"""Largest logits that are sorted at first; more only where a level lies below them."""


def set_distances(
    logits: Floats, targets: Sequence[int] | Ints, squared_norm: float, margin: float = 1.0
) -> Floats:
    """How far the output matrix is from the nearest that puts each target on top by `margin`.

    It is a Frobenius distance. `squared_norm` is x . x, where x is what the matrix is multiplied
    with: the state, and 1 where there is a bias.
    """
    row = np.asarray(logits, dtype=np.float64)
    at = np.asarray(targets, dtype=np.int64)
    row = row - row.max()  # nothing depends on the level, and small numbers lose fewer digits
    top = min(FIRST_TOP, row.size)
    while True:
        rest = row.size - top
        largest = np.sort(np.partition(row, rest)[rest:])[::-1]
        changes = _distances(largest, row[at], margin, whole=not rest)
        if changes is not None:
            return np.asarray(changes / np.sqrt(squared_norm))
        top = min(8 * top, row.size)


def _distances(ordered: Floats, own: Floats, margin: float, whole: bool) -> Floats | None:
    """Changes of the logits, from the largest, descending, and the targets'; None if those do not
    reach."""
    sums = np.concatenate([[0.0], np.cumsum(ordered)])
    count = np.arange(ordered.size)
    # Where all tokens may be above the level: sum (a_i - tau0)+ = margin, the target's own excess
    # among them.
    shared_step = sums[:-1] - count * ordered
    shared = int(np.searchsorted(shared_step, margin))
    level = (sums[shared] - margin) / shared
    # Where the target is below it: k others above tau = (S_k + a_t - margin) / (k + 1).
    step = sums[:-1] - (count + 1) * ordered
    above = np.searchsorted(step, margin - own)
    if not whole and max(shared, int(above.max(initial=0))) >= ordered.size:
        return None
    high = own >= level
    others = np.where(high, 0, above)
    taus = np.where(high, level, (sums[others] + own - margin) / (others + 1))
    return np.array(
        [
            _distance(ordered, float(tau), float(mine), margin, bool(at))
            for tau, mine, at in zip(taus, own, high, strict=True)
        ]
    )


def _distance(ordered: Floats, tau: float, own: float, margin: float, high: bool) -> float:
    """Of one target, summed from what is moved: nothing cancels."""
    excess = ordered[: np.searchsorted(-ordered, -tau)] - tau
    if high and own > tau:
        excess = np.delete(excess, np.searchsorted(-ordered, -own))
    up = tau + margin - own
    if (
        excess.size == 0
        and (ordered[1] if ordered[0] == own and ordered.size > 1 else ordered[0]) <= own - margin
    ):
        return 0.0
    return float(np.sqrt(up * up + np.dot(excess, excess)))
