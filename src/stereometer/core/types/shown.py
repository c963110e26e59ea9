"""What `print`, notebooks, pandas and figures make of what a verb returns.

The room that shows it lies above all others, so it is found by name, when it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from stereometer.core.errors import UsageError

NAMES = ("benchmark", "model", "measure", "variant", "outcome")
"""What tells one object from another, where it has it."""
RESULTS = "stereometer.core.results_view"
"""What makes the view of results, of whatever kind."""


def _notebook() -> Any:
    return import_module("stereometer.notebook")


class Told:
    """What a command that has nothing to show says of what it did."""

    def __init__(self, *remarks: str, **document: Any) -> None:
        self.remarks, self.document = remarks, document

    def as_json(self) -> dict[str, Any]:
        return self.document


class Shown:
    """As text and in a notebook what its command prints, cut where that is long."""

    @property
    def remarks(self) -> Sequence[str]:
        """What a command says on standard error after it has shown the value."""
        return ()

    def view(self, *args: Any, **ways: Any) -> Any:
        """A `View`: what a terminal, a notebook and the rest show of it."""
        raise NotImplementedError

    def __str__(self) -> str:
        return str(_notebook().as_text(self))

    def __repr__(self) -> str:
        names = [str(getattr(self, name)) for name in NAMES if getattr(self, name, "")]
        return f"<{' '.join(filter(None, (type(self).__name__, ' · '.join(names))))}>"

    def _repr_html_(self) -> str:
        return str(_notebook().as_html(self))


class Tabular(Shown):
    """What can be had as flat records."""

    def rows(self) -> Sequence[Mapping[str, Any]]:
        raise NotImplementedError

    def to_frame(self) -> Any:
        """The records of `rows()` as a DataFrame; needs pandas."""
        try:
            pandas: Any = import_module("pandas")
        except ModuleNotFoundError:
            raise UsageError(
                "to_frame() needs pandas. It is not installed here. Install it with `pip install "
                "pandas`, or take rows(), which holds the same records."
            ) from None
        return pandas.DataFrame(self.rows())


class WithFigures:
    """What the report has figures of: its `folders` are those of stored runs."""

    def plot(self, title: str | None = None) -> Any:
        """A figure of the report, by its title; by default the one that says most. A notebook
        shows it, and `save("figure.svg")` keeps it."""
        return _notebook().figure(self, title)
