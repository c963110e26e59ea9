"""From the names in a file of ratings to those of groups and traits."""

from __future__ import annotations

from collections.abc import Iterable

from stereometer.benchmarks.abc.groups import Group
from stereometer.benchmarks.abc.rows import plain
from stereometer.benchmarks.abc.traits import Trait
from stereometer.errors import DataError, did_you_mean

EVERYBODY = "average people"
"""Rated as a yardstick: no template speaks of them."""


class Names:
    """Every name that a group or trait goes by."""

    def __init__(self, groups: Iterable[Group], traits: Iterable[Trait]) -> None:
        named = {plain(name): group.name for group in groups for name in group.names}
        self.groups = {EVERYBODY: EVERYBODY} | named
        every = list(traits)
        self.traits = {
            plain(name): trait.name
            for trait in every
            for name in (trait.name, f"{trait.left} - {trait.right}", *trait.also)
        }
        self.turned = {plain(f"{trait.right} - {trait.left}"): trait.name for trait in every}
        """Scales whose poles are named the other way round."""

    def group(self, name: str, where: str) -> str:
        return _known("group", name, self.groups, where)

    def trait(self, name: str, where: str) -> tuple[str, bool]:
        """The trait, and whether its scale is turned: 100 is then its left pole."""
        if plain(name) not in self.traits and plain(name) in self.turned:
            return self.turned[plain(name)], True
        return _known("trait", name, self.traits, where), False


def _known(kind: str, name: str, known: dict[str, str], where: str) -> str:
    found = known.get(plain(name))
    if found is not None:
        return found
    hint = did_you_mean(plain(name), known)
    raise DataError(
        f"{where}: there is no {kind} called '{name}'. {hint}{' ' if hint else ''}`stereometer show abc` lists ours; yours are in the table that you give with --{kind}s, here as in the run."
    )
