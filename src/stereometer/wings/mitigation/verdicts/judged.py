"""What is said of a mitigation: its effects, what it cost, and one verdict."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

from stereometer.core.addendum import Finding
from stereometer.core.shapes.differences import NO_DIFFERENCE, Closeness, Difference, Withheld
from stereometer.core.show.view import Piece
from stereometer.core.types import Slice
from stereometer.core.types.document import Document
from stereometer.wings.mitigation.card import Perplexity, Probe

MARGIN = 1.0
"""Points of lms that a mitigation may cost."""
DAMAGED, NOT_EXCLUDED = "damaged", "damage not excluded"
NOT_BEYOND_CONTROL, WORSE, IMPROVED = "not beyond control", "worse", "improved"
ORDER = (DAMAGED, WORSE, NO_DIFFERENCE, NOT_BEYOND_CONTROL, NOT_EXCLUDED, IMPROVED)
"""The first that holds in any targeted domain is the verdict: what is not seen in one does not hide
that another got worse. That damage is not excluded takes an improvement away, and says nothing of a
change that did nothing."""


@dataclass(frozen=True)
class Effect(Document):
    """What a mitigation did in one slice."""

    slice: Slice
    name: str
    n: int
    asked: int
    scope: str | None
    from_base: Closeness
    """From the base to the mitigated model."""
    detectable: float | None
    """The smallest true change of the value that could have been seen, with 80 % power; None where
    nothing varies, which says nothing about it."""
    moved: bool
    """Whether the value itself moved beyond noise, nearer to 50 or not."""
    from_control: Closeness | None = None
    """From the control to the mitigated model."""
    of_control: Closeness | None = None
    """From the base to the control."""

    @classmethod
    def of(cls, row: Difference) -> Self:
        about = (row.slice, row.name, row.n, row.asked, row.scope)
        return cls(*about, Closeness.of(row), row.detectable, row.beyond_noise)

    def beside(self, control: Difference | None, base: Difference | None) -> Self:
        """With the change from the control, and that of the control from the base."""
        return replace(
            self,
            from_control=Closeness.of(control) if control else None,
            of_control=Closeness.of(base) if base else None,
        )

    def verdict(self, has_control: bool) -> str:
        """Where no damage is in question."""
        closer = self.from_base.closer
        if closer == "neither":
            return NO_DIFFERENCE
        if has_control and (self.from_control is None or self.from_control.closer != closer):
            return NOT_BEYOND_CONTROL
        return IMPROVED if closer == "second" else WORSE


@dataclass(frozen=True)
class KeptMetric(Document):
    """A metric that should not have fallen."""

    benchmark: str
    difference: Difference

    def damage(self, margin: float = MARGIN) -> str | None:
        """Whether more than the margin was lost, or may have been."""
        if self.difference.high < -margin:
            return DAMAGED
        return NOT_EXCLUDED if self.low < -margin else None

    @property
    def low(self) -> float:
        """Never nearer to the difference than the share of items of which, in one of 40 sets, none
        is seen: where few items change, an interval is a point however few there are."""
        row = self.difference
        unseen: float = 100 * (1 - (1 / 40) ** (1 / row.n))
        return min(row.low, row.difference - unseen)


@dataclass(frozen=True)
class ItemsPart(Document):
    """The comparison on some of the items."""

    part: str
    """`all`, `with a list word`, `without a list word`, or `texts not stored`."""
    n: int
    effects: tuple[Effect, ...]
    """In the targeted domains, overall, and in the other domains."""
    withheld: tuple[Withheld, ...] = ()
    lms: KeptMetric | None = None
    """None where these items have none."""


@dataclass(frozen=True)
class Mitigated(Finding):
    """A model before and after a mitigation, and beside its control."""

    before: str
    after: str
    control: str | None
    method: str
    attribute: str
    domains: tuple[str, ...]
    verdict: str | None
    """The first of the order that holds; None where no item is of a targeted domain."""
    targeted: tuple[Effect, ...]
    side_effects: tuple[Effect, ...]
    margin: float
    lms: KeptMetric | None
    definitional: KeptMetric | None
    perplexity: Perplexity | None
    probe: Probe | None
    earlier: Probe | None
    parts: tuple[ItemsPart, ...]
    """Effects on all items, on those with a word of the lists, and on the others."""
    shared_sentences: int | None
    """Of the training text and this benchmark; None where it was not looked at."""
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        from stereometer.wings.mitigation.verdicts.view import about, headline

        return f"Mitigation {headline(self)} ({about(self)})."

    def pieces(self) -> Iterator[Piece]:
        from stereometer.wings.mitigation.verdicts.view import pieces

        return pieces(self)


def verdict_of(
    lms: KeptMetric | None, targeted: tuple[Effect, ...], has_control: bool
) -> str | None:
    """The first of the order that holds for any targeted domain."""
    if not targeted:
        return None
    damage = NOT_EXCLUDED if lms is None else lms.damage()
    verdicts = [effect.verdict(has_control) for effect in targeted]
    return min((*verdicts, *filter(None, [damage])), key=ORDER.index)
