"""Names and what they stand for: the one table. Other packages add to it with entry points of the same four groups."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from stereometer.errors import UnknownName

VERSION = "1"
"""Of every measure so far; a measure whose numbers change gets another."""

TABLE: Mapping[str, Mapping[str, str]] = {
    "benchmark": {
        "starter": "stereometer.benchmarks.starter:SOURCE",
        "stereoset": "stereometer.benchmarks.stereoset:SOURCE",
        "crows-pairs": "stereometer.benchmarks.crows_pairs:ORIGINAL",
        "crows-pairs-revised": "stereometer.benchmarks.crows_pairs:REVISED",
        "crows-pairs-french": "stereometer.benchmarks.crows_pairs:FRENCH",
        "winobias": "stereometer.benchmarks.winobias:DEV",
        "winobias-test": "stereometer.benchmarks.winobias:TEST",
        "abc": "stereometer.benchmarks.abc.items:SOURCE",
        "ethos": "stereometer.benchmarks.ethos:SOURCE",
        "custom": "stereometer.benchmarks.custom:SOURCE",
    },
    "measure": {
        "cat-likelihood": "stereometer.measures.context_association:LIKELIHOOD",
        "cat-sum-likelihood": "stereometer.measures.context_association:SUM_LIKELIHOOD",
        "cat-pseudo-likelihood": "stereometer.measures.context_association:PSEUDO_LIKELIHOOD",
        "pair-likelihood": "stereometer.measures.pair_likelihood:LIKELIHOOD",
        "pair-modified-likelihood": "stereometer.measures.pair_likelihood:MODIFIED",
        "pair-sentence-likelihood": "stereometer.measures.pair_likelihood:SENTENCE",
        "pair-sentence-mean-likelihood": "stereometer.measures.pair_likelihood:SENTENCE_MEAN",
        "pair-after-change-likelihood": "stereometer.measures.pair_likelihood:AFTER_CHANGE",
        "cat-forced-choice": "stereometer.measures.forced_choice:CAT",
        "pair-forced-choice": "stereometer.measures.forced_choice:PAIR",
        "set": "stereometer.measures.traits.association:SET",
        "ilps-star": "stereometer.measures.traits.association:ILPS_STAR",
        "ilps": "stereometer.measures.traits.association:ILPS",
        "causal-set": "stereometer.measures.traits.association:CAUSAL_SET",
        "causal-ilps": "stereometer.measures.traits.association:CAUSAL_ILPS",
        "ceat": "stereometer.measures.traits.embedding:SINGLE",
        "ceat-two-group": "stereometer.measures.traits.embedding:TWO_GROUP",
    },
    "backend": {
        "fake": "stereometer.backends.baselines.fake:Fake",
        "random": "stereometer.backends.baselines.random:Random",
        "sentiment": "stereometer.backends.baselines.sentiment:Sentiment",
    },
    "model": {
        "smollm2-135m": "stereometer.backends.local.defaults:SMOLLM2",
        "minilm-mlm": "stereometer.backends.local.defaults:MINILM",
    },
    "system": {
        "ideal": "stereometer.systems.gold:ideal",
        "stereotyped": "stereometer.systems.gold:stereotyped",
    },
}


def names(kind: str) -> list[str]:
    """Every name of a kind, ours first."""
    return [*TABLE[kind], *sorted(set(_plugins(kind)) - set(TABLE[kind]))]


def find(kind: str, name: str) -> Any:
    """What a name stands for; a versioned name (`cat-likelihood@1`) finds the same."""
    plain, _, version = name.partition("@")
    if version not in ("", VERSION):
        raise UnknownName(kind, name, names(kind))
    if plain in TABLE[kind]:
        module, _, attribute = TABLE[kind][plain].partition(":")
        return getattr(import_module(module), attribute)
    if plain in _plugins(kind):
        return _plugins(kind)[plain].load()
    raise UnknownName(kind, name, names(kind))


def has(kind: str, name: str) -> bool:
    return name.split("@")[0] in names(kind)


@cache
def _plugins(kind: str) -> Mapping[str, Any]:
    return {point.name: point for point in entry_points(group=f"stereometer.{kind}s")}
