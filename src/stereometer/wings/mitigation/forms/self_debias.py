"""Self-Debias (Schick et al. 2021): what a prompt for the undesired makes likelier is held down.

p~(w) is proportional to alpha(D) p(w), with D = p(w given x) - p(w given prompt + x), and alpha = 1
where D >= 0, otherwise max(eps, exp(lambda D)). The weights stay as they are: every text goes
through the model twice, and both distributions over the whole vocabulary meet at each scored
position. On disk it is of the form `prompt`, which holds settings alone.
"""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import log
from typing import Any

import torch
from torch import Tensor

from stereometer.core.errors import ModelError
from stereometer.core.types import (
    HIDDEN,
    WORD_MASSES,
    Abilities,
    Answer,
    CausalTokens,
    Generate,
    MaskedBlank,
    MaskedTokens,
    NextTokens,
    Options,
)
from stereometer.models.local.batches import common, grouped
from stereometer.models.local.causal import Causal
from stereometer.models.local.forward import Targets, enough, slices
from stereometer.models.local.generation import Writer
from stereometer.models.local.language_model import (
    Answers,
    LanguageModel,
    Place,
    Values,
    Way,
    completed,
    placed,
)
from stereometer.models.local.masked import Masked
from stereometer.models.local.prompts import Ids
from stereometer.models.local.tokens import Tokens
from stereometer.wings.mitigation.forms.stored import Stored

# ---------------------------------------------------------------- a prompt before a text, in tokens

Asked = MaskedTokens | CausalTokens
"""Requests for tokens at positions of a text."""
LEAST = 8
"""Tokens of a text that must fit into the window after a prompt."""


@dataclass(frozen=True)
class Prefix:
    """Tokens before a text: whatever is asked of a text can be asked of it after a prompt.

    They stand after the tokens that open a text ([CLS], a first token). Tokens are joined, not
    texts, so that the text has the same tokens with and without them.
    """

    ids: tuple[int, ...]
    opening: tuple[int, ...]
    """What a text begins with before its first word."""

    def __len__(self) -> int:
        return len(self.ids)

    def before(self, request: Asked) -> Asked:
        """The question about the text after the prompt."""
        at = common(self.opening, request.ids)
        if isinstance(request, CausalTokens):
            at = min(at, request.start)
            return CausalTokens(self._insert(request.ids, at), request.start + len(self))
        steps = tuple(
            (tuple(self._shift(place, at) for place in hidden), self._shift(position, at))
            for hidden, position in request.steps
        )
        segments = request.segments
        if segments:
            kind = segments[min(at, len(segments) - 1)]
            segments = (*segments[:at], *[kind] * len(self), *segments[at:])
        return replace(request, ids=self._insert(request.ids, at), steps=steps, segments=segments)

    def _insert(self, ids: tuple[int, ...], at: int) -> tuple[int, ...]:
        return (*ids[:at], *self.ids, *ids[at:])

    def _shift(self, place: int, at: int) -> int:
        return place + len(self) if place >= at else place


def prefix_of(prompt: str, tokens: Tokens) -> Prefix:
    """A prompt on a line of its own: a word after it has the tokens of a text's first word."""
    written = f"{prompt.strip()}\n" if prompt.strip() else ""
    ids = tuple(tokens.tokenizer(written, add_special_tokens=False)["input_ids"]) if written else ()
    encoding = tokens.encode("a")
    first = next((at for at, word in enumerate(encoding.words) if word is not None), 0)
    if len(ids) + len(encoding.ids) + LEAST > tokens.window:
        raise ModelError(
            f"The prompt has {len(ids)} tokens, and the model takes {tokens.window} at once. No "
            "text would fit after it. Write a shorter prompt."
        )
    return Prefix(ids, encoding.ids[:first])


def context_of(request: MaskedTokens | CausalTokens | MaskedBlank | NextTokens, mask: int) -> Asked:
    """A request whose positions are those that another one asks about."""
    if isinstance(request, MaskedBlank):
        ids = tuple(mask if token == HIDDEN else token for token in request.ids)
        return MaskedTokens(ids, (((), request.position),), request.segments)
    if isinstance(request, NextTokens):
        return CausalTokens((*request.ids, request.ids[-1]), len(request.ids))
    return request


# ------------------------------------------------------------------------- the model in its wrapper

LOGIT_SIZE = 40
"""Bytes that a token of the vocabulary takes while two distributions are joined in float64."""
TOGETHER = 256
"""Requests whose states are held at once,"""
POSITIONS = 8192
"""as long as they ask about no more positions than these."""

Spot = tuple[int, int]
"""The rows of a position's states without the prompt and with it."""


@dataclass(frozen=True)
class Reweighting:
    """Names as in the paper, but for Python's `lambda`."""

    decay: float = 50.0
    """lambda: how fast a word's weight falls with what the prompt adds to its probability."""
    eps: float = 0.01
    """The least weight of a word."""

    def __call__(self, plain: Tensor, prompted: Tensor) -> Tensor:
        """Log-probabilities in float64, from logits without the prompt and with it."""
        scores = plain.double().log_softmax(-1)
        added = scores.exp() - prompted.double().log_softmax(-1).exp()
        weight = (self.decay * added.clamp_(max=0.0)).clamp_(min=log(self.eps))
        return (scores + weight).log_softmax(-1)


class SelfDebiased(LanguageModel):
    """A masked or causal model whose every probability is reweighted.

    Vectors of its states would be the base's, and so would SeT's distances, which are of the output
    matrix: neither is answered.
    """

    def __init__(self, base: LanguageModel, prompt: str, reweighting: Reweighting) -> None:
        if not isinstance(base, Masked | Causal):
            raise ModelError(
                f"Self-Debias puts a prompt before a text, and {base.checkpoint.name} is "
                f"{base.checkpoint.family}. Choose a masked or causal model."
            )
        super().__init__(base.checkpoint, tuple(base.notes))
        self.base = base
        self.added |= base.added
        self.prefix = prefix_of(prompt, base.tokens)
        self.tokens = replace(base.tokens, window=base.tokens.window - len(self.prefix))
        self.reweighting = reweighting
        self.prompt = prompt

    def ways(self) -> Mapping[str, Way]:
        if isinstance(self.base, Masked):
            return {MaskedTokens.kind: self._tokens, MaskedBlank.kind: self._blanks}
        writer = DebiasedWriter(
            self.split,
            self.base.tokens,
            prompt=self.prompt,
            reweighting=self.reweighting,
            **self.how_to_think,
        )
        return {
            CausalTokens.kind: self._tokens,
            NextTokens.kind: self._blanks,
            Generate.kind: writer.answer,
            Options.kind: writer.answer,
        }

    @property
    def abilities(self) -> Abilities:
        whole = super().abilities
        return replace(whole, columns=whole.columns & {WORD_MASSES})

    # ---------------------------------------------------------------------------------- answers

    def _tokens(self, requests: Mapping[str, Asked]) -> Answers:
        lengths = {key: len(_targets(request)) for key, request in requests.items()}
        for key in [key for key, length in lengths.items() if length <= 0]:
            del lengths[key]
            yield key, Answer(({"logprob": array("d")},))
        asking = {key: requests[key] for key in lengths}
        values = (part for group in _groups(asking) for part in self._values(group))
        yield from completed(lengths, values)

    def _values(self, requests: Mapping[str, Any]) -> Iterator[Values]:
        states, spots = self._states(requests)
        asked: dict[Spot, dict[int, list[Place]]] = {}
        for key, request in requests.items():
            for number, token in enumerate(_targets(request)):
                tokens = asked.setdefault(spots[key][number], {})
                tokens.setdefault(token, []).append((key, number))
        for part, scores in self._scores(states, list(asked)):
            wanted = list(asked.values())[part]
            rows = (scores[at, list(tokens)].tolist() for at, tokens in enumerate(wanted))
            yield placed(wanted, rows)

    def _blanks(self, requests: Mapping[str, MaskedBlank | NextTokens]) -> Answers:
        for group in _groups(requests):
            states, spots = self._states(group)
            keys, asked = list(group), list(group.values())
            for part, scores in self._scores(states, [spots[key][0] for key in keys]):
                rows = self.blanks.from_scores(scores, asked[part])
                yield from zip(keys[part], (Answer((row,)) for row in rows), strict=True)

    # ----------------------------------------------------------------------------------- states

    def _states(self, requests: Mapping[str, Any]) -> tuple[Tensor, dict[str, list[Spot]]]:
        """Rows of states, and for each request the rows of its positions."""
        mask = self.base.mask if isinstance(self.base, Masked) else 0
        plain = {key: context_of(request, mask) for key, request in requests.items()}
        both: dict[str, Any] = {f"plain {key}": context for key, context in plain.items()}
        both |= {f"after {key}": self.prefix.before(context) for key, context in plain.items()}
        if isinstance(self.base, Causal):
            self.base.layout(both)
        with kept_states(self.base) as kept:
            rows = {
                key: map(int, answer.column("logprob")) for key, answer in self.base.answer(both)
            }
        return torch.cat(kept), {
            key: list(zip(rows[f"plain {key}"], rows[f"after {key}"], strict=True)) for key in plain
        }

    @torch.inference_mode()
    def _scores(self, states: Tensor, spots: Sequence[Spot]) -> Iterator[tuple[slice, Tensor]]:
        """Log-probabilities of all tokens at some spots, in slices that may end in copies."""
        for part in slices(self.split, len(spots), LOGIT_SIZE):
            plain, after = (
                self.split.head(enough(states[list(rows)]))
                for rows in zip(*spots[part], strict=True)
            )
            yield part, self.reweighting(plain, after)


def _targets(request: Any) -> Sequence[int]:
    """The tokens whose probability is asked, in the order of the answer."""
    if isinstance(request, MaskedTokens):
        return [request.ids[position] for _, position in request.steps]
    return request.ids[request.start :] if isinstance(request, CausalTokens) else request.asked[:1]


def _groups(requests: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Requests whose states are held at once."""
    groups = grouped(
        requests.items(),
        lambda group, _: (
            len(group) >= TOGETHER or sum(len(_targets(asked)) for _, asked in group) > POSITIONS
        ),
    )
    return map(dict, groups)


@contextmanager
def kept_states(model: Masked | Causal) -> Iterator[list[Tensor]]:
    """A model's head steps aside: states are kept, and answers hold the numbers of their rows."""
    kept: list[Tensor] = []
    numbers = iter(range(2**53))

    def keep(rows: Tensor, targets: Targets) -> list[list[float]]:
        kept.append(rows)
        return [[float(next(numbers))] * len(tokens) for tokens in targets]

    own, model.head = model.head, keep
    try:
        yield kept
    finally:
        model.head = own


@dataclass
class DebiasedWriter(Writer):
    """Draws every token from the reweighted distribution; computed again for each of them.

    The prompt stands before a raw text, or at the beginning of the last message.
    """

    prompt: str = ""
    reweighting: Reweighting = field(default_factory=Reweighting)
    after: dict[Ids, Ids] = field(default_factory=dict, init=False)
    """From the tokens of a text to those after the prompt."""

    def __post_init__(self) -> None:
        self.shared = False

    def _fitting(self, request: Generate | Options) -> Ids | None:
        ids, after = super()._fitting(request), super()._fitting(self._with_prompt(request))
        if ids is None or after is None:
            return None
        self.after[ids] = after
        return ids

    def _with_prompt(self, request: Generate | Options) -> Generate | Options:
        prompt = f"{self.prompt.strip()}\n" if self.prompt.strip() else ""
        if not request.messages:
            return replace(request, prompt=prompt + request.prompt)
        *others, (role, content) = request.messages
        return replace(request, messages=(*others, (role, prompt + content)))

    def following(self, prompt: Ids, written: Ids) -> Tensor:
        plain = super().following(prompt, written)
        return self.reweighting(plain, super().following(self.after[prompt], written)).float()


# ------------------------------------------------------------------------------------ from settings


def apply_prompt(stored: Stored, base: LanguageModel) -> LanguageModel:
    """The model in its wrapper."""
    try:
        prompt, reweighting = read(stored.card.settings)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(
            f"{stored.path} cannot be used: {error}. Its numbers would not be those of "
            "Self-Debias. Make it again with `stereometer mitigate self-debias`."
        ) from None
    return SelfDebiased(base, prompt, reweighting)


def read(settings: Mapping[str, Any]) -> tuple[str, Reweighting]:
    """Raises ValueError for settings that change nothing or make no sense."""
    prompt = str(settings["prompt"])
    decay, eps = float(settings["lambda"]), float(settings["eps"])
    if not prompt.strip():
        raise ValueError("the prompt is empty, which changes nothing")
    if not 0 < decay < float("inf"):
        raise ValueError(f"--decay (lambda) is {decay:g} and must be above 0; at 0 nothing changes")
    if not 0 < eps < 1:
        raise ValueError(f"eps is {eps:g} and must lie between 0 and 1; at 1 nothing changes")
    return prompt, Reweighting(decay, eps)
