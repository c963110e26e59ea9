"""What is counted of scores of comments: there may be a million of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stereometer.core.types import Score
from stereometer.kinds.comments.items import UNNAMED

NOTHING: Mapping[str, Any] = {}


def slim(scores: Iterable[Score]) -> list[Score]:
    """No texts but of answers that name no label; readings that are the same are one object."""
    shared: dict[tuple[tuple[str, str], ...], Mapping[str, str]] = {}

    def reading(answer: Mapping[str, str]) -> Mapping[str, str]:
        dropped = "text" if answer.get("label", UNNAMED) != UNNAMED else ""
        kept = {name: text for name, text in answer.items() if name != dropped}
        return shared.setdefault(tuple(kept.items()), kept)

    parts = ((each.slices, each.skipped, tuple(map(reading, each.answers))) for each in scores)
    return [Score("", at, NOTHING, why, NOTHING, NOTHING, answers) for at, why, answers in parts]
