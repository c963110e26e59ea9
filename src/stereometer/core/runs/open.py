"""Benchmarks and models by name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, fields, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, get_type_hints

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark, Source
from stereometer.core.benchmarks.benchmark import open_benchmark as open_source
from stereometer.core.errors import (
    DataError,
    ModelError,
    StereometerError,
    UnknownName,
    UsageError,
    did_you_mean,
    respelled,
)
from stereometer.core.runs.cache import Cache
from stereometer.core.runs.engines import Engines
from stereometer.core.tables import PLAIN, Layout
from stereometer.core.types import (
    Answer,
    Backend,
    Encoding,
    Memory,
    ModelSpec,
    NoOptions,
    Opener,
    Request,
    Scorer,
)
from stereometer.core.types.document import typed
from stereometer.core.types.names import ModelName, shown
from stereometer.core.types.opener import BaselineOptions, Record

CHECKPOINT = "checkpoint"
"""The opener of specs without a scheme."""
NAMED = "stereometer.core.types.opener:NAMED"
"""What opens a backend of the catalog in another process."""
OWN_FILES = "custom"
"""The benchmark that reads them."""
FILE_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".gz", ".xlsx", ".xls")
LIKELY_TYPO = 0.7
"""How alike a plain name must be to a known one to be a slip rather than a model on the hub."""


def open_benchmark(
    name: str, data: str | Path | None = None, options: object | None = None, layout: Layout = PLAIN
) -> Benchmark:
    """A benchmark by name, or a user's own file by path; `options` are of the class that the
    benchmark declares, or by name."""
    source, path = source_of(name, data)
    source = source.laid_out(layout)
    if options is None:
        return open_source(source, path)
    if isinstance(options, Mapping) and source.options is not NoOptions:
        options = source.options(**options)
    if not isinstance(options, source.options):
        raise UsageError(
            f"{name} has no groups, traits or templates to choose. Those options are for abc. "
            "Leave them out."
        )
    return source.choose(options)


def source_of(name: str, data: str | Path | None) -> tuple[Source, Path | None]:
    """What reads a benchmark, and its file where that is named; raises for a slip in the name."""
    path = Path(data) if data is not None else None
    if not catalog.has("benchmark", name):
        if Path(name).exists():
            return catalog.find("benchmark", OWN_FILES), Path(name)
        if Path(name).suffix in FILE_SUFFIXES:
            raise DataError(
                f"{name} was not found. It looks like a file of your own items. Check the path."
            )
    source: Source = catalog.find("benchmark", name)
    if not source.card.files and source.packaged is None and path is None:
        raise UsageError(
            f"`{name}` needs a file. It reads your own CATs or pairs. Name it with --data FILE."
        )
    return source, path


def open_for_audit(name: str, data: str | Path | None = None) -> Benchmark:
    """A benchmark with items in it that cannot be measured."""
    source, path = source_of(name, data)
    return open_source(source.for_audit(), path)


def open_model(
    name: str,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    when_asked: bool = False,
    elsewhere: Engines | None = None,
) -> Backend | Scorer:
    """A baseline by name, one of our default models, `SCHEME:SPEC`, or a checkpoint: a folder, a
    .gguf file or org/name[@revision]. One that is known is loaded only `when_asked`, if that is
    wanted; one that others open, `elsewhere`, is not loaded where it can be read without."""
    baseline = next((kind for kind in ("backend", "system") if catalog.has(kind, name)), None)
    if baseline and (options or {}).get("option"):
        raise UsageError(f"{name} has no options. --option would change nothing. Leave it out.")
    if baseline == "backend":
        backend: Backend = catalog.find("backend", name)(seed=seed)
        return backend
    if baseline == "system":
        system: Scorer = catalog.find("system", name)()
        return system
    spec = model_spec(name, seed, options)
    try:
        memory = Cache()
    except StereometerError:  # a cache that cannot be used is no reason not to ask
        return spec.open()
    with memory:
        absent = elsewhere and _absent(spec, memory, elsewhere)
        if absent:
            return absent
        return open_known(spec, memory) if when_asked else spec.open(memory)


def model_spec(name: str, seed: int = 0, options: Mapping[str, Any] | None = None) -> ModelSpec:
    """What opens the same model in any process: the opener of its scheme, with those options that
    it has."""
    if catalog.has("backend", name):
        return ModelSpec(NAMED, catalog.place("backend", name), BaselineOptions(seed))
    model = catalog.model_name(name)
    if not model.scheme:
        _not_a_slip(model)
        model = replace(model, path=catalog.spelled("model", model.path))
    scheme = model.scheme or CHECKPOINT
    opener: Opener = catalog.find("opener", scheme)
    known = {field.name for field in fields(opener.options)}
    chosen = {"seed": seed} | dict(options or {})
    written = _read_options(scheme, opener, chosen.pop("option", {}))
    shared = {key: value for key, value in chosen.items() if key in known}
    return ModelSpec(
        catalog.place("opener", scheme), model.spec, opener.options(**shared | written)
    )


def _read_options(scheme: str, opener: Opener, texts: Mapping[str, str]) -> dict[str, Any]:
    """Options that only this scheme has, from what a user wrote after `--option`."""
    types = get_type_hints(opener.options)
    for name in texts:
        if name not in types:
            raise UsageError(
                f"`{scheme}` has no option '{name}'. It has {', '.join(types) or 'none'}. "
                "Choose one of those or leave the option out."
            )
    return {name: _read_option(name, text, types[name]) for name, text in texts.items()}


def _read_option(name: str, text: str, annotation: Any) -> Any:
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(annotation).validate_python(text)
    except ValidationError as error:
        reason = error.errors()[0]["msg"]
        raise UsageError(
            f"--option {name}={text} is not understood. {reason}. Write it as NAME=VALUE."
        ) from None


def check_model(name: str) -> None:
    """Raises for a slip in a name before any model is loaded."""
    if not any(catalog.has(kind, name) for kind in ("backend", "system")):
        _not_a_slip(catalog.model_name(name))
        model_spec(name).check()


def _not_a_slip(model: ModelName) -> None:
    """A mitigation after the name is not part of it; baselines and servers take none."""
    name = str(model.base)
    if model.mitigation is not None:
        _must_be_wrapped(model, model.mitigation)
    if not name.strip():
        raise UsageError(f"The model is called '{name}'. That names none. Write --model MODEL.")
    if Path(name).exists() or model.scheme:
        return
    scheme, rest = model.base.foreign
    if scheme:
        raise _no_scheme(name, scheme, rest)
    known = [each for kind in ("model", "backend", "system") for each in catalog.names(kind)]
    plain = "/" not in name and respelled(name, known) not in known
    if plain and get_close_matches(name, known, n=1, cutoff=LIKELY_TYPO):
        raise UnknownName("model", name, known)


def _no_scheme(name: str, scheme: str, rest: str) -> UsageError:
    """An address as a browser takes it, or a provider's name as other tools take it."""
    if scheme in ("http", "https"):
        whole = f"{name}{'' if '#' in name else '#MODEL'}"
        example = whole if shown(name).startswith("'") else f"{scheme}://HOST/v1#MODEL"
        return UsageError(
            f"{shown(name)} is an address and no model. A model behind a server is named by its "
            f"address and its name there. Write server:{example}."
        )
    near = did_you_mean(scheme, {each: f"{each}:{rest}" for each in catalog.names("opener")})
    whole = rest if "#" in rest else f"https://HOST/v1#{rest}"
    address = f"http://{name}" if rest[:1].isdigit() else whole  # HOST:PORT is no scheme
    return UsageError(
        f"No kind of model is written with '{scheme}:'. "
        f"{near or 'A model on the hub is org/name.'} For a server write server:{address}."
    )


def _must_be_wrapped(model: ModelName, mitigation: Path) -> None:
    others = [*catalog.names("backend"), *catalog.names("system")]
    opener: Opener = catalog.find("opener", model.scheme or CHECKPOINT)
    if str(model.base) in others or (not opener.wraps and mitigation.exists()):
        raise UsageError(
            f"{model.base} has no weights that {mitigation.name} could change. It is a baseline, a "
            "classifier or a server. Name a language model before the sign +."
        )


class Known:
    """A model that is loaded when it is first asked."""

    def __init__(self, spec: ModelSpec, record: Record, fingerprint: str) -> None:
        self._spec, self.card, self.abilities = spec, record.card, record.abilities
        self._fingerprint = fingerprint

    @cached_property
    def _loaded(self) -> Any:
        """Raises where the files became others since they were looked at, or another version
        recorded something else of them; the next run looks again."""
        model = self._spec.open()
        if model.card.identity != self.card.identity:
            with suppress(StereometerError), Cache() as memory:
                memory.forget("models", self._fingerprint)
            raise ModelError(
                f"{self.card.name} is not the model it was when it was last looked at. Its files "
                "were changed while it was loaded, or stereometer was. Run it again."
            )
        return model

    def encode(self, text: str, second: str | None = None) -> Encoding:
        encoding: Encoding = self._loaded.encode(text, second)
        return encoding

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        # Nothing to ask is no reason to load a model.
        yield from self._loaded.answer(requests) if requests else ()


class KnownWriter(Known):
    """One that turns tokens back into text."""

    def decode(self, ids: Sequence[int]) -> str:
        return str(self._loaded.decode(ids))


def open_known(spec: ModelSpec, memory: Memory) -> Backend | Scorer:
    """The model as it was recorded, or loaded and recorded: where its files are still those that
    were looked at before."""
    fingerprint = spec.fingerprint()
    if fingerprint is None:
        return spec.open(memory)
    if record := _recorded(fingerprint, memory):
        return (KnownWriter if record.writes else Known)(spec, record, fingerprint)
    model = spec.open(memory)
    if isinstance(model, Backend) and spec.fingerprint() == fingerprint:
        _keep(fingerprint, Record.of(model), memory)
    return model


def _recorded(fingerprint: str, memory: Memory) -> Record | None:
    try:
        record = memory.record("models", fingerprint)
        return None if record is None else typed(Record, json.loads(record))
    except (StereometerError, ValueError):
        return None


def _keep(fingerprint: str, record: Record, memory: Memory) -> None:
    """A cache that cannot be used is no reason not to ask."""
    with suppress(StereometerError):
        memory.keep("models", fingerprint, json.dumps(asdict(record), default=sorted))


# ----------------------------------------------------------------- models that others open and ask


class Absent:
    """A model whose weights are in other processes; this one reads texts."""

    def __init__(self, record: Record, reader: Any) -> None:
        self.card, self.abilities = record.card, record.abilities
        self.encode, self.decode = reader.encode, reader.decode

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        raise TypeError(f"{self.card.name} is asked in other processes")


def _absent(spec: ModelSpec, memory: Memory, elsewhere: Engines) -> Backend | None:
    reader = spec.reader()
    if reader is None:
        return None
    files = spec.fingerprint()
    key = files and f"{files} {elsewhere.place}".strip()
    record = _recorded(key, memory) if key else None
    if record is None:
        record = elsewhere.seen(spec)
        if key and spec.fingerprint() == files:
            _keep(key, record, memory)
    if reader.tokenizer_digest != record.card.tokenizer_digest:
        raise ModelError(
            f"{record.card.name} has another tokenizer here than where it is asked. Texts would be "
            "misread. Give this machine and the workers the same files."
        )
    return Absent(record, reader)
