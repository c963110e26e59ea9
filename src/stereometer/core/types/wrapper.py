"""What is put onto a model after it was opened: the FILE in `MODEL+FILE`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

from stereometer.core.types.backend import Backend


class Wrapper(ABC):
    """Puts what a file or a folder holds onto a model, and says so on the model's card.

    An instance stands in the catalog under `wrapper`. Its module must be importable without what
    models need: fingerprints are asked of models that are not opened.
    """

    about: ClassVar[str] = ""

    @abstractmethod
    def recognises(self, path: Path) -> bool:
        """Whether the file is its own. The first wrapper of the catalog is not asked: it takes what
        no other recognises, and says what is wrong with it."""

    @abstractmethod
    def wrap(self, base: Any, path: Path) -> Backend:
        """The model with what the file holds, or an error: never the base unchanged. The base is
        used up."""

    def is_in(self, folder: Path) -> bool:
        """Whether a model's own folder says that its weights have something of this wrapper's."""
        return False

    def describe(self, model: Any, folder: Path) -> Backend:
        """The model from such a folder, with what its card should say."""
        return model  # type: ignore[no-any-return]

    @property
    def layout(self) -> Any:
        """What this version can read from a file, as JSON: another one may read another model from
        the same bytes."""
        return None
