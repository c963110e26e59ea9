"""What filling a template takes in a language: determiners, a person, verbs, agreement."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stereometer.benchmarks.abc.groups import PERSON, Group
from stereometer.errors import DataError
from stereometer.tables import read_table

NUMBERS = ("singular", "plural")
PLAIN_SLOTS = ("{group}", "{Group}")
ADJECTIVE = "adjective"


@dataclass(frozen=True, eq=False)
class Grammar:
    """Data, for every language."""

    determiners: Mapping[str, str]
    """By the word in a slot, the column of groups that has it; `WORD plural` for plurals."""
    persons: tuple[Group, ...]
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

    def person(self, group: Group) -> Group:
        """An unnamed person, of whom the same is said in the same form."""
        return next((one for one in self.persons if one.agrees == group.agrees), self.persons[0])

    def form(self, adjective: str, group: Group, number: str) -> str:
        """The adjective as it is said of the group; other texts stay as they are."""
        return self.forms.get(adjective, {}).get(agreement(group, number), adjective)


def agreement(group: Group, number: str) -> str:
    return f"{group.agrees} {number}".strip()


ENGLISH = Grammar(
    {"a": "article"}, (PERSON,), {"singular": ("is", "was"), "plural": ("are", "were")}
)


def read_forms(
    path: Path, adjectives: Iterable[str], groups: Iterable[Group], numbers: Iterable[str]
) -> dict[str, dict[str, str]]:
    """A table of `adjective` and a column for each agreement; what is asked must be in it."""
    every = list(groups)
    needed = dict.fromkeys(agreement(group, number) for number in numbers for group in every)
    forms = {
        fields[ADJECTIVE].strip(): {name: form.strip() for name, form in fields.items()}
        for _, fields in read_table(path, (ADJECTIVE, *needed))
    }
    for adjective in adjectives:
        absent = [name for name in needed if not forms.get(adjective, {}).get(name)]
        if absent:
            raise DataError(
                f"{path} has no form of {adjective!r} for {absent[0]}. Every adjective is asked of "
                "every group. Add it."
            )
    return forms
