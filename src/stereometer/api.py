"""The four verbs: run a model, replay scores, load a stored result, compare results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from stereometer import catalog
from stereometer.backends.server.identity import remembered
from stereometer.benchmarks.abc.items import Choice, chosen_benchmark
from stereometer.benchmarks.benchmark import Benchmark, Source
from stereometer.benchmarks.folders import open_benchmark
from stereometer.errors import DataError, ModelError, StereometerError, UnknownName, UsageError
from stereometer.runs import store as runs
from stereometer.runs.cache import Cache
from stereometer.runs.runner import (
    Progress,
    Summarize,
    Tally,
    Task,
    computed,
    finish,
    limited,
    silent,
)
from stereometer.shapes.cat import metrics as cat_metrics
from stereometer.shapes.pair import metrics as pair_metrics
from stereometer.systems.replay import joined, read_replay, scale_notes
from stereometer.types import Backend, Measure, Result, Settings, System, Variant

SUMMARIES: Mapping[str, Summarize] = {"cat": cat_metrics.summarize, "pair": pair_metrics.summarize}
REPLAYS = {"cat": "cat-replay@1", "pair": "pair-replay@1"}
VARIANTS: tuple[Variant, ...] = ("paper", "printed", "sound")

SERVER = "server:"
"""Before the address of a model server."""
SERVED = ("budget", "price", "in_flight", "timeout")
"""Options that are of servers alone."""
FILE_SUFFIXES = (".csv", ".tsv", ".json", ".jsonl", ".gz")
CLASSIFIER = "sentiment:"
"""Before the folder or name of a text-classification model."""
LIKELY_TYPO = 0.7
"""How alike a plain name must be to a known one to be taken for a slip and not for a model on the hub."""

Watch = Callable[[str], AbstractContextManager[Progress]]
"""Given a title, gives what is told of progress while a job is under way."""


@dataclass(frozen=True)
class Finished:
    """A result and the folder that keeps it."""

    result: Result
    folder: Path


# ------------------------------------------------------------------------------------------- loading


def open_named(name: str, data: str | Path | None = None) -> Benchmark:
    """A benchmark by name, or a user's own file by path."""
    source, path = _named(name, data)
    return open_benchmark(source, path)


def open_for_audit(name: str, data: str | Path | None = None) -> Benchmark:
    """The same, with items in it that cannot be measured."""
    source, path = _named(name, data)
    return open_benchmark(source.for_audit(), path)


def _named(name: str, data: str | Path | None) -> tuple[Source, Path | None]:
    path = Path(data) if data is not None else None
    if (
        not catalog.has("benchmark", name)
        and not Path(name).exists()
        and Path(name).suffix in FILE_SUFFIXES
    ):
        raise DataError(
            f"{name} does not exist. It looks like a file of your own items. Check the path."
        )
    if not catalog.has("benchmark", name) and Path(name).exists():
        return catalog.find("benchmark", "custom"), Path(name)
    source: Source = catalog.find("benchmark", name)
    if name == "custom" and path is None:
        raise UsageError(
            "`custom` needs a file. It reads your own CATs or pairs. Name it with --data FILE."
        )
    return source, path


def open_chosen(name: str, choice: Choice) -> Benchmark:
    """Groups and traits, some of them or one's own."""
    if name != "abc":
        raise UsageError(
            f"{name} has no groups, traits or templates to choose. Those options are for abc. Leave them out."
        )
    return chosen_benchmark(choice)


def open_model(
    name: str, seed: int = 0, options: Mapping[str, Any] | None = None
) -> Backend | System:
    """A baseline by name, one of our default models, `sentiment:CLASSIFIER`, or a checkpoint: a folder, a .gguf file or org/name[@revision]."""
    if catalog.has("system", name):
        system: System = catalog.find("system", name)()
        return system
    if catalog.has("backend", name):
        backend: Backend = catalog.find("backend", name)(seed=seed)
        return backend
    if name.startswith(SERVER):
        return _server(name, options or {})
    _not_a_slip(name)
    if find_spec("torch") is None or find_spec("transformers") is None:
        raise ModelError(
            f"{name} is a language model, which needs torch and transformers. They are in an optional part of the package. From a clone: `pip install '.[hf]'`."
        )
    from stereometer.backends.local.checkpoint import Options
    from stereometer.backends.local.open import open_checkpoint

    chosen = {key: value for key, value in (options or {}).items() if key not in SERVED}
    negative = chosen.pop("negative_label", None)
    if name.startswith(CLASSIFIER):
        from stereometer.backends.local.classifier import open_classifier

        return open_classifier(name.removeprefix(CLASSIFIER), Options(**chosen), negative)
    default = catalog.find("model", name) if catalog.has("model", name) else None
    return open_checkpoint(name, Options(**chosen), default)


def _server(name: str, options: Mapping[str, Any]) -> Backend:
    if find_spec("httpx2") is None or find_spec("stamina") is None:
        raise ModelError(
            "A server needs httpx2 and stamina. They are in an optional part of the package. From a clone: `pip install '.[server]'`."
        )
    from stereometer.backends.server.backend import open_server

    return open_server(name.removeprefix(SERVER), options, _remember)


def _remember(server: str, likelihoods: tuple[float, ...]) -> tuple[float, ...]:
    """As the answer cache knows them; a cache that cannot be used is no reason not to ask."""
    try:
        with Cache() as cache:
            return remembered(server, likelihoods, cache)
    except StereometerError:
        return likelihoods


def check_names(models: Iterable[str], measures: Iterable[str]) -> None:
    """Raises for a slip in any name before the first model is loaded."""
    for measure in measures:
        catalog.find("measure", measure)
    for name in models:
        _not_a_slip(name)


def _not_a_slip(name: str) -> None:
    known = [*catalog.names("model"), *catalog.names("backend"), *catalog.names("system")]
    plain = (
        name not in known
        and "/" not in name
        and not name.startswith(CLASSIFIER)
        and not Path(name).exists()
    )
    if plain and get_close_matches(name, known, n=1, cutoff=LIKELY_TYPO):
        raise UnknownName("model", name, known)


def settings_for(
    variant: str = "sound", seed: int = 0, resamples: int = 10_000, coverage: float = 0.90
) -> Settings:
    if variant not in VARIANTS:
        raise UsageError(
            f"There is no variant '{variant}'. There are {' and '.join(VARIANTS)}. See docs/methods.md for what each computes."
        )
    if resamples < 100:
        raise UsageError(
            f"{resamples} resamples are too few for a 95 % interval. At least 100 are needed. The default is 10000."
        )
    if seed < 0:
        raise UsageError(f"The seed is {seed}. A seed is a number from 0 up. The default is 0.")
    if not 0 <= coverage <= 1:
        raise UsageError(
            f"The coverage floor is {coverage}. It is a share of items. Choose a number from 0 to 1."
        )
    return Settings(VARIANTS[VARIANTS.index(variant)], seed, resamples, coverage=coverage)


# ----------------------------------------------------------------------------------------- measuring


@dataclass(frozen=True)
class Asking:
    """A measure bound to the model it asks."""

    measure: Measure
    backend: Backend


@dataclass(frozen=True)
class Job:
    """One benchmark under one measure, ready to be asked."""

    task: Task
    source: Asking | System
    """What gives the scores: a model that is asked, or a system that needs no asking."""


def jobs(
    names: Sequence[str],
    model: Backend | System,
    measures: Sequence[str],
    settings: Settings,
    data: str | Path | None,
    limit: int | None,
    within_word: bool = False,
    choice: Choice | None = None,
) -> Iterator[Job]:
    if data is not None and len(names) > 1:
        raise UsageError(
            "--data names one file. With several benchmarks it is not clear whose it is. Run them one at a time."
        )
    if limit is not None and limit < 1:
        raise UsageError(
            f"The limit is {limit}. At least one item is needed. Leave it out for all of them."
        )
    for benchmark in [
        open_chosen(name, choice) if choice else open_named(name, data) for name in names
    ]:
        for shape, measure in _chosen(benchmark, measures):
            yield job_for(benchmark, shape, measure, model, settings, limit, within_word)


def _chosen(benchmark: Benchmark, measures: Sequence[str]) -> list[tuple[str, Sequence[str]]]:
    """Shape and candidate measures: those asked for, or the benchmark's defaults for each shape it has."""
    if measures:
        asked: list[tuple[str, Sequence[str]]] = [
            (catalog.find("measure", name).reads, [name]) for name in measures
        ]
        fitting = [(shape, names) for shape, names in asked if shape in benchmark.shapes]
        return fitting or asked
    found = [
        (shape, benchmark.measures[shape])
        for shape in benchmark.shapes
        if shape in benchmark.measures
    ]
    if not found:
        raise UsageError(
            f"{benchmark.name} has no measure that `run` could take. It is asked about in words. Use `stereometer ask`."
        )
    return found


def job_for(
    benchmark: Benchmark,
    shape: str,
    measures: Sequence[str],
    model: Backend | System,
    settings: Settings,
    limit: int | None,
    within_word: bool = False,
) -> Job:
    items = benchmark.items(shape)
    for name in measures:
        _has_variant(name, settings.variant)
    if isinstance(model, System):
        if shape not in SUMMARIES:
            raise UsageError(
                f"{model.card.name} has no scores for {benchmark.name}. Its items have no gold labels. Name a model that can be asked."
            )
        name = f"{measures[0].split('@')[0]}@1"
        return Job(
            Task(
                benchmark,
                limited(items, limit),
                name,
                SUMMARIES[shape],
                model.card,
                model.scoring,
                settings,
                limit,
            ),
            model,
        )
    measure = _first_answerable(measures, model, settings.variant, within_word)
    warnings = tuple(getattr(model, "warnings", ())) if settings.variant == "paper" else ()
    asked = getattr(measure, "asked", {})
    applicable = getattr(measure, "applicable", None)
    items, left_out = applicable(items) if applicable else (items, ())
    task = Task(
        benchmark, limited(items, limit), measure.name, measure.summarize, model.card, "computed", settings, limit,
        notes=(*warnings, *left_out), asked=asked,
    )  # fmt: skip
    return Job(task, Asking(measure, model))


def _has_variant(measure: str, variant: Variant) -> None:
    """Most measures have two variants; one says so where it has others."""
    known = getattr(catalog.find("measure", measure), "variants", ("paper", "sound"))
    if variant not in known:
        raise UsageError(
            f"{measure} has no variant '{variant}'. It has {' and '.join(known)}. Choose one of those."
        )


def _first_answerable(
    measures: Sequence[str], backend: Backend, variant: Variant, within_word: bool
) -> Measure:
    refusals: list[ModelError] = []
    for name in measures:
        try:
            options = {"within_word": True} if within_word else {}
            measure: Measure = catalog.find("measure", name)(backend, variant, **options)
            return measure
        except ModelError as error:
            refusals.append(error)
    others = answerable(backend, variant)
    raise ModelError(
        f"{refusals[0]} It can answer {', '.join(others)}." if others else str(refusals[0])
    )


def answerable(backend: Backend, variant: Variant) -> list[str]:
    """The measures that a model can be asked for."""
    found = []
    for name in catalog.names("measure"):
        with suppress(ModelError):
            catalog.find("measure", name)(backend, variant)
            found.append(name)
    return found


def execute(job: Job, out: Path | None, cache: Cache, progress: Progress = silent) -> Finished:
    tally = Tally()
    if isinstance(job.source, Asking):
        scores = computed(
            job.task.items, job.source.measure, job.source.backend, cache, tally, progress
        )
    else:
        scores = job.source.scores(job.task.items, job.task.settings.variant)
    return Finished(*finish(job.task, scores, out, tally))


def run(
    *benchmarks: str,
    model: str,
    measures: Sequence[str] = (),
    variant: str = "sound",
    data: str | Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    coverage: float = 0.90,
    out: str | Path | None = None,
    keep_cache: bool = True,
    within_word: bool = False,
    options: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
    choice: Choice | None = None,
) -> list[Result]:
    """Measure a model on benchmarks: one result for each benchmark and measure."""
    settings = settings_for(variant, seed, resamples, coverage)
    found = list(
        jobs(
            benchmarks,
            open_model(model, seed, options),
            measures,
            settings,
            data,
            limit,
            within_word,
            choice,
        )
    )
    return [one.result for one in execute_all(found, out, keep_cache, watch)]


def execute_all(
    found: Iterable[Job],
    out: str | Path | None,
    keep_cache: bool = True,
    watch: Watch | None = None,
) -> Iterator[Finished]:
    """One job after the other, answers shared. `out` is the folder of the only result, or holds a folder for each of several."""
    waiting = iter(found)
    first, second = next(waiting, None), next(waiting, None)
    if out is not None and second is not None and (Path(out) / runs.RUN).exists():
        raise UsageError(
            f"{out} holds one run, and this gives several. A folder keeps one run or folders of runs. Choose another with --out."
        )
    with opened_cache(keep_cache) as cache:
        for job in chain(filter(None, (first, second)), waiting):
            place = (
                None
                if out is None
                else Path(out)
                if second is None
                else Path(out) / _folder_name(job.task)
            )
            with (
                watch(f"{job.task.benchmark.name} {job.task.measure}")
                if watch
                else nullcontext(silent) as progress
            ):
                done = execute(job, place, cache, progress)
            yield done


def _folder_name(task: Task) -> str:
    """One's own files are told apart by their names and content."""
    own = task.benchmark.name == "custom"
    name = (
        f"{Path(task.benchmark.source).stem}-{task.benchmark.digest[:6]}"
        if own
        else task.benchmark.name
    )
    return runs.folder_name(name, task.card.name, task.measure.split("@")[0])


class opened_cache:
    """The shared answer cache, or one that is thrown away."""

    def __init__(self, keep: bool) -> None:
        self._folder = None if keep else TemporaryDirectory(prefix="stereometer-")

    def __enter__(self) -> Cache:
        self._cache = Cache(Path(self._folder.name) / "answers.sqlite" if self._folder else None)
        return self._cache

    def __exit__(self, *error: Any) -> None:
        self._cache.close()
        if self._folder:
            self._folder.cleanup()


# ----------------------------------------------------------------------------- replaying and loading


def replay(
    file: str | Path,
    *,
    benchmark: str,
    data: str | Path | None = None,
    variant: str = "sound",
    system: str | None = None,
    measure: str | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    coverage: float = 0.90,
    out: str | Path | None = None,
) -> Result:
    """Measure from scores that were computed elsewhere."""
    return replayed(
        Path(file),
        benchmark,
        data,
        settings_for(variant, seed, resamples, coverage),
        system,
        measure,
        Path(out) if out else None,
    ).result


def replayed(
    file: Path,
    benchmark: str,
    data: str | Path | None,
    settings: Settings,
    system: str | None,
    measure: str | None,
    out: Path | None,
) -> Finished:
    if catalog.has("benchmark", benchmark) and not catalog.find("benchmark", benchmark).measures:
        raise UsageError(
            f"{benchmark} holds comments. Answers about them are read by the setting they were asked in. Add --setting, such as zero-shot."
        )
    found = read_replay(file, system)
    if found.pairs and data is None and catalog.has("benchmark", benchmark):
        source: Source = catalog.find("benchmark", benchmark)
        if "pair" not in source.measures:
            raise UsageError(
                f"{file} holds scores of pairs, {benchmark} is not a set of pairs. The scores are of another benchmark. Name that with --benchmark, or its items with --data."
            )
        items = Benchmark(source.card, {"pair": found.pairs}, file.name, measures=source.measures)
        if not items.as_released:
            items = replace(
                items,
                card=replace(
                    source.card, title=f"The pairs in {file.name}, given as {source.card.title}"
                ),
            )
        loaded, shape = items.described("The pairs are those in the file."), "pair"
    else:
        loaded = open_named(benchmark, data)
        shape = (
            "pair" if found.pairs or "cat" not in loaded.shapes else _shape_of(found.by_id, loaded)
        )
    found, notes = joined(found, loaded.items(shape))
    notes = (*scale_notes(found, settings.variant), *notes)
    name = _stated(measure, shape) if measure else REPLAYS[shape]
    task = Task(
        loaded,
        loaded.items(shape),
        name,
        SUMMARIES[shape],
        found.card,
        found.scoring,
        settings,
        notes=notes,
    )
    return Finished(*finish(task, found.scores(task.items, settings.variant), out, Tally()))


def _stated(measure: str, shape: str) -> str:
    """The measure that a user says made the scores: a known one, of their shape."""
    reads = catalog.find("measure", measure).reads
    if reads != shape:
        raise UsageError(
            f"{measure} scores items of shape {reads}, the file has scores of shape {shape}. They cannot be of that measure. Leave out --measure."
        )
    return f"{measure.split('@')[0]}@{catalog.VERSION}"


def _shape_of(by_id: Mapping[str, float], loaded: Benchmark) -> str:
    """Of a benchmark that has both, the shape whose candidates the ids name."""
    named = any(one.endswith((":sent_more", ":sent_less")) for one in by_id)
    return "pair" if named and "pair" in loaded.shapes else "cat"


def load(path: str | Path) -> Result:
    """A stored result, by its folder or its result.json."""
    return runs.load_result(Path(path))
