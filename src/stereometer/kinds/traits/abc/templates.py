"""Templates: a sentence with a slot for a group and a blank for a trait, and the grammar of filling
them."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path

from stereometer.core.errors import DataError
from stereometer.core.tables import read_table
from stereometer.kinds.traits.abc.files import PERSON, Row, SocialGroup, chosen, counted, read

NUMBERS = ("singular", "plural")
PLAIN_SLOTS = ("{group}", "{Group}")
COLUMNS = ("name", "kind", "number", "text")
BLANK = "{trait}"
SLOT = r"(\{[^{}]*\})"
Span = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Grammar:
    """Data, for every language."""

    determiners: Mapping[str, str]
    """By the word in a slot, the column of groups that has it; `WORD plural` for plurals."""
    persons: tuple[SocialGroup, ...]
    """An unnamed person, for each way of agreeing; the first where a group has no other."""
    verbs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By number, forms that go with it and not with the other."""
    forms: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By adjective and by agreement and number (`f plural`); empty where adjectives do not
    change."""
    spaces: bool = True
    """Whether words stand apart."""

    @property
    def slots(self) -> tuple[str, ...]:
        """All places for a group."""
        words = dict.fromkeys(word.removesuffix(" plural") for word in self.determiners)
        written = [form for word in words for form in (word, word[:1].upper() + word[1:])]
        return (*PLAIN_SLOTS, *(f"{{{word} group}}" for word in written))

    def column(self, slot: str, number: str) -> str | None:
        """The column of the determiner in a slot; None where it has none for this number."""
        word = slot[1:-1].removesuffix("group").removesuffix("Group").strip()
        known = {key.lower(): column for key, column in self.determiners.items()}
        plural = " plural" if number == "plural" else ""
        return known.get(f"{word.lower()}{plural}")

    def person(self, group: SocialGroup) -> SocialGroup:
        """An unnamed person, of whom the same is said in the same form."""
        return next((one for one in self.persons if one.agrees == group.agrees), self.persons[0])

    def form(self, adjective: str, group: SocialGroup, number: str) -> str:
        """The adjective as it is said of the group; other texts stay as they are."""
        return self.forms.get(adjective, {}).get(agreement(group, number), adjective)


def agreement(group: SocialGroup, number: str) -> str:
    return f"{group.agrees} {number}".strip()


ENGLISH = Grammar(
    {"a": "article"}, (PERSON,), {"singular": ("is", "was"), "plural": ("are", "were")}
)


def read_forms(
    path: Path, adjectives: Iterable[str], groups: Iterable[SocialGroup], numbers: Iterable[str]
) -> dict[str, dict[str, str]]:
    """A table of `adjective` and a column for each agreement; what is asked must be in it."""
    every = list(groups)
    needed = dict.fromkeys(agreement(group, number) for number in numbers for group in every)
    forms = {
        fields["adjective"].strip(): {name: form.strip() for name, form in fields.items()}
        for _, fields in read_table(path, ("adjective", *needed))
    }
    for adjective in adjectives:
        absent = [name for name in needed if not forms.get(adjective, {}).get(name)]
        if absent:
            raise DataError(
                f"{path} has no form of {adjective!r} for {absent[0]}. Every adjective is asked of "
                "every group. Add it."
            )
    return forms


@dataclass(frozen=True)
class FilledTemplate:
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

    def fill(
        self, group: SocialGroup, adjective: str, grammar: Grammar = ENGLISH
    ) -> FilledTemplate:
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
        return FilledTemplate(text, spans["group"], spans["trait"])


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
    stray = re.findall(r"[{}]", re.sub(SLOT, "", text))
    if unknown := [slot for slot in (*slots, *stray) if slot not in (BLANK, *known)]:
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
