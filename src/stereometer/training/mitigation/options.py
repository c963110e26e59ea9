"""What each method can be told; the commands have the same options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from stereometer.options import Option


@dataclass(frozen=True)
class InlpOptions:
    rounds: Annotated[
        int,
        Option(
            "Number of classifiers, one after another; by default 80 for `paper` and at most 40 "
            "for `sound`.",
            has_default=False,
        ),
    ] = 0


@dataclass(frozen=True)
class SentenceDebiasOptions:
    components: Annotated[int, "Directions that are removed."] = 1


@dataclass(frozen=True)
class SelfDebiasOptions:
    prompt: Annotated[
        str, "What is put before a text; by default our prompt for the attribute."
    ] = ""
    decay: Annotated[
        float, "lambda: how fast a word's weight falls as the prompt makes the word likelier."
    ] = 50.0
    eps: Annotated[float, "The least weight of a word."] = 0.01


@dataclass(frozen=True)
class CdaOptions:
    dropout: Annotated[
        float | None, "Use the Dropout method instead: no swaps, and this dropout rate."
    ] = None
    tokens: Annotated[int, "Train on at most this many tokens."] = 300_000
    rank: Annotated[int, "Rank of the change to each linear layer."] = 8
    rate: Annotated[float, "The learning rate."] = 3e-4
