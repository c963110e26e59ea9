"""Templates: a sentence with a slot for a group and a blank for a trait, and the grammar of filling
them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from stereometer.benchmarks.abc.grammar import ENGLISH, NUMBERS, PLAIN_SLOTS, Grammar
from stereometer.benchmarks.abc.groups import Group
from stereometer.benchmarks.abc.rows import Row, chosen, counted, read

COLUMNS = ("name", "kind", "number", "text")
BLANK = "{trait}"
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
    article, or with another determiner of the language; `{trait}` is the blank."""

    name: str
    kind: str
    number: str
    text: str
    lists: tuple[str, ...] = ()

    @property
    def ends_with_trait(self) -> bool:
        """Whether only a mark follows the blank, so that a causal model can answer."""
        return re.fullmatch(r"\W*", self.text.partition(BLANK)[2]) is not None

    def fill(self, group: Group, adjective: str, grammar: Grammar = ENGLISH) -> Sentence:
        form, text, spans = group.form(self.number), "", {}
        for part in _parts(self.text):
            if part == BLANK:
                word = grammar.form(adjective, group, self.number)
                spans["trait"] = (len(text), len(text) + len(word))
                text += word
            elif part.startswith("{"):
                column = grammar.column(part, self.number)
                words = f"{group.determiner(column)} {form}" if column else form
                spans["group"] = (len(text) + len(words) - len(form), len(text) + len(words))
                text += _capital(words) if part[1].isupper() else words
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


def read_templates(path: Path, grammar: Grammar = ENGLISH) -> tuple[Template, ...]:
    return read(path, COLUMNS, partial(_template, grammar))


def _template(grammar: Grammar, row: Row) -> Template:
    number, text = row.one_of("number", NUMBERS), row.text("text")
    slots, known = re.findall(SLOT, text), grammar.slots
    unknown = [
        slot
        for slot in (*slots, *re.findall(r"[{}]", re.sub(SLOT, "", text)))
        if slot not in (BLANK, *known)
    ]
    if unknown:
        raise row.wrong(
            f"{unknown[0]} is not understood", f"Slots are {', '.join((*known, BLANK))}"
        )
    _once(row, "blank", "for a trait", slots.count(BLANK), BLANK)
    places = [slot for slot in slots if slot in known]
    _once(row, "place", "for a group", len(places), ", ".join(known))
    _grammar(row, number, text, places[0], grammar)
    return Template(row.text("name"), row.text("kind"), number, text, row.listed("lists"))


def _once(row: Row, what: str, whose: str, count: int, slots: str) -> None:
    if count != 1:
        raise row.wrong(
            f"the template has {counted(count, what) if count else f'no {what}'} {whose}",
            f"It needs exactly one of {slots}",
        )


def _grammar(row: Row, number: str, text: str, slot: str, grammar: Grammar) -> None:
    """Raises for what makes no good sentence with any group."""
    if slot not in PLAIN_SLOTS and grammar.column(slot, number) is None:
        raise row.wrong(
            f"an article stands before a {number}", f"{slot} has none for the number {number}"
        )
    glued = re.search(r"\w\{|\}\w", text) if grammar.spaces else None
    if glued:
        words = re.findall(r"(?:\{[^{}]*\}|\S)+", text)
        touching = next(word for word in words if glued[0] in word)
        raise row.wrong(
            f"a slot stands right beside a letter ({touching})",
            "It would make one word of two",
        )
    if mask := re.search(r"\[MASK\]|<mask>", text, re.IGNORECASE):
        raise row.wrong(
            f"the text has {mask[0]}",
            f"Masks are put where {BLANK} stands, as the model writes them",
        )
    start = re.match(r"[\"'(\u2018\u201c]*", text)
    if text[start.end() if start else 0 :].startswith(slot) and slot[1].islower():
        capital = f"{{{slot[1].upper()}{slot[2:]}"
        raise row.wrong(
            f"the sentence begins with {slot}", f"At its beginning a group has a capital: {capital}"
        )
    _verb(row, number, text, slot, grammar)


def _verb(row: Row, number: str, text: str, slot: str, grammar: Grammar) -> None:
    after = text.partition(f"{slot} ")[2].split(" ")[0].rstrip(".,!?").lower()
    others = [verb for other in NUMBERS if other != number for verb in grammar.verbs.get(other, ())]
    if after in others and after not in grammar.verbs.get(number, ()):
        raise row.wrong(
            f"{f'{slot} {after}'!r} is not {number}", "The verb after a group has the row's number"
        )


def choose_templates(templates: Sequence[Template], wanted: Iterable[str]) -> tuple[Template, ...]:
    """By name, kind or list."""
    return chosen("template", templates, wanted, lambda template: (template.kind, *template.lists))
