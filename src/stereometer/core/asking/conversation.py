"""Asking in words: what forced choice, recognition and the survey share.

A prompt is a text with slots. It is put to a model as raw text or as a message of a conversation;
what the model wrote is read, or the reason why it says nothing is kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

from stereometer.core.errors import ModelError, UsageError
from stereometer.core.types import NO_ROOM, UNWRITTEN, Answer, Backend, Variant, digest_of

SLOT = re.compile(r"\{(\w+)\}")
EMPTY, UNPARSED, REFUSED = "empty", "unparsed", "refused"
REFUSALS = re.compile(
    r"\b(i\s+(can(no|')?t|am\s+(not\s+able|unable)|won'?t|will\s+not)"
    r"|i'?m\s+(sorry|not\s+able|unable)|as\s+an?\s+(ai|language\s+model)"
    r"|cannot\s+(answer|assist|help|comply)|unable\s+to\s+(answer|assist|help|comply))\b",
    re.IGNORECASE,
)
NOT_SAID = (
    r"\w+n't|(?:is|are|was|were|do|does|did|would|should|could)nt|can(?:no)?t"
    r"|not|non|no|never|neither|nor|none|nothing|nobody|hardly|without|if|whether"
)
"""Words after which a label is denied, or not said to hold, until the clause ends."""


@cache
def packaged(package: str, *names: str) -> str:
    """A text that lies in a package; its last line break is the file's and not the prompt's."""
    folder = resources.files(package)
    return folder.joinpath(*names).read_text("utf-8").removesuffix("\n")


def filled_in(text: str, slots: Mapping[str, str]) -> str:
    """In one pass: braces in what is put in stay as they are."""
    return SLOT.sub(lambda slot: slots.get(slot[1], slot[0]), text)


def why_unread(text: str) -> str:
    """Why an answer in which nothing was found says nothing."""
    if not text.strip():
        return EMPTY
    return REFUSED if REFUSALS.search(text) else UNPARSED


# -------------------------------------------------------------------------------------- thinking

NO_THINKING = {"enable_thinking": False}
"""How the templates of models that think are told that they should not."""
OPENED = re.compile(r"\s*<(think|thinking|thought|reasoning)>")
CLOSED = re.compile(r"</(?:think|thinking|thought|reasoning)>")
"""A template may open what the model closes, so that the first tag is missing."""
CHANNEL = re.compile(
    r"<\|channel\|>\s*(\w+)[^<]*<\|message\|>(.*?)(?=<\|(?:end|return|call|start|channel)\|>|\Z)",
    re.DOTALL,
)
BARE_CHANNELS = re.compile(r"analysis(.*)assistantfinal(.*)", re.DOTALL)
"""Harmony's channels, as they are written and where a server leaves out the special tokens."""


def without_thinking(text: str) -> tuple[str, str]:
    """What was answered, and what was thought before."""
    if channels := CHANNEL.findall(text):
        final = "".join(said for name, said in channels if name == "final")
        return final, "\n".join(said for name, said in channels if name != "final")
    if bare := BARE_CHANNELS.fullmatch(text):
        return bare[2], bare[1]
    *_, closed = None, *CLOSED.finditer(text)
    opened = OPENED.match(text)
    start = opened.end() if opened else 0
    if closed is not None:
        return text[closed.end() :], text[start : closed.start()]
    return ("", text[start:]) if opened else (text, "")


def has_no_room(text: str, end: str) -> bool:
    """Whether the writing ended before an answer began: by its length, or while thinking."""
    channels = CHANNEL.findall(text)
    silent = OPENED.match(text) and not CLOSED.search(text)
    thinks = silent or (channels and all(name != "final" for name, _ in channels))
    return bool(thinks) or (end == "length" and not without_thinking(text)[0].strip())


def finished(answer: Answer, stops: Sequence[str], room: int) -> Answer:
    """Up to where a stop ends the answer: none ends the thinking or the white space before it. What
    more room would have made longer is not kept, so that it is asked again."""
    text = answer.text or ""
    said = without_thinking(text)[0]
    begins = len(text) - len(said.lstrip())
    places = [at for stop in stops if (at := text.find(stop, begins)) >= 0]
    if places:
        return replace(answer, text=text[: min(places)], end="stop")
    if has_no_room(text, answer.end):
        return replace(answer, end=NO_ROOM, kept=False)
    return replace(answer, kept=answer.end == "stop" or not room)


def heard(answer: Answer) -> tuple[dict[str, str], str]:
    """What is kept of an answer, thinking apart; and why there is nothing to read, if so."""
    text, thinking = without_thinking(answer.text or "")
    record = {"text": text} | ({"thinking": thinking} if thinking.strip() else {})
    if answer.end in UNWRITTEN:
        return record, answer.end
    return record, NO_ROOM if has_no_room(answer.text or "", answer.end) else ""


@dataclass(frozen=True)
class Conversation:
    """Whether questions are messages of a conversation, and with which system prompt."""

    chat: bool
    system: str = ""
    template_by: str = ""
    """Whose chat template is applied."""
    room: int = 0
    """Tokens beside those of an answer, to think."""
    thinking: bool = True
    """Whether the model may think first, where it can."""

    @classmethod
    def of(
        cls, backend: Backend, wanted: bool | None, system: str, variant: Variant
    ) -> Conversation:
        """As wanted, else wherever the model has a chat template, except where a paper is followed,
        whose models had none."""
        template_by = backend.abilities.chat_template
        if wanted and not template_by:
            raise ModelError(
                f"{backend.card.name} has no chat template. It was not taught to hold a "
                "conversation. Ask without --chat."
            )
        usual = bool(template_by) and variant != "paper"
        able = backend.abilities
        chat = usual if wanted is None else wanted
        return cls(chat, system, template_by, able.room, able.thinking)

    @property
    def recorded(self) -> dict[str, Any]:
        """What a result records of it."""
        if not self.chat:
            return {"chat": False}
        system = digest_of(self.system)[:16]
        asked = {"chat": True, "chat_template": self.template_by, "system": system}
        if not self.thinking:
            asked["thinking"] = False
        return asked | ({"room": self.room} if self.room else {})

    @property
    def notes(self) -> tuple[str, ...]:
        if not self.chat:
            return ()
        return (f"Asked as a conversation; chat template: {self.template_by}.",)

    def fields(self, question: str, raw: str | None = None) -> dict[str, Any]:
        """Of a request; `raw` is the text without a conversation, where that has more."""
        if not self.chat:
            return {"prompt": question if raw is None else raw}
        system = (("system", self.system),) if self.system else ()
        return {"messages": (*system, ("user", question))}


def no_system_prompt() -> UsageError:
    """For raw text."""
    return UsageError(
        "A system prompt was given for raw text. Only a conversation has one. Ask with --chat, or "
        "leave it out."
    )
