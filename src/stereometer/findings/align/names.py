"""From the names in a file of ratings to those of groups and traits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from stereometer.benchmarks.abc.groups import Group
from stereometer.benchmarks.abc.traits import Trait
from stereometer.errors import DataError, did_you_mean

EVERYBODY = "average people"
"""Rated as a yardstick: no template speaks of them."""
BETWEEN = ("to", "or", "vs", "versus")
"""What may stand between two poles."""
PLAIN = re.compile(r"\b(how|are|is|the|a|an|people)\b ?")

Scales = dict[str, tuple[str, bool]]
"""By spelling: a trait, and whether its scale is turned, so that 100 is its left pole."""


class Names:
    """Every name that a group or trait goes by.

    Those of a run come first: it knows its groups and traits without the tables they came from.
    """

    def __init__(
        self,
        groups: Iterable[Group],
        traits: Iterable[Trait],
        run_groups: Iterable[str] = (),
        run_traits: Iterable[str] = (),
    ) -> None:
        named = {spelling(name): group.name for group in groups for name in group.names}
        self.groups = {EVERYBODY: EVERYBODY} | named | {spelling(name): name for name in run_groups}
        known = {trait.name: trait for trait in traits}
        asked = {name: Trait(name, "", *name.partition(" - ")[::2]) for name in run_traits}
        self.traits = _scales(known.values()) | _scales(asked.values())
        self.poles = _poles((asked | known).values())
        self._in_text = _any_of(self.groups), _any_of(self.traits), _any_of(self.poles)

    def group(self, name: str, where: str) -> str:
        return self.groups[_spelled("group", name, self.groups, where)]

    def trait(self, name: str, where: str) -> tuple[str, bool]:
        """The trait, and whether its scale is turned; one pole stands for the scale towards it."""
        scales = self.poles | self.traits
        known = {key: trait for key, (trait, _) in scales.items()}
        return scales[_spelled("trait", name, known, where)]

    def asked(self, question: str) -> tuple[set[str], str]:
        """The groups that a question names, and the scale of which it names both poles or one.

        One pole is enough only where nothing is said of it that could turn it: "warm", "... are
        warm", "How warm are ...?".
        """
        groups, scales, _ = self._in_text
        text, item = spelling(question), spelling(re.split(r"\s-\s|[_:]", question)[-1])
        # the last one: "wealthy_poor:wealthy" is about the wealthy
        both = re.match(f".*{scales.pattern}", text)
        pole = item if item in self.poles else PLAIN.sub("", groups.sub("", item)).strip()
        scale = both[1] if both else pole if pole in self.poles else ""
        rest = text.replace(scale, "|") if scale else text
        return {self.groups[match[1]] for match in groups.finditer(rest)}, scale

    def pole(self, question: str) -> str:
        """A pole that a question names, however it does."""
        found = self._in_text[2].search(spelling(question))
        return found[1] if found else ""


def spelling(name: str) -> str:
    """Only the words, in lower case, without what stands between two poles."""
    return " ".join(word for word in re.findall(r"[^\W_]+", name.casefold()) if word not in BETWEEN)


def _scales(traits: Collection[Trait]) -> Scales:
    turned = {spelling(f"{trait.right} {trait.left}"): (trait.name, True) for trait in traits}
    return turned | {
        spelling(name): (trait.name, False)
        for trait in traits
        for name in (trait.name, f"{trait.left} {trait.right}", *trait.also)
    }


def _poles(traits: Iterable[Trait]) -> Scales:
    """Of single poles, those that belong to one trait only."""
    every = [
        (spelling(pole), (trait.name, turned))
        for trait in traits
        for pole, turned in ((trait.left, True), (trait.right, False))
    ]
    counts = Counter(pole for pole, _ in every)
    return {pole: scale for pole, scale in every if pole and counts[pole] == 1}


def _any_of(spellings: Iterable[str]) -> re.Pattern[str]:
    """Any of them as whole words, the longest first; an English plural may end them."""
    longest = sorted(filter(None, spellings), key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(map(re.escape, longest))})(?:e?s)?\b")


def _spelled(kind: str, name: str, known: Mapping[str, str], where: str) -> str:
    """Its spelling; raises where there is none of that name."""
    if spelling(name) in known:
        return spelling(name)
    hint = did_you_mean(spelling(name), known)
    raise DataError(
        f"{where}: there is no {kind} called '{name}'. {hint}{' ' if hint else ''}"
        f"The run's {kind}s are known, and those that `stereometer show abc` lists; a table that "
        f"you give with --{kind}s brings other names, in its column `also`."
    )
