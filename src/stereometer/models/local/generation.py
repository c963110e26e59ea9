"""Text written by causal models: common beginnings and equal repeats are computed once.

Prompts are grouped by a common beginning, whose keys and values are made once. Repeats of a prompt
share its state until they choose different tokens: what is computed is a row for each distinct text
so far, not one for each repeat. Tokens are drawn in float64 from logits rounded to 1e-4, with
numbers that depend on the request alone, so that company and order change nothing.
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import sha256
from itertools import groupby
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from stereometer.core.asking.options import held
from stereometer.core.types import NO_TOKEN, TOO_LONG, Answer, Generate, Options, Row
from stereometer.models.local.batches import common, each, grouped
from stereometer.models.local.forward import SplitModel
from stereometer.models.local.prompts import Asked, Ids, ReadsPrompts, Written
from stereometer.models.local.tokens import Tokens

LOG = logging.getLogger("stereometer")
DECIMALS = 4
"""Logits are rounded to this before a token is drawn."""
CACHE_TOKENS = 6144
"""Rows x positions whose keys and values are held at once."""
ROWS = 64
"""Texts that grow together."""
WORTH_SHARING = 8
"""Tokens that a common beginning must have to be computed apart."""
TOLERANCE = 1e-3
"""On the logits after a prompt, shared against plain, as a share of the largest."""


def uniform(key: str, step: int) -> float:
    """The number in [0, 1) that decides a token: it depends on the request and the step alone."""
    return int.from_bytes(sha256(f"{key}:{step}".encode()).digest()[:8], "big") / 2**64


class Draw:
    """One row of logits, rounded, from which any number of requests draw."""

    def __init__(self, logits: NDArray[np.float64]) -> None:
        self.logits = np.round(logits, DECIMALS)
        self._sums: dict[float, NDArray[np.float64]] = {}

    def token(self, temperature: float, number: float) -> int:
        """At temperature 0 the likeliest (the first of equals), else the one holding the number."""
        if temperature == 0:
            return int(self.logits.argmax())
        sums = self._sums.get(temperature)
        if sums is None:
            scaled = self.logits / temperature
            sums = self._sums[temperature] = np.cumsum(np.exp(scaled - scaled.max()))
        return min(int(np.searchsorted(sums, number * sums[-1], side="right")), sums.size - 1)

    def logprob(self, token: int) -> float:
        top = self.logits.max()
        return float(self.logits[token] - top - np.log(np.exp(self.logits - top).sum()))


@dataclass(frozen=True)
class Prompt:
    """Token ids and the requests that ask for what follows them."""

    ids: Ids
    asked: Asked

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def most(self) -> int:
        """Tokens that may be written after it."""
        return max(request.max_tokens for request in self.asked.values())


@dataclass(frozen=True)
class Draft:
    """What some requests have written so far, all of them the same."""

    asked: Asked
    written: Ids = ()
    logprobs: tuple[float, ...] = ()
    named: tuple[Row, ...] = ()
    """The likeliest tokens at each place, where they are asked for."""


@dataclass(frozen=True)
class State:
    """Keys and values of some rows, which of their positions count, and how long each text is."""

    cache: Any
    mask: Tensor
    lengths: Tensor

    def rows(self, chosen: Sequence[int]) -> State:
        """A copy with some rows, or some of them several times."""
        index = torch.tensor(chosen, device=self.mask.device)
        cache = copy(self.cache)
        cache.layers = [copy(layer) for layer in self.cache.layers]
        cache.batch_select_indices(index)
        return State(cache, self.mask[index], self.lengths[index])


@dataclass
class Writer(ReadsPrompts):
    """Answers Generate and Options requests with one loaded model."""

    split: SplitModel
    tokens: Tokens
    rows: int = ROWS
    room: int = 0
    thinking: bool = True
    shared: bool = field(default=True, init=False)
    """Whether keys and values can be kept and shared, as far as prompts have shown."""
    proven: int = field(default=0, init=False)
    """Prompts up to this length have shown it."""

    def answer(self, requests: Asked) -> Written:
        return self.heard(requests, self._answers)

    def _answers(self, requests: Asked) -> Written:
        by_ids: dict[Ids, dict[str, Generate | Options]] = {}
        for key, request in requests.items():
            ids = self._fitting(request)
            if ids is None:
                yield key, Answer((), "" if isinstance(request, Generate) else None, TOO_LONG)
            else:
                by_ids.setdefault(ids, {})[key] = request
        for beginning, group in families([Prompt(*pair) for pair in by_ids.items()]):
            write = partial(self._write, beginning)
            for part in each(batches(group, len(beginning), self.rows), write):
                yield from part

    # ---------------------------------------------------------------------------------- writing

    @torch.inference_mode()
    def _write(self, beginning: Ids, batch: Sequence[Prompt]) -> list[tuple[str, Answer]]:
        if not self._can_share(batch):
            return [answer for prompt in batch for answer in self._alone(prompt)]
        return [
            answer
            for part in self._level(batch)
            for answer in self._grown(
                *self._begun(beginning, part), [Draft(prompt.asked) for prompt in part]
            )
        ]

    def _level(self, batch: Sequence[Prompt]) -> list[list[Prompt]]:
        """Padding takes room in a sliding window: past it, only prompts of one length share one."""
        window = getattr(self.split.model.config.get_text_config(), "sliding_window", None)
        most = max(len(prompt) + prompt.most for prompt in batch)
        if not window or most <= window:
            return [list(batch)]
        return [list(part) for _, part in groupby(sorted(batch, key=len), len)]

    def _can_share(self, batch: Sequence[Prompt]) -> bool:
        """Whether the longest and the shortest come out as alone; longer ones show it again."""
        longest = max(map(len, batch))
        self.split.check_steady(max((prompt.ids for prompt in batch), key=len))
        if self.shared and longest > self.proven:
            ends = sorted(batch, key=len)[:: max(1, len(batch) - 1)][:2]
            try:
                error = self._difference(ends)
                LOG.info("shared prompts differ by %.2g from plain ones", error)
                self.shared = error < TOLERANCE
            except Exception as problem:  # no cache, or one of another kind
                LOG.info("prompts cannot be shared: %s", problem)
                self.shared = False
            self.proven = longest
        return self.shared

    def _difference(self, prompts: Sequence[Prompt]) -> float:
        """Between shared and plain logits after some prompts and after one token more."""
        ids = [prompt.ids for prompt in prompts]
        beginning = min(ids)[: min(common(min(ids), max(ids)), min(map(len, ids)) // 2)]
        state, after = self._begun(beginning, prompts)
        _, later = self._step(state, [text[-1] for text in ids])
        longer = [(*text, text[-1]) for text in ids]
        plain = torch.stack([self._plain(text) for text in (*ids, *longer)])
        error = (torch.cat([after, later]) - plain).abs().max()
        return float(error / plain.abs().max().clamp(min=1.0))

    def _begun(self, beginning: Ids, batch: Sequence[Prompt]) -> tuple[State, Tensor]:
        """The state after every prompt, and the logits of what comes next."""
        from transformers import DynamicCache

        cache = DynamicCache(config=self.split.model.config)
        start = len(beginning)
        if start:
            ids = torch.tensor([beginning])
            self._trunk(cache, ids, torch.ones_like(ids), torch.arange(start).unsqueeze(0))
            cache.batch_repeat_interleave(len(batch))
        rest = [prompt.ids[start:] for prompt in batch]
        longest = max(map(len, rest))
        ids = torch.zeros(len(batch), longest, dtype=torch.long)
        mask = torch.ones(len(batch), start + longest, dtype=torch.long)
        for row, tail in enumerate(rest):
            ids[row, : len(tail)] = torch.tensor(tail)
            mask[row, start + len(tail) :] = 0
        positions = (start + torch.arange(longest)).expand(len(batch), -1)
        states = self._trunk(cache, ids, mask, positions)
        last = torch.tensor([len(tail) - 1 for tail in rest])
        logits = self.split.head(states[torch.arange(len(batch)), last]).float()
        return State(cache, mask, torch.tensor([len(prompt) for prompt in batch])), logits

    def _step(self, state: State, chosen: Sequence[int]) -> tuple[State, Tensor]:
        """One token more for every row."""
        ids = torch.tensor(chosen).unsqueeze(1)
        mask = torch.cat([state.mask, torch.ones_like(ids)], dim=1)
        states = self._trunk(state.cache, ids, mask, state.lengths.unsqueeze(1))
        return State(state.cache, mask, state.lengths + 1), self.split.head(states[:, -1]).float()

    def _trunk(self, cache: Any, ids: Tensor, mask: Tensor, positions: Tensor) -> Tensor:
        device, inputs = self.split.device, {"attention_mask": mask, "position_ids": positions}
        taken = {name: part.to(device) for name, part in inputs.items() if name in self.split.takes}
        return self.split.trunk(
            input_ids=ids.to(device), past_key_values=cache, use_cache=True, **taken
        )

    def _grown(
        self, state: State, logits: Tensor, texts: Sequence[Draft]
    ) -> Iterator[tuple[str, Answer]]:
        """Every text to its end: rows whose requests part ways become several, taken in parts where
        they are many.

        A state is let go as soon as the last of its rows has been copied: two at a time, and one
        more for each part that waits.
        """
        waiting: list[tuple[State, Sequence[tuple[int, Draft]]]] = []
        while True:
            following: list[tuple[int, Draft]] = []
            for row, (text, scores) in enumerate(zip(texts, logits, strict=True)):
                ended, longer = self._drawn(text, scores)
                yield from ended
                following += [(row, text) for text in longer]
            waiting += [
                (state, following[start : start + self.rows])
                for start in range(0, len(following), self.rows)
            ]
            if not waiting:
                return
            state, part = waiting.pop()
            texts = [text for _, text in part]
            state = state.rows([row for row, _ in part])
            state, logits = self._step(state, [text.written[-1] for text in texts])

    def _alone(self, prompt: Prompt) -> Iterator[tuple[str, Answer]]:
        """Without a cache: computed again for every token."""
        waiting = [Draft(prompt.asked)]
        while waiting:
            text = waiting.pop()
            ended, longer = self._drawn(text, self.following(prompt.ids, text.written))
            yield from ended
            waiting += longer

    def following(self, prompt: Ids, written: Ids) -> Tensor:
        """Logits of the token after a prompt and what was written since."""
        return self._plain((*prompt, *written))

    def _plain(self, ids: Ids) -> Tensor:
        tokens = torch.tensor([ids]).to(self.split.device)
        states = self.split.trunk(input_ids=tokens, use_cache=False)
        return self.split.head(states[0, -1:])[0].float()

    # ---------------------------------------------------------------------------------- drawing

    def _drawn(self, text: Draft, logits: Tensor) -> tuple[list[tuple[str, Answer]], list[Draft]]:
        """A token more for every request of a text: answers that end with it, and longer texts."""
        exact = logits.double().cpu()
        answers = [
            (key, self._weighed(request, exact))
            for key, request in text.asked.items()
            if isinstance(request, Options)
        ]
        draw = Draw(exact.numpy())
        chosen: dict[int, dict[str, Generate]] = {}
        for key, request in text.asked.items():
            if isinstance(request, Generate):
                token = draw.token(request.temperature, uniform(request.key, len(text.written)))
                chosen.setdefault(token, {})[key] = request
        longer = []
        for token, asked in chosen.items():
            written = (*text.written, token)
            logprobs = (*text.logprobs, draw.logprob(token))
            most = max(request.top for request in asked.values())
            named = (*text.named, _likeliest(exact, most)) if most else text.named
            ended = {key: self._ended(request, written) for key, request in asked.items()}
            row = {"logprob": array("d", logprobs)}
            answers += [
                (key, Answer((row, *_cut(named, asked[key].top)), *end))
                for key, end in ended.items()
                if end is not None
            ]
            going_on = {key: request for key, request in asked.items() if ended[key] is None}
            if going_on:
                longer.append(Draft(going_on, written, logprobs, named))
        return answers, longer

    def _weighed(self, request: Options, logits: Tensor) -> Answer:
        """What each option holds of the probability of what comes next."""
        tokens = [self._spelled.get(option) for option in request.options]
        scores = logits.log_softmax(0)
        found = [float(scores[each].logsumexp(0)) for each in tokens if each]
        return held(found) if len(found) == len(tokens) else Answer((), end=NO_TOKEN)

    def _ended(self, request: Generate, ids: Ids) -> tuple[str, str] | None:
        """Text and reason, where the model ended, a stop string came, enough is written, or nobody
        waits for it."""
        if request.abandoned():
            return "", "abandoned"
        if ids[-1] in self._ends:
            return self._decoded(ids[:-1]), "stop"
        written = self._decoded(ids)
        places = [written.find(stop) for stop in request.stop if stop in written]
        if places:
            return written[: min(places)], "stop"
        return (written, "length") if len(ids) >= request.max_tokens else None

    @cached_property
    def _ends(self) -> frozenset[int]:
        """The tokens that end a text, as the model and its tokenizer name them."""
        named = getattr(getattr(self.split.model, "generation_config", None), "eos_token_id", None)
        ends = [named] if isinstance(named, int) else list(named or [])
        own = self.tokens.tokenizer.eos_token_id
        return frozenset(ends if own is None else [*ends, own])


def _likeliest(logits: Tensor, count: int) -> Row:
    """The likeliest tokens at one place."""
    values, tokens = logits.log_softmax(0).topk(min(count, len(logits)))
    return {"token": array("d", tokens.tolist()), "logprob": array("d", values.tolist())}


def _cut(named: Sequence[Row], count: int) -> tuple[Row, ...]:
    """The first of those at each place."""
    return tuple({name: row[name][:count] for name in row} for row in named) if count else ()


# ---------------------------------------------------------------------------------------- grouping


def families(prompts: Sequence[Prompt]) -> Iterator[tuple[Ids, list[Prompt]]]:
    """Prompts with the beginning they share, as long as sharing saves more than it costs; every
    prompt keeps a token of its own."""
    group: list[Prompt] = []
    shared: Ids = ()
    for prompt in sorted(prompts, key=lambda prompt: prompt.ids):
        inner = prompt.ids[:-1]
        together = shared[: common(shared, inner)] if group else inner
        if group and len(together) * len(group) < len(shared) * (len(group) - 1):
            yield _worth(shared, group)
            group, together = [], inner
        group.append(prompt)
        shared = together
    if group:
        yield _worth(shared, group)


def _worth(shared: Ids, group: list[Prompt]) -> tuple[Ids, list[Prompt]]:
    return (shared if len(shared) >= WORTH_SHARING and len(group) > 1 else ()), group


def batches(group: Sequence[Prompt], shared: int, rows: int = ROWS) -> Iterator[list[Prompt]]:
    """Prompts of nearly one length, longest first, as many as may grow together; a new batch begins
    where padding would cost more."""
    return grouped(
        sorted(group, key=len, reverse=True),
        lambda batch, prompt: (
            len(batch) >= rows
            or (len(batch) + 1) * len(batch[0]) > CACHE_TOKENS
            or (len(prompt) - shared) * 2 < len(batch[0]) - shared
        ),
    )
