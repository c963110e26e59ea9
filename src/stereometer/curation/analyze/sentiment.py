"""Do people put stereotypes more negatively than their opposites? (Nadeem et al. 2021, section 4.4, Table 2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np

from stereometer.curation.analyze.items import CONTRAST, Kind, cluster_of, group_of
from stereometer.shapes.cat.metrics import FEW_TERMS
from stereometer.stats.clusters import clustered_mean
from stereometer.stats.intervals import Floats, generator, percentile
from stereometer.stats.tests import holm, mcnemar
from stereometer.types import Backend, Settings, WholeText

SAME = "not beyond noise"


@dataclass(frozen=True)
class Tone:
    """How many texts of a label sound negative, neutral and positive, in percent."""

    group: str
    label: str
    n: int
    negative: float
    neutral: float
    positive: float


@dataclass(frozen=True)
class Contrast:
    """Negative among stereotypes minus negative among their opposites, in points."""

    group: str
    n: int
    clusters: int
    difference: float
    low: float
    high: float
    test: str
    p: float
    p_adjusted: float = 1.0
    tests: int = 1
    verdict: str = SAME


@runtime_checkable
class Toned(Protocol):
    """A backend that says of itself what is negative, neutral and positive, as a classifier with more than two labels does."""

    toned_by: str

    def tones(self, texts: Iterable[str]) -> Mapping[str, int]: ...


def signs(items: Sequence[Kind], shape: str, backend: Backend) -> dict[str, list[int]]:
    """For each label the sentiment of each item's text: -1, 0 or 1."""
    labels = CONTRAST[shape]
    texts = dict.fromkeys(item.texts[label] for label in labels for item in items)
    found = backend.tones(texts) if isinstance(backend, Toned) else _by_sign(texts, backend)
    return {label: [found[item.texts[label]] for item in items] for label in labels}


def _by_sign(texts: Iterable[str], backend: Backend) -> dict[str, int]:
    """From a backend whose answers are above 0 for negative texts."""
    requests = {text: WholeText(text) for text in texts}
    return {
        text: -int(np.sign(answer.column("logprob")[0]))
        for text, answer in backend.answer(requests)
    }


def tones(items: Sequence[Kind], shape: str, found: Mapping[str, Sequence[int]]) -> list[Tone]:
    return [
        _tone(group, label, [found[label][at] for at in places])
        for group, places in _groups(items)
        for label in CONTRAST[shape]
    ]


def _tone(group: str, label: str, values: Sequence[int]) -> Tone:
    shares = [100 * values.count(sign) / len(values) for sign in (-1, 0, 1)]
    return Tone(group, label, len(values), *shares)


def _groups(items: Sequence[Kind]) -> Iterator[tuple[str, list[int]]]:
    """All, then each domain or bias type, with the places of its items."""
    yield "all", list(range(len(items)))
    for group in sorted({group_of(item) for item in items}):
        yield group, [at for at, item in enumerate(items) if group_of(item) == group]


def contrasts(
    items: Sequence[Kind], shape: str, found: Mapping[str, Sequence[int]], settings: Settings
) -> list[Contrast]:
    """Paired by item; all is a test of its own, the groups are corrected together."""
    first, second = (np.array(found[label]) < 0 for label in CONTRAST[shape])
    change = first.astype(np.float64) - second.astype(np.float64)
    clusters = [cluster_of(item) for item in items]
    made = [
        _contrast(group, change[places], [clusters[at] for at in places], shape, settings)
        for group, places in _groups(items)
    ]
    return [_judged(made[:1], settings.level)[0], *_judged(made[1:], settings.level)]


def _contrast(
    group: str, change: Floats, clusters: Sequence[str], shape: str, settings: Settings
) -> Contrast:
    """Difference, interval and test are all of the mean over items."""
    names = np.unique(clusters, return_inverse=True)[1]
    parts = [change[names == at] for at in range(int(names.max()) + 1)]
    counted, difference = (change.size, len(parts)), 100 * float(change.mean())
    if shape == "cat" and len(parts) >= FEW_TERMS:
        found = clustered_mean(parts, settings.level)
        return Contrast(
            group,
            *counted,
            difference,
            100 * found.low,
            100 * found.high,
            "t over terms, items weighing the same",
            found.p,
        )
    p = mcnemar(int((change > 0).sum()), int((change < 0).sum()))
    if shape == "pair":
        return Contrast(
            group, *counted, difference, *_drawn(group, [change], settings), "McNemar", p
        )
    return Contrast(
        group,
        *counted,
        difference,
        *_drawn(group, parts, settings),
        "sign flips of items, terms held fixed",
        p,
    )


def _drawn(group: str, parts: Sequence[Floats], settings: Settings) -> tuple[float, float]:
    """Over items drawn again within each part."""
    rng = generator(settings.seed, {"group": group}, "sentiment")
    total = np.zeros(settings.resamples)
    for part in parts:
        shares = np.array([(part == step).mean() for step in (-1, 0, 1)])
        total += rng.multinomial(part.size, shares, size=settings.resamples) @ np.array([-1, 0, 1])
    return percentile(100 * total / sum(part.size for part in parts), settings.level)


def _judged(found: Sequence[Contrast], level: float) -> list[Contrast]:
    adjusted = holm([one.p for one in found])
    return [
        replace(one, p_adjusted=p, tests=len(found), verdict=_verdict(one, p, level))
        for one, p in zip(found, adjusted, strict=True)
    ]


def _verdict(one: Contrast, p: float, level: float) -> str:
    if p >= 1 - level:
        return SAME
    return (
        "stereotypes sound more negative"
        if one.difference > 0
        else "stereotypes sound less negative"
    )
