"""The verb `doctor`: what is installed, or what a model is and what it makes of three items."""

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any, Unpack

from stereometer.core import catalog, types
from stereometer.core.errors import ModelError, StereometerError, UsageError
from stereometer.core.options import Loading, Option, check_known, verb
from stereometer.core.runs.cache import Cache
from stereometer.core.runs.measure import bound
from stereometer.core.runs.open import open_benchmark, open_model
from stereometer.core.show.view import Paragraph, View, aside, line
from stereometer.core.types.document import Document
from stereometer.core.types.shown import Shown
from stereometer.models.local.opener import devices
from stereometer.wings.data.verbs import where

PARTS = {
    "torch": "hf",
    "transformers": "hf",
    "httpx2": "server",
    "stamina": "server",
    "fastapi": "serve",
    "wordfreq": "lexicon",
    "vaderSentiment": "lexicon",
    "sentencex": "train",
    "concept_erasure": "mitigate",
    "peft": "mitigate",
}
"""Packages of the optional parts."""
SAMPLES = (("cat", 0), ("cat", -1), ("pair", 0))
"""An intrasentence item, an intersentence item and a pair of the starter set."""


@dataclass(frozen=True, repr=False)
class Installation(Shown, Document):
    """Everything that a first run may lack."""

    versions: Mapping[str, str | None]
    data_files: Mapping[str, str | None]
    models_ready: Mapping[str, bool]
    cache: Mapping[str, Any]
    devices: Sequence[str]
    schema: str = "installation@1"

    def view(self) -> View:
        return View(parts=tuple(self._lines()))

    def _lines(self) -> Iterator[Paragraph]:
        yield line(bold="versions")
        for name, number in self.versions.items():
            absent = f"not installed; part of `pip install '.[{PARTS.get(name)}]'`"
            yield line(f"  {name}: {number or absent}")
        yield line(bold="\ndata")
        missing = [name for name, place in self.data_files.items() if place is None]
        yield from (line(f"  {name}: {place}") for name, place in self.data_files.items() if place)
        if missing:
            yield line(f"  not on this machine: {', '.join(missing)}")
            yield line("  `stereometer show NAME` says where to get one of them")
        yield line(bold="\ndefault models")
        for name, ready in self.models_ready.items():
            yield line(f"  {name}: {'ready' if ready else f'run `stereometer model add {name}`'}")
        answers = "{path}, {answers} answers" if "path" in self.cache else "{problem}"
        yield line(f"\n  {answers.format(**self.cache)}", bold="\ncache")
        yield line(f"\n  {', '.join(self.devices) or 'none: torch is missing'}", bold="\ndevices")


def installation() -> Installation:
    models = catalog.every("model")
    return Installation(
        {"python": platform.python_version()}
        | {name: _version(name) for name in ("stereometer", "numpy", "scipy", *PARTS)},
        {name: files[0] if files else None for name, files in where().files.items()},
        {
            name: model.source is not None or (model.folder / "config.json").exists()
            for name, model in models.items()
        },
        _cache(),
        devices(),
    )


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _cache() -> dict[str, Any]:
    try:
        with Cache() as cache:
            return cache.info()
    except StereometerError as error:
        return {"problem": str(error)}


@dataclass(frozen=True)
class Sample:
    """What a model makes of an item."""

    item: str
    measure: str | None
    """None where no measure of the item is one that the model can answer."""
    texts: Mapping[str, str]
    scores: Mapping[str, float] = field(default_factory=dict)
    rows: Mapping[str, Sequence[Sequence[Sequence[Any]]]] = field(default_factory=dict)
    """By candidate, its requests: tokens with their numbers, None if read and not scored."""

    def lines(self) -> Iterator[Paragraph]:
        yield line(f" {self.measure or 'cannot be scored by this model'}", bold=f"\n{self.item}")
        for name, text in self.texts.items():
            score = f"  score {self.scores[name]:.3f}" if name in self.scores else ""
            yield line(f"  {name}: {text}{score}")
            for row in self.rows.get(name, []):
                tokens = (f"({token})" if of is None else f"{token} {of:.2f}" for token, of in row)
                yield from aside("    " + "  ".join(tokens))


@dataclass(frozen=True, repr=False)
class Examination(Shown, Document):
    """What a model is, what to beware of, and how it reads and scores three items."""

    card: types.ModelCard
    warnings: Sequence[str]
    samples: Sequence[Sample]
    schema: str = "doctor@1"

    def view(self) -> View:
        return View(parts=tuple(self._lines()))

    def _lines(self) -> Iterator[Paragraph]:
        card = self.card
        digests = f"weights {card.digest[:12]}, tokenizer {card.tokenizer_digest[:12]}"
        yield line(f": {card.family}, {card.backend}, {card.dtype}, {digests}", bold=card.name)
        for key, value in card.settings.items():
            # Of what has a schema of its own, such as a mitigation, a note says what matters.
            if not (isinstance(value, Mapping) and "schema" in value):
                yield line(f"  {key}: {_words(value)}")
        for note in (*card.notes, *(f"warning: {warning}" for warning in self.warnings)):
            yield line(f"  {note}")
        rows = (row for sample in self.samples for rows in sample.rows.values() for row in rows)
        if any(value is None for row in rows for _, value in row):
            yield line("\nThree items of the starter set. Tokens in brackets are read, not scored.")
        for sample in self.samples:
            yield from sample.lines()


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(
            f"{key} ({_words(inner)})" if isinstance(inner, Mapping) else f"{key} {_words(inner)}"
            for key, inner in value.items()
        )
    return f"{value:.4g}" if isinstance(value, float) else str(value)


@verb
def doctor(
    *,
    model: Annotated[
        str | None,
        Option("A model; without one, the installation is checked.", flags=("--model", "-m")),
    ] = None,
    **options: Unpack[Loading],
) -> Installation | Examination:
    """Check the installation, or show how a model reads and scores three sample items."""
    check_known(options, doctor)
    if model is None:
        return installation()
    opened = open_model(model, 0, options)
    if isinstance(opened, types.Scorer):
        raise UsageError(
            f"{model} reads the gold labels. There is nothing to examine in it. Name a model."
        )
    starter = open_benchmark("starter")
    samples = [_sample(opened, shape, starter.items(shape)[index]) for shape, index in SAMPLES]
    return Examination(opened.card, list(opened.abilities.cautions), samples)


def _sample(model: types.Backend, shape: str, item: types.Item) -> Sample:
    """An item under the first measure of the starter set that the model can answer."""
    sample = Sample(item.id, None, dict(item.texts))
    for name in catalog.find("benchmark", "starter").measures[shape]:
        try:
            measure = bound(catalog.find("method", name), model, types.Settings(), {})
            plan = measure.plan(item)
        except (ModelError, types.Skip):
            continue
        requests = {request.key: request for asked in plan.values() for request in asked}
        answers = dict(model.answer(requests))
        exchanged = {
            label: [(request, answers[request.key]) for request in asked]
            for label, asked in plan.items()
        }
        rows = {
            label: [_row(model, request, answer.rows[0]) for request, answer in pairs]
            for label, pairs in exchanged.items()
        }
        scores = dict(measure.score(item, exchanged).values)
        return replace(sample, measure=measure.name, scores=scores, rows=rows)
    return sample


def _row(model: types.Backend, request: types.Request, row: Mapping[str, Any]) -> list[list[Any]]:
    """Every token with its number, None if it is read and not scored; of a text, the whole."""
    values = next(iter(row.values()))
    match request:
        case types.MaskedTokens(ids, steps):
            scored = dict(zip((at for _, at in steps), values, strict=True))
        case types.CausalTokens(ids, start):
            scored = dict(zip(range(start, len(ids)), values, strict=True))
        case _:
            return [["the text", value] for value in values]
    name = model.token if isinstance(model, types.NamesTokens) else str
    return [[name(number), scored.get(at)] for at, number in enumerate(ids)]
