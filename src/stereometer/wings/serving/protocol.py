"""What a client may send, and what is sent back, as the protocol writes it. A parameter is honoured
or refused, never silently ignored."""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from starlette.responses import JSONResponse

from stereometer.core.methods.spans import scored_positions
from stereometer.core.types import Answer, Encoding, Generate

MOST_TOKENS = 2048
MOST_NAMED = 20
"""Of the likeliest tokens at each place."""
LONGEST_NAME = 80
"""Characters of a parameter's name that an error repeats."""


def _encodable(text: str) -> str:
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("half a surrogate pair is not text")
    return text


def _boolean(value: Any) -> Any:
    """To Python 0 is False too."""
    if not isinstance(value, bool):
        raise ValueError("not true or false")
    return value


Text = Annotated[str, AfterValidator(_encodable)]
SomeText = Annotated[Text, Field(min_length=1)]
WHOLE = BeforeValidator(
    lambda value: int(value) if isinstance(value, float) and value.is_integer() else value
)
"""In JSON 1.0 is a whole number too."""
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
}
"""Parameters that may be sent, with the only value that is supported."""


class Parameters(BaseModel):
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

    @property
    def top(self) -> int:
        """How many of the likeliest tokens at each place are asked for."""
        return 0

    def generate(self, most: int, **prompt: Any) -> Generate:
        stops = [self.stop] if isinstance(self.stop, str) else self.stop or []
        return Generate(
            **prompt,
            temperature=1.0 if self.temperature is None else self.temperature,
            max_tokens=most,
            stop=tuple(stops),
            seed=time.time_ns() % 2**31 if self.seed is None else self.seed,
            top=self.top,
        )


class Completion(Parameters):
    """A text to continue, to score, or both."""

    prompt: Text
    max_tokens: Annotated[int, Field(ge=0, le=MOST_TOKENS), WHOLE] | None = None
    echo: bool | None = None
    logprobs: Annotated[int, Field(ge=0, le=MOST_NAMED), WHOLE] | None = None
    best_of: One | None = None

    @property
    def most(self) -> int:
        return 16 if self.max_tokens is None else self.max_tokens

    @property
    def top(self) -> int:
        return self.logprobs or 0


class Turn(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    role: SomeText
    content: Text


Limit = Annotated[int, Field(ge=1, le=MOST_TOKENS), WHOLE] | None


class Chat(Parameters):
    """A conversation to go on with."""

    messages: Annotated[list[Turn], Field(min_length=1)]
    max_tokens: Limit = None
    max_completion_tokens: Limit = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=MOST_NAMED), WHOLE] | None = None

    @property
    def most(self) -> int:
        return self.max_completion_tokens or self.max_tokens or 64

    @property
    def top(self) -> int:
        return (self.top_logprobs or 0) if self.logprobs else 0


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


Listed = list[tuple[str, float | None, int]]
"""Token, log-probability, where it begins in the text."""


class Refusal(Exception):
    """A request that is answered with an error."""

    def __init__(self, status: int, message: str, code: str = "invalid_request") -> None:
        super().__init__(message)
        self.status, self.message, self.code = status, message, code


class Problem(BaseModel):
    message: str
    type: str
    code: str


class Failure(BaseModel):
    """An error, for whoever reads the description of this server."""

    error: Problem


class Reply(JSONResponse):
    """In ASCII: half a surrogate pair can be written too."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content, allow_nan=False).encode()


def failure(error: Refusal) -> Reply:
    kind = "server_error" if error.status >= 500 else "invalid_request_error"
    problem = Problem(message=error.message, type=kind, code=error.code)
    return Reply({"error": problem.model_dump()}, error.status)


def reply(
    model: str, kind: str, choice: Mapping[str, Any], read: int, written: Answer | None
) -> dict[str, Any]:
    wrote = len(logprobs_of(written))
    return {
        "id": "stereometer",
        "object": kind,
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, **choice}],
        "usage": {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote},
    }


def logprobs_of(written: Answer | None) -> Sequence[float]:
    return written.rows[0]["logprob"] if written and written.rows else ()


def read_tokens(text: str, encoding: Encoding, scores: Sequence[float]) -> Listed:
    """Every token of the text with its own stretch of it; special tokens are of no text."""
    real = set(scored_positions(encoding))
    listed: Listed = []
    at = 0
    for index, (_, end) in enumerate(encoding.offsets):
        stretch = text[at:end] if index in real and end > at else ""
        if index in real or index == 0:
            listed.append((stretch, None if index == 0 else scores[index - 1], at))
        at += len(stretch)
    return listed


def written_tokens(text: str, start: int, written: Answer | None) -> Listed:
    """The first token stands for the whole text."""
    values = logprobs_of(written)
    return [(text if at == 0 else "", value, start) for at, value in enumerate(values)]


Likeliest = list[list[tuple[str, float]]]
"""At each place of what was written, the likeliest tokens."""


def likeliest(written: Answer | None, decode: Callable[[Sequence[int]], str]) -> Likeliest:
    rows = written.rows[1:] if written else ()
    return [
        [
            (decode([int(token)]), value)
            for token, value in zip(row["token"], row["logprob"], strict=True)
            if math.isfinite(value)
        ]
        for row in rows
    ]


def turns(text: str, written: Answer, tops: Likeliest) -> dict[str, Any]:
    """The log-probabilities of a conversation's answer; the first token stands for all of it."""
    places = zip(written_tokens(text, 0, written), tops or [[]] * MOST_TOKENS, strict=False)
    return {
        "content": [
            {**_entry(token, value or 0.0), "top_logprobs": [_entry(*pair) for pair in top]}
            for (token, value, _), top in places
        ]
    }


def _entry(token: str, value: float) -> dict[str, Any]:
    return {"token": token, "logprob": value, "bytes": list(token.encode("utf-8", "replace"))}


def columns(tokens: Listed, tops: Likeliest) -> dict[str, Any] | None:
    """No number stands for a token that is impossible: JSON has no infinity. Of tokens that are
    written alike, the likeliest stands."""
    if not tokens:
        return None
    read = [None] * (len(tokens) - len(tops))
    return {
        "tokens": [token for token, _, _ in tokens],
        "token_logprobs": [
            value if value is not None and math.isfinite(value) else None for _, value, _ in tokens
        ],
        "text_offset": [at for _, _, at in tokens],
        "top_logprobs": [*read, *(dict(reversed(top)) for top in tops)] if tops else None,
    }
