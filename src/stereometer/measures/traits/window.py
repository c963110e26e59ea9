"""Adjectives that no sentence about any group leaves room for: told before anything is asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stereometer.errors import ModelError
from stereometer.measures.traits.blanks import Frame, Reader, TraitItem
from stereometer.types import TOO_LONG, Skip

SHOWN = 40
"""Letters of an adjective that an error quotes."""


def check_window(items: Sequence[TraitItem], reader: Reader) -> None:
    """Raises for an adjective that exceeds the model's window even in the shortest sentence."""
    frames = sorted(
        dict.fromkeys(item.frame for item in items), key=lambda frame: len(frame.sentence("").text)
    )
    words = dict.fromkeys(
        word
        for vocabulary in {item.vocabulary for item in items}
        for word in reader.words(vocabulary)
    )
    for word in words:
        if not _fits(word, frames, reader):
            quoted = word if len(word) <= SHOWN else f"{word[:SHOWN]}..."
            raise ModelError(
                f"The adjective '{quoted}' is longer than the model's window in every sentence. "
                "It cannot be scored for any group. Shorten it, or leave its trait out."
            )


def _fits(word: str, frames: Iterable[Frame], reader: Reader) -> bool:
    for frame in frames:
        try:
            reader.encode(frame.sentence(word).text)
            return True
        except Skip as skip:
            if skip.reason != TOO_LONG:
                return True
    return False
