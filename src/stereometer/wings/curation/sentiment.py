"""Are stereotypes put more negatively than their opposites? (Nadeem et al. 2021, 4.4, Table 2)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from stereometer.core.shapes.sentences import SentenceItem, SentenceShape
from stereometer.core.shapes.verdicts import FEW_TERMS
from stereometer.core.stats.intervals import Floats, generator, percentile, wilson_percent
from stereometer.core.stats.means import PerUnit, effective
from stereometer.core.stats.tests import Said, corrected, mcnemar
from stereometer.core.types import Backend, Settings, WholeText

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
class ToneContrast:
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
    beyond_noise: bool = False


@runtime_checkable
class Toned(Protocol):
    """A backend that tells negative, neutral and positive, as a classifier of three labels does."""

    toned_by: str

    def tones(self, texts: Iterable[str]) -> Mapping[str, int]: ...


Signs = Mapping[str, Sequence[int]]
"""By candidate the sentiment of each item's text: -1, 0 or 1."""


def signs(items: Sequence[SentenceItem], shape: SentenceShape, backend: Backend) -> Signs:
    """Of the stereotyping candidate and the other one."""
    labels = shape.candidates[:2]
    texts = dict.fromkeys(item.texts[label] for label in labels for item in items)
    by_text = backend.tones(texts) if isinstance(backend, Toned) else _by_sign(texts, backend)
    return {label: [by_text[item.texts[label]] for item in items] for label in labels}


def _by_sign(texts: Iterable[str], backend: Backend) -> dict[str, int]:
    """From a backend whose answers are above 0 for negative texts."""
    requests = {text: WholeText(text) for text in texts}
    return {
        text: -int(np.sign(answer.column("logprob")[0]))
        for text, answer in backend.answer(requests)
    }


def tones(items: Sequence[SentenceItem], signs: Signs) -> list[Tone]:
    tones = []
    for domain, places in _domains(items):
        for label, by_item in signs.items():
            values = [by_item[at] for at in places]
            shares = [100 * values.count(sign) / len(values) for sign in (-1, 0, 1)]
            tones.append(Tone(domain, label, len(values), *shares))
    return tones


def _domains(items: Sequence[SentenceItem]) -> Iterator[tuple[str, list[int]]]:
    """All, then each domain or bias type, with the places of its items."""
    yield "all", list(range(len(items)))
    for domain in sorted({item.domain for item in items}):
        yield domain, [at for at, item in enumerate(items) if item.domain == domain]


def contrasts(
    items: Sequence[SentenceItem], shape: SentenceShape, signs: Signs, settings: Settings
) -> list[ToneContrast]:
    """Paired by item; all is a test of its own, the domains are corrected together."""
    first, second = (np.array(signs[label]) < 0 for label in shape.candidates[:2])
    change = first.astype(np.float64) - second.astype(np.float64)
    clusters = [item.term or item.id for item in items]
    contrasts = [
        _contrast(domain, change[places], [clusters[at] for at in places], shape, settings)
        for domain, places in _domains(items)
    ]

    def verdict(contrast: ToneContrast, p: float) -> Said:
        if p >= 1 - settings.level:
            return SAME, False
        return f"stereotypes sound {'more' if contrast.difference > 0 else 'less'} negative", True

    return [*corrected(contrasts[:1], verdict), *corrected(contrasts[1:], verdict)]


def _contrast(
    domain: str, change: Floats, clusters: Sequence[str], shape: SentenceShape, settings: Settings
) -> ToneContrast:
    """Difference, interval and test are all of the mean over items."""
    names = np.unique(clusters, return_inverse=True)[1]
    parts = [change[names == at] for at in range(int(names.max()) + 1)]
    p = mcnemar(int((change > 0).sum()), int((change < 0).sum()))
    per_unit = PerUnit.of(names, 100 * change)
    few = effective(per_unit.sizes) < FEW_TERMS
    mean = per_unit.mean if shape.has_terms and not few else None
    if mean and mean.has_spread:
        interval, p = mean.interval(settings.level), mean.p()
        test = "t over terms, items weighing the same"
    elif shape.has_terms:
        interval = _drawn(domain, parts, settings)
        test = f"sign flips of items, {'terms held fixed' if few else 'all terms agree'}"
    else:
        interval, test = _drawn(domain, [change], settings), "McNemar"
    difference = 100 * float(change.mean())
    return ToneContrast(domain, change.size, len(parts), difference, *interval, test, p)


def _drawn(domain: str, parts: Sequence[Floats], settings: Settings) -> tuple[float, float]:
    """Over items drawn again within each part."""
    rng = generator(settings.seed, {"group": domain}, "sentiment")
    total = np.zeros(settings.resamples)
    for part in parts:
        shares = np.array([(part == step).mean() for step in (-1, 0, 1)])
        total += rng.multinomial(part.size, shares, size=settings.resamples) @ np.array([-1, 0, 1])
    n = sum(part.size for part in parts)
    low, high = percentile(100 * total / n, settings.level)
    if low < high:
        return low, high
    room = 100 - wilson_percent(100, n, settings.level)[0]  # items that all agree are no certainty
    return max(-100.0, low - room), min(100.0, high + room)
