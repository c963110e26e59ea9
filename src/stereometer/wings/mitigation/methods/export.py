"""A mitigated model as an ordinary folder, which any tool loads."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from stereometer.core.errors import ModelError, UsageError
from stereometer.core.files import make_room, write_json
from stereometer.core.options import InFullPrecision, verb
from stereometer.core.runs.open import open_model
from stereometer.core.show.view import View, line
from stereometer.core.types.document import Document
from stereometer.core.types.names import ModelName
from stereometer.core.types.packages import check_packages
from stereometer.core.types.shown import Shown
from stereometer.wings.mitigation import card as cards
from stereometer.wings.mitigation.methods.mitigate import NEEDED
from stereometer.wings.training.recipe import check_new_folder, with_states

if TYPE_CHECKING:
    from stereometer.models.local.language_model import LanguageModel
    from stereometer.wings.mitigation.forms.stored import Stored

WITHOUT_MEAN = (
    "The folder holds the projection alone, h' = P h: a model of this kind has no place for a bias "
    "in its output layer. Its numbers differ from those of MODEL+FILE."
)


@dataclass(frozen=True, repr=False)
class Exported(Shown, Document):
    folder: str
    weights: str
    """Digest of the weights in the folder."""
    notes: tuple[str, ...]
    card: cards.MitigationCard
    schema: str = "mitigation-export@1"

    def view(self) -> View:
        made = f"{self.folder}: {self.card.base} with {self.card.method}"
        return View(parts=tuple(line(words, whole=True) for words in (made, *self.notes)))


@verb
def export_mitigated(
    model: Annotated[str, "A model with a mitigation: MODEL+FILE."],
    *,
    out: Annotated[str | Path, "The model's folder, which must be new."],
    **loading: Unpack[InFullPrecision],
) -> Exported:
    """Write a mitigated model as an ordinary model folder.

    It is loaded again, always in float32, and held against the model it came from.
    """
    folder, how = Path(out), {**loading, "dtype": "float32"}
    name = ModelName.parse(model).checked()
    if name.mitigation is None:
        raise UsageError(
            f"{model} has no mitigation. There is nothing to export. Name one as MODEL+FILE."
        )
    check_new_folder(folder)
    check_packages("Mitigations", NEEDED, "mitigate")
    from stereometer.models.local.files import write_folder
    from stereometer.wings.mitigation.forms.stored import load

    stored = load(name.mitigation)
    if stored.card.form == cards.PROMPT:
        raise UsageError(
            f"{stored.card.method} changes how a model is asked, not its weights. There is no "
            "folder that would do the same. Use it as MODEL+FILE."
        )
    make_room(folder / cards.EXPORTED)
    opened = with_states(open_model(model, 0, how))
    written, notes = _for_folder(opened, stored, str(name.base), how)
    write_folder(written.model, written.checkpoint.tokenizer, folder)
    try:
        weights = _check(written, folder)
    except ModelError:  # other tools would load it, and it may be the base
        shutil.rmtree(folder)
        raise
    card = replace(stored.card, notes=(*stored.card.notes, *notes))
    if WITHOUT_MEAN in notes:  # its perplexity is that of other weights
        card = replace(card, perplexity=None, settings={**card.settings, "mean": False})
    write_json(folder / cards.EXPORTED, cards.ExportedCard(card, weights).as_json())
    return Exported(str(folder), weights, notes, card)


def _for_folder(
    opened: LanguageModel, stored: Stored, base: str, loading: dict[str, Any]
) -> tuple[LanguageModel, tuple[str, ...]]:
    """The model as a folder can hold it: without a bias where its kind has none."""
    from stereometer.wings.mitigation.forms.apply import fold, read_projection, reading_layer

    if stored.card.form != cards.PROJECTION:
        return opened, ()
    plain = with_states(open_model(base, 0, loading))
    if reading_layer(plain).bias is not None or reading_layer(opened).bias is None:
        return opened, ()
    fold(plain, read_projection(stored), affine=False)
    plain.checkpoint = replace(plain.checkpoint, name=opened.checkpoint.name)
    return plain, (WITHOUT_MEAN,)


def _check(backend: LanguageModel, out: Path) -> str:
    """The digest of what another tool will load, which must be what was written."""
    from stereometer.models.local.checkpoint import load
    from stereometer.models.local.files import weights_digest

    weights = load(str(out)).weights
    if weights != weights_digest(backend.model):
        raise ModelError(
            f"{out} does not load as it was written. Some weights of this kind of model are tied "
            "or named otherwise in a folder. Use the mitigation as MODEL+FILE."
        )
    return weights
