"""A causal model that vLLM runs: texts are read into tokens as those of any model of this machine
are, and vLLM gives the tokens their probabilities, and writes."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import exp, fsum, inf, log
from typing import Any

from stereometer.core.asking.options import held
from stereometer.core.types import (
    NO_TOKEN,
    ORIGIN,
    TOO_LONG,
    Abilities,
    Answer,
    CausalTokens,
    Encoding,
    Generate,
    ModelCard,
    NextTokens,
    Options,
    Request,
    Row,
)
from stereometer.models.local.files import COMMIT, tokenizer_digest
from stereometer.models.local.prompts import (
    Ids,
    ReadsPrompts,
    template_of,
    thinking_notes,
    thinking_settings,
)
from stereometer.models.local.tokens import canaries
from stereometer.models.local.unloaded import Unloaded
from stereometer.models.vllm.engine import (
    SCORED,
    SENTENCE,
    Asked,
    VllmEngine,
    keywords,
    logprobs,
    precision,
)
from stereometer.models.vllm.opener import VllmOptions

VERSION = "1"
BATCH = 64
"""Prompts that vLLM is given at once: their log-probabilities take memory until all are there."""
MOST_NAMED = 128
"""Tokens whose probability vLLM gives after one prompt."""
LONGEST = 4096
"""Tokens of a text, unless more are asked for: vLLM sets memory aside for texts of that length."""
OWN_NUMBERS = ("quantization", "kv_cache_dtype")
"""Options that make other numbers."""
Answers = Iterator[tuple[str, Answer]]


class Vllm(ReadsPrompts):
    """Starts no engine before something is asked."""

    def __init__(self, spec: str, model: Unloaded, options: VllmOptions) -> None:
        self.model = model
        self.options = options = replace(options, dtype=precision(options, model))
        self.room, self.thinking = options.room, options.thinking
        self.how_to_think: dict[str, Any] = {"room": self.room, "thinking": self.thinking}
        longest = options.max_model_len or min(LONGEST, model.window)
        self.tokens = model.tokens(min(model.window, longest - 1))  # it always writes a token
        self.spec = f"vllm:{spec}"
        known = model.tokens(model.window).encode(SENTENCE).ids[: longest - 1]
        self.engine = VllmEngine(spec, keywords(model, options, longest), known)
        self.ways: Mapping[str, Callable[[Mapping[str, Any]], Answers]] = {
            CausalTokens.kind: self.scored,
            NextTokens.kind: self.next_tokens,
            Generate.kind: self.written,
            Options.kind: self.weighed,
        }
        no_options = {Options.kind} if self.room and self.thinking else set[str]()
        self.abilities = Abilities(
            frozenset(self.ways.keys() - no_options),
            window=self.tokens.window,
            chat_template=template_of(model.tokenizer),
            **self.how_to_think,
            cautions=tuple(canaries(self.tokens)),
        )

    @cached_property
    def card(self) -> ModelCard:
        own = {name: getattr(self.options, name) for name in OWN_NUMBERS}
        template, digest = self.abilities.chat_template, self.model.digest
        thinks = self.how_to_think if template else {"room": 0, "thinking": True}
        return ModelCard(
            self.model.name,
            self.model.family,
            f"vllm@{VERSION}",
            digest,
            tokenizer_digest(self.model.tokenizer),
            self.options.dtype,
            {
                "parameters": self.model.structure.num_parameters(),
                **self.tokens.settings,
                **({ORIGIN: digest} if COMMIT.fullmatch(digest) else {}),
                **({"chat_template": template} if template else {}),
                **thinking_settings(**thinks),
                **{name: value for name, value in own.items() if value is not None},
            },
            (
                *self.model.notes,
                *thinking_notes(str(self.model.tokenizer.chat_template), **thinks),
                "Computed by vLLM.",
            ),
            self.spec,
        )

    def encode(self, text: str, second: str | None = None) -> Encoding:
        return self.tokens.encode(text, second)

    def decode(self, ids: Sequence[int]) -> str:
        return self.model.decode(ids)

    def answer(self, requests: Mapping[str, Request]) -> Answers:
        for kind, way in self.ways.items():
            some = {key: each for key, each in requests.items() if each.kind == kind}
            yield from way(some)

    def scored(self, requests: Mapping[str, CausalTokens]) -> Answers:
        """A text goes through the model once, however many requests ask for a part of it."""
        texts: dict[Ids, dict[str, CausalTokens]] = {}
        for key, request in requests.items():
            texts.setdefault(request.ids, {})[key] = request
        order = sorted(texts, key=len, reverse=True)
        for ids, output in zip(order, self._outputs([(ids, SCORED) for ids in order]), strict=True):
            values = logprobs(output, ids)
            for key, request in texts[ids].items():
                yield key, Answer(({"logprob": array("d", values[request.start :])},))

    def next_tokens(self, requests: Mapping[str, NextTokens]) -> Answers:
        asked = {key: (request.ids, request.asked) for key, request in requests.items()}
        for key, found in self._following(asked):
            values = array("d", [found[token] for token in requests[key].asked])
            yield key, Answer(({"logprob": values},))

    def weighed(self, requests: Mapping[str, Options]) -> Answers:
        """An option holds what all tokens hold that are written like it."""
        tokens = {
            key: [self._spelled.get(option, []) for option in request.options]
            for key, request in requests.items()
        }
        asked: dict[str, tuple[Ids, Sequence[int]]] = {}
        for key, request in requests.items():
            ids = self._fitting(request)
            if ids is None or not all(tokens[key]):
                yield key, Answer((), end=TOO_LONG if ids is None else NO_TOKEN)
            else:
                asked[key] = ids, [token for each in tokens[key] for token in each]
        for key, found in self._following(asked):
            shares = (fsum(exp(found[token]) for token in each) for each in tokens[key])
            yield key, held([log(share) if share else -inf for share in shares])

    def _following(
        self, asked: Mapping[str, tuple[Ids, Sequence[int]]]
    ) -> Iterator[tuple[str, Mapping[int, float]]]:
        """The log-probabilities of tokens after prompts."""
        parts = [
            (key, tokens[start : start + MOST_NAMED])
            for key, (_, every) in asked.items()
            for tokens in [list(dict.fromkeys(every))]
            for start in range(0, len(tokens), MOST_NAMED)
        ]
        outputs = self._outputs([(asked[key][0], naming(part)) for key, part in parts])
        found: dict[str, dict[int, float]] = {key: {} for key in asked}
        for (key, part), output in zip(parts, outputs, strict=True):
            listed = output.outputs[0].logprobs[0]
            found[key] |= {token: float(listed[token].logprob) for token in part}
            if len(found[key]) == len(set(asked[key][1])):
                yield key, found.pop(key)

    def written(self, requests: Mapping[str, Generate]) -> Answers:
        return self.heard(requests, self._written)

    def _written(self, requests: Mapping[str, Any]) -> Answers:
        asked: dict[str, Asked] = {}
        for key, request in requests.items():
            ids = self._fitting(request)
            if ids is None:
                yield key, Answer((), "", TOO_LONG)
            else:
                asked[key] = ids, sampling(request)
        for key, output in zip(asked, self._outputs(list(asked.values())), strict=True):
            yield key, self._said(requests[key], output.outputs[0])

    def _said(self, request: Generate, said: Any) -> Answer:
        """Without the token or the string that ended it, and without what came after that string:
        vLLM is not told one that begins with a space, which it may find before the first word."""
        cuts = (said.token_ids[:end] for end in range(1, len(said.token_ids)) if request.stop)
        ended = (cut for cut in cuts if any(stop in self._decoded(cut) for stop in request.stop))
        ids = tuple(next(ended, said.token_ids))
        listed = said.logprobs[: len(ids)]
        pairs = zip(listed, ids, strict=True)
        row: Row = {"logprob": array("d", [float(each[token].logprob) for each, token in pairs])}
        likeliest = [_likeliest(each, request.top) for each in listed if request.top]
        late = len(ids) < len(said.token_ids)
        stopped = late or said.finish_reason == "stop"
        by_token = stopped and not late and not isinstance(said.stop_reason, str)
        text = self._decoded(ids[:-1] if by_token else ids)
        places = [text.find(stop) for stop in request.stop if stop in text]
        text = text[: min(places)] if places else text
        return Answer((row, *likeliest), text, "stop" if stopped or places else "length")

    def _outputs(self, asked: Sequence[Asked]) -> Iterator[Any]:
        for start in range(0, len(asked), BATCH):
            yield from self.engine.ask(asked[start : start + BATCH])


def naming(tokens: Sequence[int]) -> Mapping[str, Any]:
    """What is wanted of a prompt after which these tokens are asked for."""
    named = {"logprob_token_ids": list(tokens), "detokenize": False}
    return {"max_tokens": 1, "temperature": 0.0, **named}


def _likeliest(listed: Mapping[int, Any], count: int) -> Row:
    """Of those that are named at one place."""
    ranked = sorted((-float(each.logprob), token) for token, each in listed.items())[:count]
    return {
        "token": array("d", [token for _, token in ranked]),
        "logprob": array("d", [-value for value, _ in ranked]),
    }


def sampling(request: Generate) -> Mapping[str, Any]:
    drawn = {"seed": int(request.key[:7], 16)} if request.temperature else {}
    return {
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
        "stop": [stop for stop in request.stop if not stop.startswith(" ")],
        "logprobs": request.top,
        **drawn,
    }
