"""Tables of `mitigate`: what is known of a mitigation and its control, and what was exported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stereometer.cli import render
from stereometer.show.numbers import listed

if TYPE_CHECKING:
    from stereometer.training.mitigation.export import Exported
    from stereometer.training.mitigation.mitigate import Mitigations


def print_mitigations(made: Mitigations) -> None:
    for card in made:
        print_card(card)
    model, out = made.wish.model, made.wish.out
    beside = [out.with_name(card.control) for card in made if card.control]
    changed = "".join(f" --model {model}+{place}" for place in (out, *beside))
    render.line(f"use it: --model {model}{changed}", soft_wrap=True)


def print_exported(done: Exported) -> None:
    for line in (f"{done.folder}: {done.card.base} with {done.card.method}", *done.notes):
        render.line(line, soft_wrap=True)


def print_card(card: Any) -> None:
    name = f"control ({card.method})" if card.control_of else f"{card.method} ({card.variant})"
    render.line(f"{name} for {card.base}: {card.attribute}, {_fitted(card)}")
    if card.probe is not None:
        before, after = (_value(part, " %") for part in (card.probe.before, card.probe.after))
        render.line(
            f"  held-out probe accuracy {before} before, {after} after (chance "
            f"{card.probe.chance:.0f} %), on {card.probe.after.n} sentences"
        )
    if card.leaks and not card.control_of:
        render.line(
            f"  the text shares no sentence with {listed(list(card.leaks))}; other items were not "
            "looked at (--against FILE)"
        )
    if card.earlier is not None and not card.control_of:
        earlier, layer = _value(card.earlier.after, " %"), card.earlier.layer
        render.line(f"  halfway up, at layer {layer}: {earlier} after")
    if card.perplexity is not None:
        cost, ratio = card.perplexity, card.perplexity.ratio
        render.line(
            f"  {cost.name} {cost.before:.2f} before, {cost.after:.2f} after, ratio "
            f"{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}] on {ratio.n} sentences"
        )


def _fitted(card: Any) -> str:
    """What it was fitted on, or the prompt of one that is not fitted."""
    if card.rank is None:
        return f"prompt: {card.settings.get('prompt', '')}"
    counts = ", ".join(f"{label} {count}" for label, count in card.sentences.items())
    return f"rank {card.rank}; sentences: {counts}"


def _value(measured: Any, unit: str) -> str:
    return f"{measured.value:.1f}{unit} [{measured.low:.1f}, {measured.high:.1f}]"
