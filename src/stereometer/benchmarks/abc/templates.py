"""Templates: a sentence with a slot for a group and a blank for a trait, and the grammar of filling
them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from stereometer.benchmarks.abc.groups import Group
from stereometer.benchmarks.abc.rows import Row, chosen, counted, read

COLUMNS = ("name", "kind", "number", "text")
NUMBERS = ("singular", "plural")
BLANK = "{trait}"
GROUP_SLOTS = ("{group}", "{Group}", "{a group}", "{A group}")
CAPITAL_SLOTS = ("{Group}", "{A group}")
SLOT = r"(\{[^{}]*\})"
Span = tuple[int, int]


@dataclass(frozen=True)
class Sentence:
    """A template filled, and where in it the group's own words and the trait stand."""

    text: str
    group: Span
    trait: Span


@dataclass(frozen=True)
class Template:
    """`{group}` is the group, `{Group}` with a capital, `{a group}` and `{A group}` with its
    article;
    `{trait}` is the blank."""

    name: str
    kind: str
    number: str
    text: str
    lists: tuple[str, ...] = ()

    @property
    def ends_with_trait(self) -> bool:
        """Whether only a mark follows the blank, so that a causal model can answer."""
        return re.fullmatch(r"\W*", self.text.partition(BLANK)[2]) is not None

    def fill(self, group: Group, adjective: str) -> Sentence:
        form, text, spans = group.form(self.number), "", {}
        for part in _parts(self.text):
            if part == BLANK:
                spans["trait"] = (len(text), len(text) + len(adjective))
                text += adjective
            elif part in GROUP_SLOTS:
                words = f"{group.article} {form}" if "a group" in part.lower() else form
                spans["group"] = (len(text) + len(words) - len(form), len(text) + len(words))
                text += _capital(words) if part in CAPITAL_SLOTS else words
            else:
                text += part
        return Sentence(text, spans["group"], spans["trait"])


@cache
def _parts(text: str) -> tuple[str, ...]:
    return tuple(re.split(SLOT, text))


def _capital(words: str) -> str:
    """A letter whose capital is two letters stays as it is: places in the sentence must not
    move."""
    first = words[0].upper()
    return first + words[1:] if len(first) == 1 else words


def read_templates(path: Path) -> tuple[Template, ...]:
    return read(path, COLUMNS, _template)


def _template(row: Row) -> Template:
    number, text = row.one_of("number", NUMBERS), row.text("text")
    slots = re.findall(SLOT, text)
    unknown = [
        slot
        for slot in (*slots, *re.findall(r"[{}]", re.sub(SLOT, "", text)))
        if slot not in (BLANK, *GROUP_SLOTS)
    ]
    if unknown:
        raise row.wrong(
            f"{unknown[0]} is not understood", f"Slots are {', '.join((*GROUP_SLOTS, BLANK))}"
        )
    _once(row, "blank", "for a trait", slots.count(BLANK), BLANK)
    _once(
        row,
        "place",
        "for a group",
        sum(slot in GROUP_SLOTS for slot in slots),
        ", ".join(GROUP_SLOTS),
    )
    _grammar(row, number, text)
    return Template(row.text("name"), row.text("kind"), number, text, row.listed("lists"))


def _once(row: Row, what: str, whose: str, count: int, slots: str) -> None:
    if count != 1:
        raise row.wrong(
            f"the template has {counted(count, what) if count else f'no {what}'} {whose}",
            f"It needs exactly one of {slots}",
        )


def _grammar(row: Row, number: str, text: str) -> None:
    """Raises for what makes no good sentence with any group."""
    if number == "plural" and "{a group}" in text.lower():
        raise row.wrong("an article stands before a plural", "Articles go with number singular")
    if glued := re.search(r"\w\{|\}\w", text):
        raise row.wrong(
            f"a slot stands right beside a letter ({_around(text, glued)})",
            "It would make one word of two",
        )
    if mask := re.search(r"\[MASK\]|<mask>", text, re.IGNORECASE):
        raise row.wrong(
            f"the text has {mask[0]}",
            f"Masks are put where {BLANK} stands, as the model writes them",
        )
    if small := re.match(r"[\"'(\u2018\u201c]*(\{group\}|\{a group\})", text):
        capital = small[1].replace("{g", "{G").replace("{a", "{A")
        raise row.wrong(
            f"the sentence begins with {small[1]}",
            f"At its beginning a group has a capital: {capital}",
        )
    verb = re.search(r"\{(?:a )?group\} (is|are|was|were)\b", text, re.IGNORECASE)
    if verb and (verb[1] in ("is", "was")) != (number == "singular"):
        raise row.wrong(
            f"{verb[0]!r} is not {number}", "The verb after a group has the row's number"
        )


def _around(text: str, match: re.Match[str]) -> str:
    """The word and slot that touch."""
    words: list[str] = re.findall(r"(?:\{[^{}]*\}|\S)+", text)
    return next(word for word in words if match[0] in word)


def choose_templates(templates: Sequence[Template], wanted: Iterable[str]) -> tuple[Template, ...]:
    """By name, kind or list."""
    return chosen("template", templates, wanted, lambda template: (template.kind, *template.lists))
