"""`MODEL+FILE`: a mitigation is put onto a model. Imports no torch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stereometer.core.types import Wrapper
from stereometer.wings.mitigation.card import EXPORTED, layout

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
        return (folder / EXPORTED).is_file()

    def describe(self, model: LanguageModel, folder: Path) -> LanguageModel:
        from stereometer.wings.mitigation.forms.apply import recognised

        return recognised(model, folder)

    @property
    def layout(self) -> list[list[str]]:
        return layout()


WRAPPER = MitigationWrapper()
