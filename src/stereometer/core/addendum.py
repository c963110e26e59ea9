"""What a wing adds to a comparison and to the report, without either knowing the wing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

from stereometer.core import catalog
from stereometer.core.runs.stored import Side
from stereometer.core.show.figure import Figure
from stereometer.core.show.view import Piece
from stereometer.core.types import Result, Settings, Slice
from stereometer.core.types.document import Document


class Finding(Document):
    """Something that an addendum says of the systems of a comparison."""

    @property
    def sentence(self) -> str:
        """For the head of a page."""
        raise NotImplementedError

    def pieces(self) -> Iterator[Piece]:
        """What a comparison shows of it, before everything that differs."""
        raise NotImplementedError


class Addendum:
    """An instance stands in the catalog under `addendum`. Every method can be overridden alone, and
    its module must be importable without what only figures need."""

    about: ClassVar[str] = ""
    field: ClassVar[str] = ""
    """The name of its findings in documents, such as `mitigations`; empty where it has none."""
    takes_control: ClassVar[bool] = False
    """Whether it judges by the run that is named with `--control`."""

    def check_control(self, results: Sequence[Result], control: Result) -> None:
        """Raises where the control does not belong to what it stands beside."""

    def planned(self, sides: Sequence[Side]) -> Sequence[Slice]:
        """Slices that were named before: their tests are a family apart."""
        return ()

    def notes(self, sides: Sequence[Side]) -> Iterable[str]:
        """What to beware of in the comparison."""
        return ()

    def findings(
        self, sides: Sequence[Side], settings: Settings, controls: Sequence[Side] = ()
    ) -> Iterable[Finding]:
        """Of all that are compared; `controls` are those that were named."""
        return ()

    # A group of the report is named in the room of the report, which lies above this one.

    def leading_figures(self, group: Any) -> Iterable[Figure]:
        """Of a group of the report, before the figures of its section."""
        return ()

    def figures_across(self, group: Any) -> Iterable[Figure]:
        """After the figure of systems two at a time."""
        return ()


def addenda() -> list[Addendum]:
    """Those of the catalog."""
    return list(catalog.every("addendum").values())
