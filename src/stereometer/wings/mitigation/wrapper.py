"""`MODEL+FILE`: a mitigation is put onto a model. Imports no torch."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

from stereometer.core.types import Wrapper
from stereometer.wings.mitigation import card

if TYPE_CHECKING:
    from stereometer.models.local.language_model import LanguageModel


class MitigationWrapper(Wrapper):
    about = "Mitigations, as `mitigate` writes them, and folders of `mitigate export`."

    def recognises(self, path: Path) -> bool:
        from stereometer.wings.mitigation.forms.stored import has_card

        return has_card(path)

    def wrap(self, base: LanguageModel, path: Path) -> LanguageModel:
        from stereometer.wings.mitigation.forms.apply import mitigated

        return mitigated(base, path)

    def is_in(self, folder: Path) -> bool:
        return (folder / card.EXPORTED).is_file()

    def describe(self, model: LanguageModel, folder: Path) -> LanguageModel:
        from stereometer.wings.mitigation.forms.apply import recognised

        return recognised(model, folder)

    @property
    def layout(self) -> list[list[str]]:
        """What a card can say: another version may read more, or less, from the same file."""
        parts = (card.MitigationCard, card.Perplexity, card.Probe, card.Measured, card.Leak)
        return [[part.__name__, *(each.name for each in fields(part))] for part in parts]


WRAPPER = MitigationWrapper()
