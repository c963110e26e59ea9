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
from typing import TYPE_CHECKING, Any

from stereometer.core.errors import DataError, UnknownName, respelled
from stereometer.core.types.method import completed
from stereometer.core.types.names import MeasureName, ModelName

if TYPE_CHECKING:
    from stereometer.core.shapes.shape import Shape
    from stereometer.core.types.method import Method

TABLE: Mapping[str, Mapping[str, str]] = {
    "shape": {
        "cat": "stereometer.kinds.cats.shape:SHAPE",
        "pair": "stereometer.kinds.pairs.shape:SHAPE",
        "trait": "stereometer.kinds.traits.shape:SHAPE",
        "sentences": "stereometer.kinds.traits.shape:SENTENCE_SHAPE",
        "sentence-pairs": "stereometer.kinds.traits.shape:SENTENCE_PAIR_SHAPE",
        "survey": "stereometer.kinds.traits.shape:SURVEY_SHAPE",
        "comment": "stereometer.kinds.comments.shape:SHAPE",
        "alignment": "stereometer.kinds.traits.align.shape:SHAPE",
        "intersection": "stereometer.kinds.traits.intersect.shape:SHAPE",
        "sweep": "stereometer.wings.sweep.shape:SHAPE",
        "fact": "stereometer.kinds.facts.shape:SHAPE",
    },
    "section": {
        "cat": "stereometer.kinds.cats.section:SECTION",
        "pair": "stereometer.kinds.pairs.section:SECTION",
        "trait": "stereometer.kinds.traits.section:SECTION",
        "sentences": "stereometer.kinds.traits.section:SECTION",
        "sentence-pairs": "stereometer.kinds.traits.section:SECTION",
        "survey": "stereometer.kinds.traits.section:SECTION",
        "comment": "stereometer.kinds.comments.section:SECTION",
        "alignment": "stereometer.kinds.traits.align.section:SECTION",
        "intersection": "stereometer.kinds.traits.intersect.section:SECTION",
        "sweep": "stereometer.wings.sweep.section:SECTION",
    },
    "benchmark": {
        "starter": "stereometer.wings.packs.starter:STARTER",
        "stereoset": "stereometer.kinds.cats.benchmarks:STEREOSET",
        "crows-pairs": "stereometer.kinds.pairs.benchmarks:CROWS_PAIRS",
        "crows-pairs-revised": "stereometer.kinds.pairs.benchmarks:CROWS_PAIRS_REVISED",
        "winobias": "stereometer.kinds.pairs.benchmarks:WINOBIAS",
        "winobias-test": "stereometer.kinds.pairs.benchmarks:WINOBIAS_TEST",
        "abc": "stereometer.kinds.traits.abc.items:SOURCE",
        "survey": "stereometer.kinds.traits.abc.survey:SOURCE",
        "ethos": "stereometer.kinds.comments.benchmarks:SOURCE",
        "definitional": "stereometer.kinds.facts.benchmarks:DEFINITIONAL",
        "custom": "stereometer.wings.packs.custom:SOURCE",
    },
    "method": {
        "cat-likelihood": "stereometer.kinds.cats.methods:LIKELIHOOD",
        "cat-sum-likelihood": "stereometer.kinds.cats.methods:SUM_LIKELIHOOD",
        "cat-pseudo-likelihood": "stereometer.kinds.cats.methods:PSEUDO_LIKELIHOOD",
        "pair-likelihood": "stereometer.kinds.pairs.methods:LIKELIHOOD",
        "pair-modified-likelihood": "stereometer.kinds.pairs.methods:MODIFIED",
        "pair-random-masks-likelihood": "stereometer.kinds.pairs.methods:RANDOM_MASKS",
        "pair-all-masks-likelihood": "stereometer.kinds.pairs.methods:ALL_MASKS",
        "pair-sentence-likelihood": "stereometer.kinds.pairs.methods:SENTENCE",
        "pair-sentence-mean-likelihood": "stereometer.kinds.pairs.methods:SENTENCE_MEAN",
        "pair-after-change-likelihood": "stereometer.kinds.pairs.methods:AFTER_CHANGE",
        "cat-forced-choice": "stereometer.kinds.cats.forced_choice:METHOD",
        "pair-forced-choice": "stereometer.kinds.pairs.forced_choice:METHOD",
        "set": "stereometer.kinds.traits.methods.association:SET",
        "ilps-star": "stereometer.kinds.traits.methods.association:ILPS_STAR",
        "ilps": "stereometer.kinds.traits.methods.association:ILPS",
        "causal-set": "stereometer.kinds.traits.methods.association:CAUSAL_SET",
        "causal-ilps": "stereometer.kinds.traits.methods.association:CAUSAL_ILPS",
        "ceat": "stereometer.kinds.traits.methods.embedding:SINGLE",
        "ceat-two-group": "stereometer.kinds.traits.methods.embedding:TWO_GROUP",
        "recognition-zero-shot": "stereometer.kinds.comments.recognition.method:ZERO_SHOT",
        "recognition-one-shot": "stereometer.kinds.comments.recognition.method:ONE_SHOT",
        "recognition-few-shot-single": (
            "stereometer.kinds.comments.recognition.method:FEW_SHOT_SINGLE"
        ),
        "recognition-few-shot-mixed": (
            "stereometer.kinds.comments.recognition.method:FEW_SHOT_MIXED"
        ),
        "recognition-few-shot-mixed-instruction": (
            "stereometer.kinds.comments.recognition.method:MIXED_INSTRUCTION"
        ),
        "recognition-misspelling": "stereometer.kinds.comments.recognition.method:MISSPELT",
        "survey": "stereometer.kinds.traits.survey.method:SURVEY",
        "fact-likelihood": "stereometer.kinds.facts.methods:LIKELIHOOD",
    },
    "backend": {
        "fake": "stereometer.models.baselines.fake:Fake",
        "random": "stereometer.models.text_scores:Random",
        "sentiment": "stereometer.models.text_scores:Sentiment",
    },
    "opener": {
        "checkpoint": "stereometer.models.local.opener:CHECKPOINT",
        "sentiment": "stereometer.models.local.opener:CLASSIFIER",
        "server": "stereometer.models.server.opener:SERVER",
        "openai": "stereometer.models.server.opener:OPENAI",
        "anthropic": "stereometer.models.server.opener:ANTHROPIC",
        "gemini": "stereometer.models.server.opener:GEMINI",
        "openrouter": "stereometer.models.server.opener:OPENROUTER",
        "ollama": "stereometer.models.server.opener:OLLAMA",
    },
    "model": {
        "smollm2-135m": "stereometer.models.local.defaults:SMOLLM2",
        "minilm-mlm": "stereometer.models.local.defaults:MINILM",
    },
    "addendum": {
        "mitigation": "stereometer.wings.mitigation.addendum:ADDENDUM",
        "relations": "stereometer.wings.relations.addendum:ADDENDUM",
    },
    "wrapper": {
        "mitigation": "stereometer.wings.mitigation.wrapper:WRAPPER",
    },
    "mitigation": {
        "leace": "stereometer.wings.mitigation.methods.leace:METHOD",
        "self-debias": "stereometer.wings.mitigation.methods.self_debias:METHOD",
        "cda": "stereometer.wings.mitigation.methods.cda:METHOD",
        "inlp": "stereometer.wings.mitigation.methods.inlp:METHOD",
        "sentence-debias": "stereometer.wings.mitigation.methods.sentence_debias:METHOD",
    },
    "attribute": {
        "gender": "stereometer.wings.mitigation.attribute:GENDER",
        "race": "stereometer.wings.mitigation.attribute:RACE",
    },
    "system": {
        "ideal": "stereometer.models.gold:ideal",
        "stereotyped": "stereometer.models.gold:stereotyped",
    },
    "engine": {
        "workers": "stereometer.wings.workers.choice:from_options",
        "shard": "stereometer.wings.workers.shards:part_of",
    },
    "outcome": {
        "junit": "stereometer.wings.exports.outcomes:junit",
        "summary": "stereometer.wings.exports.outcomes:summary",
        "openmetrics": "stereometer.wings.exports.outcomes:openmetrics",
    },
    "exporter": {
        "csv": "stereometer.wings.exports.flat:CSV",
        "metrics": "stereometer.wings.exports.flat:METRICS",
        "eee": "stereometer.wings.exports.eee:EXPORTER",
        "inspect": "stereometer.wings.exports.inspect:EXPORTER",
        "lm-eval": "stereometer.wings.exports.lm_eval:EXPORTER",
        "hub": "stereometer.wings.exports.hub:EXPORTER",
        "model-card": "stereometer.wings.exports.model_card:EXPORTER",
        "figures": "stereometer.wings.exports.figures:EXPORTER",
    },
    # The room whose `commands.toml` declares it, in the order of `stereometer --help`.
    "command": {
        "run": "stereometer.core",
        "sweep": "stereometer.wings.sweep",
        "ask": "stereometer.wings.asking",
        "replay": "stereometer.wings.replay",
        "ensemble": "stereometer.wings.relations",
        "compare": "stereometer.core",
        "report": "stereometer.report",
        "export": "stereometer.wings.exports",
        "submit": "stereometer.wings.board",
        "gate": "stereometer.core",
        "calibrate": "stereometer.wings.relations",
        "relate": "stereometer.wings.relations",
        "show": "stereometer.core",
        "list": "stereometer.core",
        "published": "stereometer.core",
        "align": "stereometer.kinds.traits",
        "intersect": "stereometer.kinds.traits",
        "analyze": "stereometer.wings.curation",
        "audit": "stereometer.wings.curation",
        "split": "stereometer.wings.curation",
        "terms": "stereometer.wings.curation",
        "doctor": "stereometer.wings.doctor",
        "serve-model": "stereometer.wings.serving",
        "aggregate": "stereometer.wings.curation",
        "study": "stereometer.wings.people",
        "board": "stereometer.wings.board",
        "data": "stereometer.core",
        "pack": "stereometer.wings.packs",
        "cache": "stereometer.core",
        "cache merge": "stereometer.wings.workers",
        "model": "stereometer.core",
        "mitigate": "stereometer.wings.mitigation",
        "train": "stereometer.wings.training",
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
    if kind == PACKED and name in (installed := pack_folders().installed()):
        return _pack(
            pack_folders().folder_of(installed[name]), name
        )  # one that cannot be read says why
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
        found = import_module(module)
        return getattr(found, attribute) if attribute else found
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
    from stereometer.core.shapes.shape import Shape

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


def pack_folders() -> Any:
    """Where packs are, imported when a benchmark is looked for: a list of commands needs none."""
    return import_module("stereometer.core.benchmarks.packs.pack")


def packs() -> Any:
    """What reads them, imported when the first is opened."""
    return import_module("stereometer.wings.packs.source")


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
    return kind == PACKED and name not in names(kind) and pack_folders().is_pack(Path(name))


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
    return pack_folders().shipped() if kind == PACKED else {}


@cache
def _installed(kind: str) -> Mapping[str, Path]:
    """Those that can be read: a broken one must not keep others from being listed."""
    folders: dict[str, Path] = {}
    if kind != PACKED:
        return folders
    for name, point in pack_folders().installed().items():
        with suppress(DataError):
            folder = pack_folders().folder_of(point)
            _pack(folder, name)
            folders[name] = folder
    return folders
