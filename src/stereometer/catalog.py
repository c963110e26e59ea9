"""Names and what they stand for: the one table. Other packages add to it with entry points of the
same groups."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from stereometer.benchmarks.packs.pack import folder_of, installed, is_pack, shipped
from stereometer.errors import DataError, UnknownName, respelled
from stereometer.shapes.shape import Shape
from stereometer.types.method import Method, completed
from stereometer.types.names import MeasureName, ModelName

TABLE: Mapping[str, Mapping[str, str]] = {
    "shape": {
        "cat": "stereometer.shapes.cat.shape:SHAPE",
        "pair": "stereometer.shapes.pair.shape:SHAPE",
        "trait": "stereometer.shapes.trait.shape:SHAPE",
        "sentences": "stereometer.shapes.trait.shape:SENTENCE_SHAPE",
        "sentence-pairs": "stereometer.shapes.trait.shape:SENTENCE_PAIR_SHAPE",
        "survey": "stereometer.shapes.trait.shape:SURVEY_SHAPE",
        "comment": "stereometer.shapes.comment.shape:SHAPE",
        "alignment": "stereometer.shapes.alignment:SHAPE",
        "intersection": "stereometer.shapes.intersection:SHAPE",
        "sweep": "stereometer.shapes.sweep:SHAPE",
        "fact": "stereometer.shapes.fact:SHAPE",
    },
    "section": {
        "cat": "stereometer.report.sections.cat:SECTION",
        "pair": "stereometer.report.sections.pair:SECTION",
        "trait": "stereometer.report.sections.trait:SECTION",
        "sentences": "stereometer.report.sections.trait:SECTION",
        "sentence-pairs": "stereometer.report.sections.trait:SECTION",
        "survey": "stereometer.report.sections.trait:SECTION",
        "comment": "stereometer.report.sections.comment:SECTION",
        "alignment": "stereometer.report.sections.alignment:SECTION",
        "intersection": "stereometer.report.sections.intersection:SECTION",
        "sweep": "stereometer.report.sections.sweep:SECTION",
    },
    "benchmark": {
        "starter": "stereometer.benchmarks.sentences:STARTER",
        "stereoset": "stereometer.benchmarks.sentences:STEREOSET",
        "crows-pairs": "stereometer.benchmarks.sentences:CROWS_PAIRS",
        "crows-pairs-revised": "stereometer.benchmarks.sentences:CROWS_PAIRS_REVISED",
        "winobias": "stereometer.benchmarks.sentences:WINOBIAS",
        "winobias-test": "stereometer.benchmarks.sentences:WINOBIAS_TEST",
        "abc": "stereometer.benchmarks.abc.items:SOURCE",
        "survey": "stereometer.benchmarks.abc.survey:SOURCE",
        "ethos": "stereometer.benchmarks.comments:SOURCE",
        "definitional": "stereometer.benchmarks.sentences:DEFINITIONAL",
        "custom": "stereometer.benchmarks.custom:SOURCE",
    },
    "method": {
        "cat-likelihood": "stereometer.measures.context_association:LIKELIHOOD",
        "cat-sum-likelihood": "stereometer.measures.context_association:SUM_LIKELIHOOD",
        "cat-pseudo-likelihood": "stereometer.measures.context_association:PSEUDO_LIKELIHOOD",
        "pair-likelihood": "stereometer.measures.pair_likelihood:LIKELIHOOD",
        "pair-modified-likelihood": "stereometer.measures.pair_likelihood:MODIFIED",
        "pair-random-masks-likelihood": "stereometer.measures.pair_likelihood:RANDOM_MASKS",
        "pair-all-masks-likelihood": "stereometer.measures.pair_likelihood:ALL_MASKS",
        "pair-sentence-likelihood": "stereometer.measures.pair_likelihood:SENTENCE",
        "pair-sentence-mean-likelihood": "stereometer.measures.pair_likelihood:SENTENCE_MEAN",
        "pair-after-change-likelihood": "stereometer.measures.pair_likelihood:AFTER_CHANGE",
        "cat-forced-choice": "stereometer.measures.forced_choice.method:CAT",
        "pair-forced-choice": "stereometer.measures.forced_choice.method:PAIR",
        "set": "stereometer.measures.traits.association:SET",
        "ilps-star": "stereometer.measures.traits.association:ILPS_STAR",
        "ilps": "stereometer.measures.traits.association:ILPS",
        "causal-set": "stereometer.measures.traits.association:CAUSAL_SET",
        "causal-ilps": "stereometer.measures.traits.association:CAUSAL_ILPS",
        "ceat": "stereometer.measures.traits.embedding:SINGLE",
        "ceat-two-group": "stereometer.measures.traits.embedding:TWO_GROUP",
        "recognition-zero-shot": "stereometer.measures.recognition.method:ZERO_SHOT",
        "recognition-one-shot": "stereometer.measures.recognition.method:ONE_SHOT",
        "recognition-few-shot-single": "stereometer.measures.recognition.method:FEW_SHOT_SINGLE",
        "recognition-few-shot-mixed": "stereometer.measures.recognition.method:FEW_SHOT_MIXED",
        "recognition-few-shot-mixed-instruction": (
            "stereometer.measures.recognition.method:MIXED_INSTRUCTION"
        ),
        "recognition-misspelling": "stereometer.measures.recognition.method:MISSPELT",
        "survey": "stereometer.measures.survey.method:SURVEY",
        "fact-likelihood": "stereometer.measures.pair_likelihood:FACT_LIKELIHOOD",
    },
    "backend": {
        "fake": "stereometer.backends.baselines.fake:Fake",
        "random": "stereometer.backends.text_scores:Random",
        "sentiment": "stereometer.backends.text_scores:Sentiment",
    },
    "opener": {
        "checkpoint": "stereometer.backends.local.opener:CHECKPOINT",
        "sentiment": "stereometer.backends.local.opener:CLASSIFIER",
        "server": "stereometer.backends.server.opener:SERVER",
    },
    "model": {
        "smollm2-135m": "stereometer.backends.local.defaults:SMOLLM2",
        "minilm-mlm": "stereometer.backends.local.defaults:MINILM",
    },
    "mitigation": {
        "leace": "stereometer.training.mitigation.leace:METHOD",
        "self-debias": "stereometer.training.mitigation.self_debias:METHOD",
        "cda": "stereometer.training.mitigation.cda:METHOD",
        "inlp": "stereometer.training.mitigation.inlp:METHOD",
        "sentence-debias": "stereometer.training.mitigation.sentence_debias:METHOD",
    },
    "system": {
        "ideal": "stereometer.systems.gold:ideal",
        "stereotyped": "stereometer.systems.gold:stereotyped",
    },
    "exporter": {
        "csv": "stereometer.exports.flat:CSV",
        "metrics": "stereometer.exports.flat:METRICS",
        "eee": "stereometer.exports.eee:EXPORTER",
        "inspect": "stereometer.exports.inspect:EXPORTER",
        "lm-eval": "stereometer.exports.lm_eval:EXPORTER",
        "hub": "stereometer.exports.hub:EXPORTER",
        "model-card": "stereometer.exports.model_card:EXPORTER",
        "figures": "stereometer.exports.figures:EXPORTER",
    },
}
METHOD = "method"
NOUNS = {METHOD: "measure"}
"""What users call a kind, where that is another word."""


def names(kind: str) -> list[str]:
    """Every name of a kind, ours first."""
    ours = [*TABLE[kind], *_shipped(kind)]
    return [*ours, *sorted({*_plugins(kind), *_installed(kind)} - set(ours))]


def find(kind: str, name: str) -> Any:
    """What a name stands for; a versioned one (`pair-likelihood@1`) is that version or unknown."""
    if _is_folder(kind, name):
        return replace(_pack(Path(name)), path=name)
    asked = _asked(kind, name)
    if asked.name in names(kind):
        entry = _load(kind, asked.name)
        entry = completed(entry) if kind == METHOD else entry
        if not asked.options and asked.version in ("", getattr(entry, "version", "")):
            return entry
    name = str(asked)
    if kind == PACKED and name in installed():
        return _pack(folder_of(installed()[name]), name)  # one that cannot be read says why
    raise UnknownName(NOUNS.get(kind, kind), name, names(kind))


def spelled(kind: str, name: str) -> str:
    """A name as the catalog writes it; as it is where nothing has it, or where it is a path."""
    return str(_asked(kind, name))


def _asked(kind: str, name: str) -> MeasureName:
    """Only methods have versions."""
    asked = MeasureName.parse(name) if kind == METHOD else MeasureName(name)
    known = names(kind)
    found = asked.name in known or Path(name).exists()
    return asked if found else replace(asked, name=respelled(asked.name, known))


def _load(kind: str, name: str) -> Any:
    if name in TABLE[kind]:
        module, _, attribute = TABLE[kind][name].partition(":")
        return getattr(import_module(module), attribute)
    if name in _shipped(kind):
        return packs().source_of(_shipped(kind)[name])
    if name in _plugins(kind):
        return _plugins(kind)[name].load()
    return _pack(_installed(kind)[name], name)


def place(kind: str, name: str) -> str:
    """Where a name's object is, as `module:object`."""
    name = spelled(kind, name)
    return TABLE[kind].get(name) or str(_plugins(kind)[name].value)


def has(kind: str, name: str) -> bool:
    return _asked(kind, name).name in names(kind) or _is_folder(kind, name)


def shape(kind: str) -> Shape:
    """The shape of a kind of result; the plain one for a kind that nobody declared."""
    declared: Shape = find("shape", kind) if has("shape", kind) else Shape()
    return declared


def method(measure: str) -> Method | None:
    """The method behind a result's measure; None where nothing here has its name."""
    name = MeasureName.parse(measure).name
    return find(METHOD, name) if has(METHOD, name) else None


def model_name(text: str) -> ModelName:
    """A model's name with the schemes that are known."""
    return ModelName.parse(text, names("opener"))


@cache
def _plugins(kind: str) -> Mapping[str, Any]:
    return {point.name: point for point in entry_points(group=f"stereometer.{kind}s")}


# ------------------------------------------------------------------------------------------- packs

PACKED = "benchmark"
"""The kind that packs are of."""


def packs() -> Any:
    """What reads them, imported when the first is opened."""
    return import_module("stereometer.benchmarks.packs.source")


def pack(name: str) -> Any:
    """A pack by its name or its folder, and nothing else."""
    source = find(PACKED, name) if has(PACKED, name) else None
    if not isinstance(source, packs().PackSource):
        raise DataError(
            f"{name} is not a pack. A pack is a folder with pack.toml, or the name of one. Check "
            "the path."
        )
    return source


def _is_folder(kind: str, name: str) -> bool:
    """Whether it is the path of a pack."""
    return kind == PACKED and name not in names(kind) and is_pack(Path(name))


def _pack(folder: Path, name: str | None = None) -> Any:
    """A pack from elsewhere, whose name must be its own."""
    source = packs().source_of(folder)
    ours = _shipped(PACKED).get(source.name)
    if ours is not None and ours.resolve() == folder.resolve():
        return source
    taken = source.name in (*TABLE[PACKED], *_shipped(PACKED), *_plugins(PACKED))
    if taken or source.name != (name or source.name):
        raise DataError(
            f"The pack in {folder} calls itself {source.name!r}. "
            f"{'That is another set' if taken else f'It was installed as {name!r}'}, and results "
            "of the two could not be told apart. Give it another name."
        )
    return source


@cache
def _shipped(kind: str) -> Mapping[str, Path]:
    return shipped() if kind == PACKED else {}


@cache
def _installed(kind: str) -> Mapping[str, Path]:
    """Those that can be read: a broken one must not keep others from being listed."""
    folders = {}
    for name, point in installed().items() if kind == PACKED else ():
        with suppress(DataError):
            folder = folder_of(point)
            _pack(folder, name)
            folders[name] = folder
    return folders
