"""The fake model's formula worked out by hand, and what binds a measure to a model in tests."""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

from stereometer.core import catalog
from stereometer.core.types import Backend, Encoding, Measure
from stereometer.models.baselines.fake import Fake

FAKE = Fake()


def word(text: str) -> int:
    return crc32(text.encode()) & 0xFFFF


def logprob(token: int, *seen: int) -> float:
    """The formula in the docstring of the fake model."""
    return -(1 + (token + sum(seen)) % 97 / 10)


def masked(words: list[str], positions: list[int]) -> float:
    """Each position scored with only itself hidden: it sees both neighbours."""
    ids = [word(one) for one in words]
    return sum(
        logprob(ids[at], *[ids[near] for near in (at - 1, at + 1) if 0 <= near < len(ids)])
        for at in positions
    )


def causal(words: list[str], start: int = 0) -> list[float]:
    ids = [word(one) for one in words]
    return [logprob(ids[at], *ids[at - 1 : at] if at else []) for at in range(start, len(ids))]


def scores(measure: Measure, item: object, backend: Backend = FAKE) -> dict[str, float]:
    plan = measure.plan(item)
    answers = {request.key: request for asked in plan.values() for request in asked}
    given = dict(backend.answer(answers))
    exchanged = {
        name: [(request, given[request.key]) for request in asked] for name, asked in plan.items()
    }
    return dict(measure.score(item, exchanged).values)


class Only(Fake):
    """The fake model with fewer abilities."""

    def __init__(self, *kinds: str) -> None:
        super().__init__()
        self.abilities = replace(self.abilities, kinds=frozenset(kinds))


class Framed(Only):
    """With a mark before each text and another after it, as most real tokenizers have."""

    def encode(self, text: str, second: str | None = None) -> Encoding:
        inner = FAKE.encode(text, second)
        segments, parts = (
            ((0, *inner.segments, 1), (False, *inner.second, False))
            if second is not None
            else ((), ())
        )
        return Encoding(
            (1, *inner.ids, 2),
            ((0, 0), *inner.offsets, (0, 0)),
            (None, *inner.words, None),
            segments,
            parts,
        )


def bound(name: str, backend: Backend = FAKE, variant: str = "sound", **options: bool) -> Measure:
    method = catalog.find("method", name)
    measure: Measure = method.bind(backend, variant, method.options(**options))
    return measure
