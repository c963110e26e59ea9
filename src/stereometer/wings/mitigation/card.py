"""What a mitigation says of itself: in its file, in an exported folder, and in results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stereometer.core.errors import ModelError
from stereometer.core.show.numbers import listed
from stereometer.core.show.view import View, line
from stereometer.core.types.document import Document, typed
from stereometer.core.types.shown import Shown

MITIGATION_SCHEMA = "mitigation@1"
SETTING = "mitigation"
"""The name of the card among the settings of a model."""
PROJECTION, ADAPTER, PROMPT = "projection", "adapter", "prompt"
"""Forms, which say how a mitigation is put onto a model: folded into what reads the last states;
merged into all layers, from a folder; around the model, with nothing fitted."""


@dataclass(frozen=True)
class Measured(Document):
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float
    n: int
    """What was counted: sentences for a probe, held-out sentences for perplexity."""

    @property
    def percent(self) -> str:
        return f"{self.value:.1f} % [{self.low:.1f}, {self.high:.1f}]"


@dataclass(frozen=True)
class Probe(Document):
    """How often a linear classifier reads the attribute from states, in per cent; on sentences of
    held-out articles with held-out words."""

    before: Measured
    after: Measured
    chance: float
    layer: int = 0
    """Whose output is read, from 1; 0 is the last, which the head reads."""


@dataclass(frozen=True)
class Perplexity(Document):
    """Of held-out sentences, before and after."""

    before: float
    after: float
    ratio: Measured
    """After by before; its interval is paired over passages, those of one article as one."""
    pseudo: bool = False
    """Whether it is that of a masked model: of each token with all others visible."""

    @property
    def name(self) -> str:
        return "pseudo-perplexity" if self.pseudo else "perplexity"


@dataclass(frozen=True)
class Leak(Document):
    """What a benchmark shares with a mitigation."""

    items: int
    sentences: int
    """Sentences that it shares with the training text; others than none are refused."""
    with_words: int
    """Items with a word of the lists."""
    digest: str
    """Of the data that were looked at."""


@dataclass(frozen=True, repr=False)
class MitigationCard(Shown, Document):
    """Everything that must be known to read the numbers of a mitigated model."""

    method: str
    form: str
    """How it is put onto a model: `projection`, `adapter` or `prompt`."""
    base: str
    """The model's name, for people."""
    base_digest: str
    """Of the weights it was fitted on; it is refused on others."""
    variant: str = "sound"
    attribute: str = ""
    domains: tuple[str, ...] = ()
    """Domains of benchmarks that it is meant to change; others are side effects."""
    words: tuple[str, ...] = ()
    """Every word of the attribute's lists in lower case, held-out ones too."""
    words_digest: str = ""
    text: str = ""
    """The name of the training text, for people."""
    text_digest: str = ""
    sentences: Mapping[str, int] = field(default_factory=dict)
    """Training sentences by class."""
    rank: int | None = None
    """Dimensions that are taken away, or of an adapter."""
    seed: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Options of the method."""
    probe: Probe | None = None
    earlier: Probe | None = None
    """The probe at an earlier layer, where the attribute may still be read."""
    perplexity: Perplexity | None = None
    leaks: Mapping[str, Leak] = field(default_factory=dict)
    """By benchmark or file that was looked at."""
    control: str = ""
    """The control's file name, beside this one."""
    control_of: str = ""
    """The method that this one is a control of; empty for a mitigation."""
    content: str = ""
    """Digest of the tensors in the file and of all else that the card says."""
    notes: tuple[str, ...] = ()
    schema: str = MITIGATION_SCHEMA

    def view(self) -> View:
        return View(parts=tuple(map(line, self._lines())))

    def _lines(self) -> Iterator[str]:
        name = f"control ({self.method})" if self.control_of else f"{self.method} ({self.variant})"
        counts = ", ".join(f"{label} {count}" for label, count in self.sentences.items())
        fitted = f"rank {self.rank}; sentences: {counts}"
        if self.rank is None:
            fitted = f"prompt: {self.settings.get('prompt', '')}"
        yield f"{name} for {self.base}: {self.attribute}, {fitted}"
        if self.probe is not None:
            before, after = self.probe.before, self.probe.after
            yield (
                f"  held-out probe accuracy {before.percent} before, {after.percent} after (chance "
                f"{self.probe.chance:.0f} %), on {after.n} sentences"
            )
        if self.leaks and not self.control_of:
            yield (
                f"  the text shares no sentence with {listed(list(self.leaks))}; other items were "
                "not looked at (--against FILE)"
            )
        if self.earlier is not None and not self.control_of:
            layer, after = self.earlier.layer, self.earlier.after
            yield f"  halfway up, at layer {layer}: {after.percent} after"
        if self.perplexity is not None:
            cost, ratio = self.perplexity, self.perplexity.ratio
            yield (
                f"  {cost.name} {cost.before:.2f} before, {cost.after:.2f} after, ratio "
                f"{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}] on {ratio.n} sentences"
            )


def card_of(model_card: Mapping[str, Any]) -> MitigationCard | None:
    """The card in a result's `model_card`; nothing for a model as it was made."""
    value = (model_card.get("settings") or {}).get(SETTING)
    if value is None:
        return None
    try:
        return typed(MitigationCard, value)
    except ValueError as error:
        raise ModelError(
            f"The card of a mitigation cannot be read: {error}. It was written by another version, "
            "or changed by hand. Measure the model again."
        ) from None


EXPORTED = "mitigation.json"
"""The file in the folder."""


@dataclass(frozen=True)
class ExportedCard(Document):
    card: MitigationCard
    weights: str
    """Digest of the weights in the folder: of others the card says nothing."""
    schema: str = "mitigation-folder@1"
