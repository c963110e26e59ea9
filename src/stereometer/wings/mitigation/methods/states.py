"""States that a model's head reads where something is scored.

Of a sentence and its counterfactuals the same words are asked, none of which is a list word: a
masked model reads the state at the hidden word, a causal one that before it, after a list word.
"""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Self

import torch
from torch import Tensor

from stereometer.core.errors import DataError
from stereometer.core.methods.spans import scored_positions
from stereometer.core.runs.progress import Phases
from stereometer.core.types import Encoding, Skip, digest_of
from stereometer.models.local.batches import each
from stereometer.models.local.language_model import LanguageModel
from stereometer.models.local.masked import Masked
from stereometer.models.local.sentence_pairs import Features, Numbered, PairTokens
from stereometer.wings.mitigation.methods.sentences import LabelledSentence
from stereometer.wings.mitigation.swapping import WORD, Swaps
from stereometer.wings.training.fitting import kept_part

POSITIONS = {"masked": 2, "causal": 4}
"""Words asked in a sentence, by family: a masked model reads the sentence again for each."""
PART = 512
"""Texts whose states are read, and perhaps kept, together."""
Pool = Callable[[Tensor], Tensor]
"""From the states of a text at its positions to its rows."""


@dataclass(frozen=True)
class States:
    """Rows of states, whose they are."""

    rows: Tensor
    """In float64."""
    labels: Tensor
    """The number of the class."""
    sentences: Tensor
    """The number of the sentence; its versions share it."""

    def centred(self) -> Self:
        return replace(self, rows=self.rows - self.rows.mean(0))

    def differences(self) -> Tensor:
        """Of every row from the mean over the versions of its sentence and word."""
        classes = len(self.labels.unique())
        counts = self.sentences.unique_consecutive(return_counts=True)[1].tolist()
        parts = []
        for rows in self.rows.split(counts):
            versions = rows.view(classes, -1, rows.shape[1])
            parts.append((versions - versions.mean(0)).flatten(0, 1))
        return torch.cat(parts)


@dataclass(frozen=True)
class StateReader:
    backend: LanguageModel
    swaps: Swaps
    seed: int
    progress: Phases
    layer: int = 0
    """Whose output is read, from 1; 0 is the last, as the head reads it."""
    keep: Path | None = None
    """A folder in which states are kept, for going on after a kill and for other methods."""

    def scored(self, sentences: Sequence[LabelledSentence], purpose: str) -> States:
        """At scored positions, of every version of every sentence."""
        texts: list[PairTokens] = []
        marks: list[tuple[int, int]] = []
        for number, sentence in enumerate(sentences):
            try:
                versions = [list(self._positions(text)) for text in sentence.versions.values()]
            except Skip:
                continue
            for label, version in enumerate(versions):
                texts += version
                marks += [(label, number) for text in version for _ in text.first]
        labels, numbers = torch.tensor(marks, dtype=torch.long).reshape(-1, 2).T
        return States(self._rows(texts, purpose, _each), labels, numbers)

    def pooled(self, texts: Sequence[str], purpose: str) -> Tensor:
        """The mean over all tokens of each text, special ones too, as the papers' code reads it."""
        pairs = []
        for text in texts:
            encoding = self.backend.encode(text)
            everywhere = tuple(range(len(encoding.ids)))
            pairs.append(PairTokens(encoding.ids, encoding.segments, everywhere, ()))
        return self._rows(pairs, purpose, _mean)

    def reads(self, texts: Iterable[str]) -> bool:
        """Whether the model takes all of them."""
        try:
            return all(self.backend.encode(text).ids for text in texts)
        except Skip:
            return False

    def _rows(self, texts: Sequence[PairTokens], purpose: str, pool: Pool) -> Tensor:
        """Rows of all texts, from disk where a part is there already."""
        if not texts:
            raise DataError(
                f"No sentence is left to be read ({purpose}). All are longer than the model's "
                "window, or have no word that could be asked. Give another text or model."
            )
        rows = []
        for start in range(0, len(texts), PART):
            part = texts[start : start + PART]
            rows.append(self._load_or_make(part, pool))
            self.progress(f"states, {purpose}", min(start + PART, len(texts)), len(texts), "")
        return torch.cat(rows).double().cpu()

    def _load_or_make(self, part: Sequence[PairTokens], pool: Pool) -> Tensor:
        if self.keep is None:
            return self._part(part, pool)
        texts = [(text.ids, text.segments, text.first) for text in part]
        name = digest_of([self.backend.weights, self.layer, pool.__name__, texts])
        count = sum(len(pool(torch.zeros(len(text.first), 1))) for text in part)
        return kept_part(self.keep / f"{name[:32]}.npy", count, partial(self._part, part, pool))

    def _part(self, texts: Sequence[PairTokens], pool: Pool) -> Tensor:
        features = Features(self.backend, "mean", self.layer)

        @torch.inference_mode()
        def run(batch: list[Numbered]) -> list[tuple[int, Tensor]]:
            states = features.states([part.pair for part in batch])
            every = zip(batch, states, strict=True)
            return [(part.number, pool(own[list(part.pair.first)])) for part, own in every]

        rows = dict(pair for done in each(features.batches(texts), run) for pair in done)
        return torch.cat([rows[number] for number in range(len(texts))])

    def _positions(self, text: str) -> Iterator[PairTokens]:
        """The text as the model reads it, with the positions of its states."""
        encoding, masked = self.backend.encode(text), isinstance(self.backend, Masked)
        chosen = sorted(self._tokens(text, encoding, after=not masked))
        if isinstance(self.backend, Masked):
            for at in chosen:
                ids = list(encoding.ids)
                ids[at] = self.backend.mask
                yield PairTokens(tuple(ids), encoding.segments, (at,), ())
        else:
            before = tuple(at - 1 for at in chosen)
            yield PairTokens(encoding.ids, encoding.segments, before, ())

    def _tokens(self, text: str, encoding: Encoding, after: bool) -> Iterator[int]:
        """The first tokens of some words that are not list words: the same in every version, since
        these have the same other words in the same order."""
        spots = list(self.swaps.spots(text))
        places = (match.start() for match in WORD.finditer(text))
        words = [at for at in places if not any(spot.start <= at < spot.end for spot in spots)]
        first = sum(start < spots[0].start for start in words) if after else 0
        count = POSITIONS[self.backend.checkpoint.family]
        numbers = range(first, len(words))
        rng = random.Random(f"{self.seed} {len(words)} {first}")
        for number in rng.sample(numbers, min(count, len(numbers))):
            yield _token_at(words[number], encoding)
        if not numbers:
            raise Skip("no word is asked")


def _each(states: Tensor) -> Tensor:
    return states


def _mean(states: Tensor) -> Tensor:
    return states.mean(0, keepdim=True)


def _token_at(start: int, encoding: Encoding) -> int:
    """The first token that reaches beyond a place in the text."""
    at = next((at for at in scored_positions(encoding) if encoding.offsets[at][1] > start), 0)
    if at == 0:
        raise Skip("a word has no token")
    return at
