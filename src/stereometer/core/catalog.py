"""Names and what they stand for: the one table. Other packages add to it with entry points of the
same groups."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from importlib.util import resolve_name
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stereometer.core.errors import DataError, ModelError, UnknownName, respelled
from stereometer.core.types.names import MeasureName, ModelName

if TYPE_CHECKING:
    from stereometer.core.shapes.shape import Shape
    from stereometer.core.types.method import Method
    from stereometer.core.types.wrapper import Wrapper

TABLE: Mapping[str, Mapping[str, str]] = {
    "shape": {
        "cat": ".kinds.cats.shape:SHAPE",
        "pair": ".kinds.pairs.shape:SHAPE",
        "trait": ".kinds.traits.shape:SHAPE",
        "sentences": ".kinds.traits.shape:SENTENCE_SHAPE",
        "sentence-pairs": ".kinds.traits.shape:SENTENCE_PAIR_SHAPE",
        "survey": ".kinds.traits.shape:SURVEY_SHAPE",
        "comment": ".kinds.comments.shape:SHAPE",
        "alignment": ".kinds.traits.align.shape:SHAPE",
        "intersection": ".kinds.traits.intersect.shape:SHAPE",
        "sweep": ".wings.sweep.shape:SHAPE",
        "fact": ".kinds.facts.shape:SHAPE",
    },
    "section": {
        "cat": ".kinds.cats.section:SECTION",
        "pair": ".kinds.pairs.section:SECTION",
        "trait": ".kinds.traits.section:SECTION",
        "sentences": ".kinds.traits.section:SECTION",
        "sentence-pairs": ".kinds.traits.section:SECTION",
        "survey": ".kinds.traits.section:SECTION",
        "comment": ".kinds.comments.section:SECTION",
        "alignment": ".kinds.traits.align.section:SECTION",
        "intersection": ".kinds.traits.intersect.section:SECTION",
        "sweep": ".wings.sweep.section:SECTION",
    },
    "benchmark": {
        "starter": ".core.benchmarks.starter:STARTER",
        "stereoset": ".kinds.cats.benchmarks:STEREOSET",
        "crows-pairs": ".kinds.pairs.benchmarks:CROWS_PAIRS",
        "crows-pairs-revised": ".kinds.pairs.benchmarks:CROWS_PAIRS_REVISED",
        "winobias": ".kinds.pairs.benchmarks:WINOBIAS",
        "winobias-test": ".kinds.pairs.benchmarks:WINOBIAS_TEST",
        "abc": ".kinds.traits.abc.items:SOURCE",
        "survey": ".kinds.traits.abc.survey:SOURCE",
        "ethos": ".kinds.comments.benchmarks:SOURCE",
        "definitional": ".kinds.facts.benchmarks:DEFINITIONAL",
        "custom": ".wings.packs.custom:SOURCE",
    },
    "method": {
        "cat-likelihood": ".kinds.cats.methods:LIKELIHOOD",
        "cat-sum-likelihood": ".kinds.cats.methods:SUM_LIKELIHOOD",
        "cat-pseudo-likelihood": ".kinds.cats.methods:PSEUDO_LIKELIHOOD",
        "pair-likelihood": ".kinds.pairs.methods:LIKELIHOOD",
        "pair-modified-likelihood": ".kinds.pairs.methods:MODIFIED",
        "pair-random-masks-likelihood": ".kinds.pairs.methods:RANDOM_MASKS",
        "pair-all-masks-likelihood": ".kinds.pairs.methods:ALL_MASKS",
        "pair-sentence-likelihood": ".kinds.pairs.methods:SENTENCE",
        "pair-sentence-mean-likelihood": ".kinds.pairs.methods:SENTENCE_MEAN",
        "pair-after-change-likelihood": ".kinds.pairs.methods:AFTER_CHANGE",
        "cat-forced-choice": ".kinds.cats.forced_choice:METHOD",
        "cat-graded-choice": ".kinds.cats.forced_choice:GRADED",
        "cat-isolated-rating": ".kinds.cats.forced_choice:ISOLATED",
        "pair-forced-choice": ".kinds.pairs.forced_choice:METHOD",
        "pair-graded-choice": ".kinds.pairs.forced_choice:GRADED",
        "pair-isolated-rating": ".kinds.pairs.forced_choice:ISOLATED",
        "set": ".kinds.traits.methods.association:SET",
        "ilps-star": ".kinds.traits.methods.association:ILPS_STAR",
        "ilps": ".kinds.traits.methods.association:ILPS",
        "causal-set": ".kinds.traits.methods.association:CAUSAL_SET",
        "causal-ilps": ".kinds.traits.methods.association:CAUSAL_ILPS",
        "ceat": ".kinds.traits.methods.embedding:SINGLE",
        "ceat-two-group": ".kinds.traits.methods.embedding:TWO_GROUP",
        "recognition-zero-shot": ".kinds.comments.recognition.method:ZERO_SHOT",
        "recognition-one-shot": ".kinds.comments.recognition.method:ONE_SHOT",
        "recognition-few-shot-single": ".kinds.comments.recognition.method:FEW_SHOT_SINGLE",
        "recognition-few-shot-mixed": ".kinds.comments.recognition.method:FEW_SHOT_MIXED",
        "recognition-few-shot-mixed-instruction": (
            ".kinds.comments.recognition.method:MIXED_INSTRUCTION"
        ),
        "recognition-misspelling": ".kinds.comments.recognition.method:MISSPELT",
        "survey": ".kinds.traits.survey.method:SURVEY",
        "fact-likelihood": ".kinds.facts.methods:LIKELIHOOD",
    },
    "backend": {
        "fake": ".models.baselines.fake:Fake",
        "random": ".models.text_scores:Random",
        "sentiment": ".models.text_scores:Sentiment",
    },
    "opener": {
        "checkpoint": ".models.local.opener:CHECKPOINT",
        "sentiment": ".models.local.opener:CLASSIFIER",
        "vllm": ".models.vllm.opener:VLLM",
        "server": ".models.server.opener:SERVER",
        "openai": ".models.server.opener:OPENAI",
        "anthropic": ".models.server.opener:ANTHROPIC",
        "gemini": ".models.server.opener:GEMINI",
        "openrouter": ".models.server.opener:OPENROUTER",
        "ollama": ".models.server.opener:OLLAMA",
    },
    "model": {
        "smollm2-135m": ".models.local.defaults:SMOLLM2",
        "minilm-mlm": ".models.local.defaults:MINILM",
    },
    "addendum": {
        "mitigation": ".wings.mitigation.addendum:ADDENDUM",
        "relations": ".wings.relations.addendum:ADDENDUM",
    },
    "wrapper": {
        "mitigation": ".wings.mitigation.wrapper:WRAPPER",
        "adapter": ".models.local.adapter:WRAPPER",
    },
    "mitigation": {
        "leace": ".wings.mitigation.methods.leace:METHOD",
        "self-debias": ".wings.mitigation.methods.self_debias:METHOD",
        "cda": ".wings.mitigation.methods.cda:METHOD",
        "inlp": ".wings.mitigation.methods.inlp:METHOD",
        "sentence-debias": ".wings.mitigation.methods.sentence_debias:METHOD",
    },
    "attribute": {
        "gender": ".wings.mitigation.attribute:GENDER",
        "race": ".wings.mitigation.attribute:RACE",
    },
    "system": {
        "ideal": ".models.gold:ideal",
        "stereotyped": ".models.gold:stereotyped",
    },
    "engine": {
        "workers": ".wings.workers.choice:from_options",
        "shard": ".wings.workers.shards:part_of",
    },
    "outcome": {
        "junit": ".wings.exports.outcomes:junit",
        "summary": ".wings.exports.outcomes:summary",
        "openmetrics": ".wings.exports.outcomes:openmetrics",
    },
    "exporter": {
        "csv": ".wings.exports.flat:estimates",
        "metrics": ".wings.exports.flat:metrics",
        "eee": ".wings.exports.eee:write",
        "inspect": ".wings.exports.inspect:write",
        "lm-eval": ".wings.exports.lm_eval:write",
        "hub": ".wings.exports.hub:write",
        "model-card": ".wings.exports.model_card:write",
        "figures": ".wings.exports.figures:write",
    },
    # The room whose `commands.toml` declares it, in the order of `stereometer --help`.
    "command": {
        "run": ".core",
        "sweep": ".wings.sweep",
        "ask": ".wings.asking",
        "replay": ".wings.replay",
        "ensemble": ".wings.relations",
        "compare": ".core",
        "report": ".report",
        "export": ".wings.exports",
        "submit": ".wings.board",
        "gate": ".core",
        "calibrate": ".wings.relations",
        "relate": ".wings.relations",
        "show": ".wings.look",
        "list": ".wings.look",
        "published": ".wings.look",
        "align": ".kinds.traits",
        "intersect": ".kinds.traits",
        "analyze": ".wings.curation",
        "audit": ".wings.curation",
        "split": ".wings.curation",
        "terms": ".wings.curation",
        "doctor": ".wings.doctor",
        "serve-model": ".wings.serving",
        "aggregate": ".wings.curation",
        "study": ".wings.people",
        "board": ".wings.board",
        "data": ".wings.data",
        "pack": ".wings.packs",
        "cache": ".core",
        "cache merge": ".wings.workers",
        "model": ".core",
        "mitigate": ".wings.mitigation",
        "train": ".wings.training",
    },
}
PACKAGE = "stereometer"
"""Where a name of the table that begins with a dot is."""
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
        found = import_module(module, PACKAGE)
        return getattr(found, attribute) if attribute else found
    if name in _shipped(kind):
        return packs().source_of(_shipped(kind)[name])
    if name in _plugins(kind):
        return _plugins(kind)[name].load()
    return _pack(_installed(kind)[name], name)


def place(kind: str, name: str) -> str:
    """Where a name's object is, as `module:object`."""
    name = spelled(kind, name)
    if name in TABLE[kind]:
        module, colon, attribute = TABLE[kind][name].partition(":")
        return f"{resolve_name(module, PACKAGE)}{colon}{attribute}"
    return str(_plugins(kind)[name].value)


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


def wrappers() -> list[Wrapper]:
    return [find("wrapper", name) for name in names("wrapper")]


def wrapper(path: Path) -> Wrapper:
    """The one that puts this file onto a model."""
    known = wrappers()
    if not known:
        raise ModelError(
            f"Nothing that is installed puts {path} onto a model. What stands after the + is the "
            "file of a wrapper, such as a mitigation. Leave it out, or install the wrapper."
        )
    return next((each for each in known[1:] if each.recognises(path)), known[0])


@cache
def _plugins(kind: str) -> Mapping[str, Any]:
    return {point.name: point for point in entry_points(group=f"stereometer.{kind}s")}


# ------------------------------------------------------------------------------------------- packs

PACKED = "benchmark"
"""The kind that packs are of."""


def pack_folders() -> Any:
    """Where packs are, imported when a benchmark is looked for: a list of commands needs none."""
    return import_module("stereometer.wings.packs.pack")


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
