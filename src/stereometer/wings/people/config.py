"""study.toml: read, and refused with the line where something is wrong."""

import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from stereometer.core.errors import DataError
from stereometer.core.files import read_text
from stereometer.wings.people.fields import QUESTIONS
from stereometer.wings.people.kinds import KINDS

OUTCOMES = ("complete", "failed", "declined", "left")
CODE = r"^[A-Za-z0-9-]{4,40}$"
RETURN = r"^(https://[^\s{}]+(\{code\})?[^\s{}]*)?$"
ADDRESS = r"^(https?://\S+)?$"
IN_WORDS = {
    CODE: "write 4 to 40 letters, digits or hyphens",
    RETURN: "write an address that begins with https://, with {code} in place of the code",
    ADDRESS: "write an address that begins with http:// or https://",
}


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Quota(_Section):
    judgements: int = Field(ge=1)
    """Passing ratings per group, labels per item, texts per term."""
    per_person: int = Field(ge=1, le=100)
    """Groups, items or terms that a person is given."""
    lease_minutes: float = Field(default=45, gt=0)
    """How long a place is kept for a person who sends nothing."""

    def expiry(self, now: float) -> float:
        return now + 60 * self.lease_minutes


class Pay(_Section):
    currency: str = "USD"
    complete: float = Field(ge=0)
    left: float = Field(default=0, ge=0)
    minutes: float = Field(gt=0)
    """How long a participation takes."""

    @property
    def hourly(self) -> float:
        return 60 * self.complete / self.minutes

    def amount(self, outcome: str) -> float:
        """Who fails a check is paid like everybody who finishes."""
        paid = {"complete": self.complete, "failed": self.complete, "left": self.left}
        return paid.get(outcome, 0.0)


class Codes(_Section):
    complete: str = Field(pattern=CODE)
    failed: str = Field(pattern=CODE)
    declined: str = Field(pattern=CODE)
    left: str = Field(pattern=CODE)

    @model_validator(mode="after")
    def _different(self) -> Self:
        if len(set(self.model_dump().values())) < len(OUTCOMES):
            raise ValueError("two outcomes have the same code; give each one of its own")
        return self


PANELS: dict[str, tuple[str, ...]] = {
    "open": (),
    "link": ("invite",),
    "prolific": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
    "mechanical-turk": ("workerId", "assignmentId", "hitId"),
}
"""What each panel puts into the address of the study; the first says who it is, in any session."""
SIGNED = "link"
"""The panel whose addresses we write and sign."""


def person_parameter(panel: str) -> tuple[str, ...]:
    """What says who it is; nothing where anybody may come."""
    return PANELS[panel][:1]


class Panel(_Section):
    name: Literal["open", "link", "prolific", "mechanical-turk"] = "open"
    return_url: str = Field(default="", pattern=RETURN)
    """Where people go back to; {code} stands for the completion code."""


class Publication(_Section):
    """What an export says of itself; nothing is said of what is left empty."""

    licence: str = Field(default="", pattern=ADDRESS)
    address: str = Field(default="", pattern=ADDRESS)
    """Where the data will be found."""
    variety: str = Field(default="", max_length=200)
    """The language that participants speak: American English."""


class Config(_Section):
    kind: str
    title: str = Field(min_length=1, max_length=200)
    contact: str = ""
    """Whom participants can write to."""
    languages: tuple[str, ...] = Field(default=("en",), min_length=1)
    """The first is the one people get unless they choose another."""
    join_demographics: bool = False
    """Whether the consent text allows ratings and demographics to be joined."""
    demographics: tuple[str, ...] = ()
    """Questions at the end, by name; those that the texts know."""
    quota: Quota
    pay: Pay
    codes: Codes
    panel: Panel = Panel()
    publication: Publication = Publication()
    options: dict[str, Any] = Field(default_factory=dict)

    @field_validator("demographics")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in QUESTIONS:
                raise ValueError(
                    f"there is no question {name!r}; write any of {', '.join(QUESTIONS)}"
                )
        return names


def read_config(path: Path) -> Config:
    text = read_text(path)
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path} is not valid TOML: {error}. Fix that line.") from None
    kind = written.get("kind")
    if kind not in KINDS:
        raise DataError(
            f"{path}, line {line_of(text, ['kind'])}: kind is {kind!r}. "
            f"Write one of {', '.join(KINDS)}."
        )
    options = written.pop(kind, {})
    config: Config = _validated(path, text, Config, {**written, "options": {}}, [])
    checked = _validated(path, text, KINDS[kind].options, options, [kind])
    return config.model_copy(update={"options": checked.model_dump()})


def _validated(path: Path, text: str, model: type[Any], value: Any, inside: Sequence[str]) -> Any:
    try:
        return model.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        keys = [*inside, *map(str, first["loc"])]
        wrong = f", and it is {first['input']!r}" if keys and first["type"] != "missing" else ""
        message = first["msg"].removeprefix("Value error, ")
        message = IN_WORDS.get(str(first.get("ctx", {}).get("pattern")), message)
        raise DataError(
            f"{path}, line {line_of(text, keys)}: {'.'.join(keys) or 'the file'}: {message}"
            f"{wrong[:120]}. Fix that line; a new study.toml says what every setting means."
        ) from None


def line_of(text: str, keys: Sequence[str]) -> int:
    """The line of a key, or of the nearest section above it."""
    lines, at = text.splitlines(), 0
    for key in keys:
        name = re.escape(key)
        pattern = rf"\s*(\[+\s*[\"']?{name}[\"']?\s*\]+|[\"']?{name}[\"']?\s*=)"
        places = [number for number in range(at, len(lines)) if re.match(pattern, lines[number])]
        at = places[0] if places else at
    return at + 1
