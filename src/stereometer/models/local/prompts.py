"""Prompts as a model reads them, by its tokenizer or its chat template, and tokens as text."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from hashlib import sha256
from typing import Any

from stereometer.core.asking.conversation import NO_THINKING, OPENED, finished
from stereometer.core.asking.options import bare
from stereometer.core.errors import ModelError
from stereometer.core.types import TOO_LONG, Answer, Generate, Options, Skip
from stereometer.models.local.checks import Child
from stereometer.models.local.tokens import Tokens

Ids = tuple[int, ...]
Asked = Mapping[str, Generate | Options]
Written = Iterator[tuple[str, Answer]]
OPENS = re.compile(rf"{OPENED.pattern}\s*\Z")


class ReadsPrompts:
    """What writes has a tokenizer, whoever computes."""

    tokens: Tokens
    room: int = 0
    """Tokens beside an answer's own in which a model may think before it."""
    thinking: bool = True
    opens: bool = False
    """Whether the template itself begins the thinking, as prompts have shown."""

    def heard(self, asked: Asked, write: Callable[[Asked], Written]) -> Written:
        """With room to think in conversations; what ends an answer does not end the thinking."""
        for key, answer in write({key: self._with_room(each) for key, each in asked.items()}):
            request = asked[key]
            if isinstance(request, Generate) and request.messages and answer.end != TOO_LONG:
                begun = replace(answer, text=f"<think>{answer.text}") if self.opens else answer
                yield key, finished(begun, request.stop, self.room) if self.room else begun
            else:
                yield key, answer

    def _with_room(self, request: Generate | Options) -> Generate | Options:
        if not self.room or not request.messages or isinstance(request, Options):
            return request
        return replace(request, max_tokens=request.max_tokens + self.room, stop=())

    def ids(self, request: Generate | Options) -> Ids:
        """The prompt as the model reads it: raw text, or messages through its chat template."""
        if not request.messages:
            return self.tokens.encode(request.prompt).ids
        tokenizer = self.tokens.tokenizer
        messages = [{"role": role, "content": content} for role, content in request.messages]
        try:
            text = self._render(messages)
        except Exception as error:  # templates are programs: each has errors of its own
            raise ModelError(
                f"The model's chat template cannot be used: {str(error)[:200]}. It may have none, "
                "or not know these roles. Ask without --chat, or without a system prompt."
            ) from None
        self.opens = OPENS.search(text) is not None
        return tuple(tokenizer(text, add_special_tokens=False)["input_ids"])

    @cached_property
    def _render(self) -> Callable[[list[dict[str, str]]], str]:
        """A template runs in a process of its own; code of transformers without one runs here."""
        from transformers import PreTrainedTokenizerBase

        tokenizer = self.tokens.tokenizer
        told = {} if self.thinking else NO_THINKING
        if type(tokenizer).apply_chat_template is PreTrainedTokenizerBase.apply_chat_template:
            child, tokens = Child(), dict(tokenizer.special_tokens_map | told)
            child.ask(template=tokenizer.get_chat_template(), tokens=tokens)
            return lambda messages: child.ask(messages=messages)["text"]
        return partial(
            tokenizer.apply_chat_template, add_generation_prompt=True, tokenize=False, **told
        )

    def _fitting(self, request: Generate | Options) -> Ids | None:
        try:
            ids = self.ids(request)
        except Skip:
            return None
        return ids if ids and len(ids) + request.max_tokens <= self.tokens.window else None

    def _decoded(self, ids: Ids) -> str:
        return str(
            self.tokens.tokenizer.decode(
                list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
        )

    @cached_property
    def _spelled(self) -> Mapping[str, list[int]]:
        """The tokens of each text, without the white space around them."""
        tokenizer = self.tokens.tokenizer
        tokens: dict[str, list[int]] = {}
        special = set(tokenizer.all_special_ids)
        for token in range(min(len(tokenizer), self.tokens.vocabulary)):
            if token not in special:
                tokens.setdefault(bare(tokenizer.decode([token])), []).append(token)
        return tokens


def thinking_settings(room: int, thinking: bool) -> dict[str, Any]:
    """How much room there is makes no other answer, as long as it is enough."""
    return ({"room": True} if room else {}) | ({} if thinking else {"thinking": False})


def thinking_notes(template: str, room: int, thinking: bool) -> Iterator[str]:
    if room:
        yield f"Room for thinking: {room} tokens beside an answer's own."
    if not thinking:
        (switch,) = NO_THINKING
        how = f"told so by {switch}" if switch in template else "but its template takes no word"
        yield f"Asked not to think, {how}; thinking that comes all the same is cut off."


def template_of(tokenizer: Any) -> str:
    """The chat template that a tokenizer brings, by digest; empty where it has none."""
    template = getattr(tokenizer, "chat_template", None)
    digest = sha256(str(template).encode()).hexdigest()[:16]
    return f"the tokenizer's own, sha256 {digest}" if template else ""
