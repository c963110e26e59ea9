"""From the names in a file of ratings to those of groups and traits."""

from __future__ import annotations

from collections.abc import Iterable

from stereometer.benchmarks.abc.groups import Group
from stereometer.benchmarks.abc.traits import Trait
from stereometer.errors import DataError, did_you_mean
from stereometer.shapes.words import plain_name

EVERYBODY = "average people"
"""Rated as a yardstick: no template speaks of them."""


class Names:
    """Every name that a group or trait goes by."""

    def __init__(self, groups: Iterable[Group], traits: Iterable[Trait]) -> None:
        named = {plain_name(name): group.name for group in groups for name in group.names}
        self.groups = {EVERYBODY: EVERYBODY} | named
        every = list(traits)
        self.traits = {
            plain_name(name): trait.name
            for trait in every
            for name in (trait.name, f"{trait.left} - {trait.right}", *trait.also)
        }
        self.turned = {plain_name(f"{trait.right} - {trait.left}"): trait.name for trait in every}
        """Scales whose poles are named the other way round."""

    def group(self, name: str, where: str) -> str:
        return _known("group", name, self.groups, where)

    def trait(self, name: str, where: str) -> tuple[str, bool]:
        """The trait, and whether its scale is turned: 100 is then its left pole."""
        if plain_name(name) not in self.traits and plain_name(name) in self.turned:
            return self.turned[plain_name(name)], True
        return _known("trait", name, self.traits, where), False


def _known(kind: str, name: str, known: dict[str, str], where: str) -> str:
    if plain_name(name) in known:
        return known[plain_name(name)]
    hint = did_you_mean(plain_name(name), known)
    raise DataError(
        f"{where}: there is no {kind} called '{name}'. {hint}{' ' if hint else ''}"
        f"`stereometer show abc` lists ours; yours are in the table that you give with --{kind}s, "
        "here as in the run."
    )
