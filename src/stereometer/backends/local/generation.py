"""Text written by causal models: prompts that begin alike computed once, many repeats for the price of their differences.

Prompts are grouped by a common beginning, whose keys and values are made once. Repeats of a prompt share its state until they
choose different tokens: what is computed is one row for each distinct text so far, not one for each repeat. Tokens are drawn in
float64 from logits rounded to 1e-4, with numbers that depend on the request alone, so that company and order change nothing.
"""

from __future__ import annotations

import logging
from array import array
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from itertools import takewhile
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from stereometer.backends.local.forward import Split
from stereometer.backends.local.memory import shrinking
from stereometer.backends.local.tokens import Tokens
from stereometer.errors import ModelError
from stereometer.types import TOO_LONG, Answer, Generate, Skip

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
"""On the logits after a prompt, as a share of the largest, between the shared computation and the plain one."""

Ids = tuple[int, ...]


def uniform(key: str, step: int) -> float:
    """The number in [0, 1) that decides a token: of the request and the place in its text, and of nothing else."""
    return int.from_bytes(sha256(f"{key}:{step}".encode()).digest()[:8], "big") / 2**64


class Draw:
    """One row of logits, rounded, from which any number of requests draw."""

    def __init__(self, logits: NDArray[np.float64]) -> None:
        self.logits = np.round(logits, DECIMALS)
        self._sums: dict[float, NDArray[np.float64]] = {}

    def token(self, temperature: float, number: float) -> int:
        """The likeliest token at temperature 0 (the first of equals), otherwise the one whose share holds the number."""
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
    asked: Mapping[str, Generate]

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Text:
    """What some requests have written so far, all of them the same."""

    asked: Mapping[str, Generate]
    written: Ids = ()
    logprobs: tuple[float, ...] = ()


@dataclass(frozen=True)
class State:
    """Keys and values of some rows, which of their positions count, and how long each text is."""

    cache: Any
    mask: Tensor
    lengths: Tensor

    def rows(self, chosen: Sequence[int]) -> State:
        """Some rows, or some of them several times; the original stays as it is."""
        index = torch.tensor(list(chosen), device=self.mask.device)
        cache = copy(self.cache)
        cache.layers = [copy(layer) for layer in self.cache.layers]
        cache.batch_select_indices(index)
        return State(cache, self.mask[index], self.lengths[index])


@dataclass
class Writer:
    """Answers Generate requests with one loaded model."""

    split: Split
    tokens: Tokens
    rows: int = ROWS
    shared: bool = field(default=True, init=False)
    """Whether keys and values can be kept and shared, as far as prompts have shown."""
    proven: int = field(default=0, init=False)
    """Prompts up to this length have shown it."""

    def answer(self, requests: Mapping[str, Generate]) -> Iterator[tuple[str, Answer]]:
        by_ids: dict[Ids, dict[str, Generate]] = {}
        for key, request in requests.items():
            ids = self._fitting(request)
            if ids is None:
                yield key, Answer((), "", TOO_LONG)
            else:
                by_ids.setdefault(ids, {})[key] = request
        prompts = [Prompt(ids, asked) for ids, asked in by_ids.items()]
        for beginning, group in families(prompts):
            for batch in batches(group, len(beginning), self.rows):
                for part in shrinking(batch, partial(self._write, beginning)):
                    yield from part

    def ids(self, request: Generate) -> Ids:
        """The prompt as the model reads it: raw text after its first-token mark, or messages through its chat template."""
        if not request.messages:
            return self.tokens.encode(request.prompt).ids
        messages = [{"role": role, "content": content} for role, content in request.messages]
        try:
            text = self.tokens.tokenizer.apply_chat_template(
                messages, add_generation_prompt=True, tokenize=False
            )
        except Exception as error:  # templates are programs: each has errors of its own
            raise ModelError(
                f"The model's chat template cannot be used: {str(error)[:200]}. It may have none, or not know these roles. Ask without --chat, or without a system prompt."
            ) from None
        return tuple(self.tokens.tokenizer(text, add_special_tokens=False)["input_ids"])

    def _fitting(self, request: Generate) -> Ids | None:
        try:
            ids = self.ids(request)
        except Skip:
            return None
        return ids if ids and len(ids) + request.max_tokens <= self.tokens.window else None

    # ------------------------------------------------------------------------------------------ writing

    @torch.inference_mode()
    def _write(self, beginning: Ids, batch: Sequence[Prompt]) -> list[tuple[str, Answer]]:
        texts = [Text(prompt.asked) for prompt in batch]
        if self._can_share(batch):
            return list(self._grown(*self._begun(beginning, batch), texts))
        return [answer for prompt in batch for answer in self._alone(prompt)]

    def _can_share(self, batch: Sequence[Prompt]) -> bool:
        """Whether the longest and the shortest prompt come out as they do by themselves; longer ones than before show it anew."""
        longest = max(map(len, batch))
        if self.shared and longest > self.proven:
            some = sorted(batch, key=len)[:: max(1, len(batch) - 1)][:2]
            try:
                error = self._difference(some)
                LOG.info("shared prompts differ by %.2g from plain ones", error)
                self.shared = error < TOLERANCE
            except Exception as problem:  # no cache, or one of another kind
                LOG.info("prompts cannot be shared: %s", problem)
                self.shared = False
            self.proven = longest
        return self.shared

    def _difference(self, some: Sequence[Prompt]) -> float:
        """Of the logits after some prompts and after one token more, shared and plain, as a share of the largest."""
        state, after = self._begun(
            _common([prompt.ids for prompt in some])[: min(map(len, some)) // 2], some
        )
        _, later = self._step(state, [prompt.ids[-1] for prompt in some])
        longer = [(*prompt.ids, prompt.ids[-1]) for prompt in some]
        plain = torch.stack(
            [self._plain(ids) for ids in (*(prompt.ids for prompt in some), *longer)]
        )
        return float(
            (torch.cat([after, later]) - plain).abs().max() / plain.abs().max().clamp(min=1.0)
        )

    def _begun(self, beginning: Ids, batch: Sequence[Prompt]) -> tuple[State, Tensor]:
        """The state after every prompt, and the logits of what comes next."""
        from transformers import DynamicCache

        cache = DynamicCache(config=self.split.model.config)
        start = len(beginning)
        if start:
            self._trunk(
                cache,
                torch.tensor([beginning]),
                torch.ones(1, start, dtype=torch.long),
                torch.arange(start).unsqueeze(0),
            )
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
        lengths = torch.tensor([len(prompt) for prompt in batch])
        return State(cache, mask, lengths), self.split.head(
            states[torch.arange(len(batch)), last]
        ).float()

    def _step(self, state: State, chosen: Sequence[int]) -> tuple[State, Tensor]:
        """One token more for every row."""
        mask = torch.cat([state.mask, torch.ones(len(chosen), 1, dtype=torch.long)], dim=1)
        states = self._trunk(
            state.cache, torch.tensor(list(chosen)).unsqueeze(1), mask, state.lengths.unsqueeze(1)
        )
        return State(state.cache, mask, state.lengths + 1), self.split.head(states[:, -1]).float()

    def _trunk(self, cache: Any, ids: Tensor, mask: Tensor, positions: Tensor) -> Tensor:
        device = self.split.device
        told = {"attention_mask": mask, "position_ids": positions}
        known = {name: value.to(device) for name, value in told.items() if name in self.split.takes}
        return self.split.trunk(
            input_ids=ids.to(device), past_key_values=cache, use_cache=True, **known
        )

    def _grown(
        self, state: State, logits: Tensor, texts: Sequence[Text]
    ) -> Iterator[tuple[str, Answer]]:
        """Every text to its end: rows whose requests part ways become several, some at a time where they are many.

        A state is let go as soon as the last of its rows has been copied: two at a time, and one more for each part that waits.
        """
        waiting: list[tuple[State, Sequence[tuple[int, Text, int]]]] = []
        while True:
            following: list[tuple[int, Text, int]] = []
            for row, (text, scores) in enumerate(
                zip(texts, logits.double().cpu().numpy(), strict=True)
            ):
                for token, longer in self._drawn(text, Draw(scores)):
                    ended = {
                        key: self._ended(request, longer, token)
                        for key, request in longer.asked.items()
                    }
                    yield from (
                        (key, answer) for key, answer in ended.items() if answer is not None
                    )
                    open_ = {
                        key: request for key, request in longer.asked.items() if ended[key] is None
                    }
                    if open_:
                        following.append((row, Text(open_, longer.written, longer.logprobs), token))
            waiting += [
                (state, following[start : start + self.rows])
                for start in range(0, len(following), self.rows)
            ]
            if not waiting:
                return
            state, some = waiting.pop()
            state, logits = self._step(
                state.rows([row for row, _, _ in some]), [token for *_, token in some]
            )
            texts = [text for _, text, _ in some]

    def _drawn(self, text: Text, draw: Draw) -> Iterator[tuple[int, Text]]:
        """The tokens that the requests of one text choose, each with those that chose it."""
        chosen: dict[int, dict[str, Generate]] = {}
        for key, request in text.asked.items():
            token = draw.token(request.temperature, uniform(request.key, len(text.written)))
            chosen.setdefault(token, {})[key] = request
        for token, asked in chosen.items():
            yield token, Text(asked, (*text.written, token), (*text.logprobs, draw.logprob(token)))

    def _ended(self, request: Generate, text: Text, token: int) -> Answer | None:
        """The answer, where the model ended, a stop string came, or the most tokens are written."""
        row = ({"logprob": array("d", text.logprobs)},)
        if token in self._ends:
            return Answer(row, _decoded(self.tokens.tokenizer, text.written[:-1]), "stop")
        written = _decoded(self.tokens.tokenizer, text.written)
        places = [written.find(stop) for stop in request.stop if stop in written]
        if places:
            return Answer(row, written[: min(places)], "stop")
        return Answer(row, written, "length") if len(text.written) >= request.max_tokens else None

    @property
    def _ends(self) -> frozenset[int]:
        """The tokens that end a text, as the model and its tokenizer name them."""
        named = getattr(getattr(self.split.model, "generation_config", None), "eos_token_id", None)
        found = [named] if isinstance(named, int) else list(named or [])
        return frozenset(
            [
                *found,
                *(
                    [self.tokens.tokenizer.eos_token_id]
                    if self.tokens.tokenizer.eos_token_id is not None
                    else []
                ),
            ]
        )

    # -------------------------------------------------------------------------------------- without a cache

    def _alone(self, prompt: Prompt) -> Iterator[tuple[str, Answer]]:
        """One prompt after the other, computed anew for every token."""
        waiting = [Text(prompt.asked)]
        while waiting:
            text = waiting.pop()
            for token, longer in self._drawn(
                text, Draw(self._plain((*prompt.ids, *text.written)).double().cpu().numpy())
            ):
                ended = {
                    key: self._ended(request, longer, token)
                    for key, request in longer.asked.items()
                }
                yield from ((key, answer) for key, answer in ended.items() if answer is not None)
                open_ = {
                    key: request for key, request in longer.asked.items() if ended[key] is None
                }
                waiting += [Text(open_, longer.written, longer.logprobs)] if open_ else []

    def _plain(self, ids: Ids) -> Tensor:
        states = self.split.trunk(
            input_ids=torch.tensor([ids]).to(self.split.device), use_cache=False
        )
        return self.split.head(states[0, -1:])[0].float()


def template_of(tokenizer: Any) -> str:
    """The chat template that a tokenizer brings, by digest; empty where it has none."""
    found = getattr(tokenizer, "chat_template", None)
    return (
        f"the tokenizer's own, sha256 {sha256(str(found).encode()).hexdigest()[:16]}"
        if found
        else ""
    )


def _decoded(tokenizer: Any, ids: Ids) -> str:
    return str(
        tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)
    )


# ------------------------------------------------------------------------------------------- grouping


def _common(texts: Sequence[Ids]) -> Ids:
    first, last = min(texts), max(texts)
    return tuple(
        left
        for left, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    )


def families(prompts: Sequence[Prompt]) -> Iterator[tuple[Ids, list[Prompt]]]:
    """Prompts with the beginning they share, as long as sharing saves more than it costs; every prompt keeps a token of its own."""
    group: list[Prompt] = []
    shared: Ids = ()
    for prompt in sorted(prompts, key=lambda one: one.ids):
        together = _common([shared, prompt.ids[:-1]]) if group else prompt.ids[:-1]
        if group and _saved(len(together), len(group) + 1) < _saved(len(shared), len(group)):
            yield _worth(shared, group)
            group, together = [], prompt.ids[:-1]
        group.append(prompt)
        shared = together
    if group:
        yield _worth(shared, group)


def _saved(length: int, count: int) -> int:
    """Tokens that need not be computed again."""
    return length * (count - 1)


def _worth(shared: Ids, group: list[Prompt]) -> tuple[Ids, list[Prompt]]:
    return (shared if len(shared) >= WORTH_SHARING and len(group) > 1 else ()), group


def batches(group: Sequence[Prompt], shared: int, rows: int = ROWS) -> Iterator[list[Prompt]]:
    """Prompts of nearly one length, longest first, as many as may grow together."""
    batch: list[Prompt] = []
    for prompt in sorted(group, key=len, reverse=True):
        if batch and (
            len(batch) >= rows
            or (len(batch) + 1) * len(batch[0]) > CACHE_TOKENS
            or _uneven(prompt, batch[0], shared)
        ):
            yield batch
            batch = []
        batch.append(prompt)
    if batch:
        yield batch


def _uneven(prompt: Prompt, longest: Prompt, shared: int) -> bool:
    """Whether padding would cost more than starting anew."""
    return (len(prompt) - shared) * 2 < len(longest) - shared
