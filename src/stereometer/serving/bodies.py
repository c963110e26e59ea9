"""What a client may send. A parameter is honoured or refused, never silently ignored."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from stereometer.types import Generate

MOST_TOKENS = 2048
LONGEST_NAME = 80
"""Characters of a parameter's name that an error repeats."""


def _encodable(text: str) -> str:
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("half a surrogate pair is not text")
    return text


def _integral(value: Any) -> Any:
    """In JSON 1.0 is a whole number too."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _boolean(value: Any) -> Any:
    """To Python 0 is False too."""
    if not isinstance(value, bool):
        raise ValueError("not true or false")
    return value


Text = Annotated[str, AfterValidator(_encodable)]
SomeText = Annotated[Text, Field(min_length=1)]
WHOLE = BeforeValidator(_integral)
Off = Annotated[Literal[False], BeforeValidator(_boolean)]
One = Annotated[int, Field(ge=1, le=1), WHOLE]
Zero = Annotated[float, Field(ge=0, le=0)]
FIXED = {
    "n": "1",
    "best_of": "1",
    "stream": "false",
    "top_p": "1",
    "presence_penalty": "0",
    "frequency_penalty": "0",
    "top_logprobs": "0",
}
"""Parameters that may be sent, with the only value that is supported."""


class Question(BaseModel):
    """What both endpoints take. `user` is a note of the client, without influence."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    model: Text | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    seed: Annotated[int, Field(ge=0, le=2**53), WHOLE] | None = None
    stop: SomeText | Annotated[list[SomeText], Field(max_length=16)] | None = None
    user: Text | None = None
    n: One | None = None
    stream: Off | None = None
    top_p: Annotated[float, Field(ge=1, le=1)] | None = None
    presence_penalty: Zero | None = None
    frequency_penalty: Zero | None = None

    def generate(self, most: int, **prompt: Any) -> Generate:
        stops = [self.stop] if isinstance(self.stop, str) else self.stop or []
        return Generate(
            **prompt,
            temperature=1.0 if self.temperature is None else self.temperature,
            max_tokens=most,
            stop=tuple(stops),
            seed=time.time_ns() % 2**31 if self.seed is None else self.seed,
        )


class Completion(Question):
    """A text to continue, to score, or both."""

    prompt: Text
    max_tokens: Annotated[int, Field(ge=0, le=MOST_TOKENS), WHOLE] | None = None
    echo: bool | None = None
    logprobs: Annotated[int, Field(ge=0, le=5), WHOLE] | None = None
    best_of: One | None = None

    @property
    def most(self) -> int:
        return 16 if self.max_tokens is None else self.max_tokens


class Turn(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    role: SomeText
    content: Text


Limit = Annotated[int, Field(ge=1, le=MOST_TOKENS), WHOLE] | None


class Chat(Question):
    """A conversation to go on with."""

    messages: Annotated[list[Turn], Field(min_length=1)]
    max_tokens: Limit = None
    max_completion_tokens: Limit = None
    logprobs: Off | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=0), WHOLE] | None = None

    @property
    def most(self) -> int:
        return self.max_completion_tokens or self.max_tokens or 64


def explained(errors: Sequence[Mapping[str, Any]]) -> str:
    """The first of pydantic's errors in words; what was sent is not repeated."""
    error = errors[0]
    path = [str(part) for part in error["loc"][1:]]
    name = ".".join(path)[:LONGEST_NAME]
    match error["type"]:
        case "extra_forbidden":
            return f"{name} is not supported by this server; leave it out"
        case "missing" if name:
            return f"{name} is missing"
        case "json_invalid" | "missing" | "model_attributes_type" | "dict_type" if not path or (
            error["type"] == "json_invalid"
        ):
            return "the request is not a JSON object"
    if path and path[0] in FIXED:
        return f"{name} must be {FIXED[path[0]]}; this server supports no other value"
    return f"{name or 'the request'}: {error['msg']}"
