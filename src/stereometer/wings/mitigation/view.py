"""What is said of a mitigation and its control where they are made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stereometer.core.show.numbers import listed
from stereometer.core.show.view import View, line

if TYPE_CHECKING:
    from stereometer.wings.mitigation.card import Measured, MitigationCard


def card(made: MitigationCard) -> View:
    return View(parts=tuple(map(line, _lines(made))))


def _lines(card: MitigationCard) -> Iterator[str]:
    name = f"control ({card.method})" if card.control_of else f"{card.method} ({card.variant})"
    yield f"{name} for {card.base}: {card.attribute}, {_fitted(card)}"
    if card.probe is not None:
        before, after = (_percent(part) for part in (card.probe.before, card.probe.after))
        yield (
            f"  held-out probe accuracy {before} before, {after} after (chance "
            f"{card.probe.chance:.0f} %), on {card.probe.after.n} sentences"
        )
    if card.leaks and not card.control_of:
        yield (
            f"  the text shares no sentence with {listed(list(card.leaks))}; other items were not "
            "looked at (--against FILE)"
        )
    if card.earlier is not None and not card.control_of:
        earlier, layer = _percent(card.earlier.after), card.earlier.layer
        yield f"  halfway up, at layer {layer}: {earlier} after"
    if card.perplexity is not None:
        cost, ratio = card.perplexity, card.perplexity.ratio
        yield (
            f"  {cost.name} {cost.before:.2f} before, {cost.after:.2f} after, ratio "
            f"{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}] on {ratio.n} sentences"
        )


def _fitted(card: MitigationCard) -> str:
    """What it was fitted on, or the prompt of one that is not fitted."""
    if card.rank is None:
        return f"prompt: {card.settings.get('prompt', '')}"
    counts = ", ".join(f"{label} {count}" for label, count in card.sentences.items())
    return f"rank {card.rank}; sentences: {counts}"


def _percent(measured: Measured) -> str:
    return f"{measured.value:.1f} % [{measured.low:.1f}, {measured.high:.1f}]"
