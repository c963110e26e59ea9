"""What a benchmark is asked in words: comments, forced choice, the scales of a survey."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from stereometer.core import catalog
from stereometer.core.asking.wordings import FIRST
from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import UnknownName, UsageError
from stereometer.core.runs.measure import job_for
from stereometer.core.runs.open import open_benchmark
from stereometer.core.types import Backend, Job, Method, Settings
from stereometer.kinds.comments.benchmarks import Columns, read_own
from stereometer.kinds.traits.abc import survey


def words_of(category: Mapping[str, str] | Sequence[str]) -> dict[str, str]:
    """The word for each category; its own name where no other is given."""
    return dict(category) if isinstance(category, Mapping) else {name: name for name in category}


def open_comments(name: str, data: Path | None, columns: Columns) -> Benchmark:
    """A benchmark by name, or a user's own table of comments by path."""
    if (Path(name) / "study.toml").is_file():
        return survey.of_study(Path(name))
    if not catalog.has("benchmark", name) and Path(name).exists():
        return read_own(Path(name), columns)
    return open_benchmark(name, data)


def jobs_in_words(
    benchmark: Benchmark,
    settings_named: Sequence[str],
    model: Backend,
    settings: Settings,
    options: Mapping[str, Any],
    limit: int | None = None,
    called: str | None = None,
) -> Iterator[Job]:
    """Of each shape, the methods that ask in words: those of the settings named, and those that
    have none; with `likelihood` the benchmark's own measures beside them."""
    methods: dict[str, Method] = {}
    for shape in benchmark.shapes:
        methods |= _in_words(shape, manner_of(options))
    if not methods:
        raise UsageError(
            f"{benchmark.name} has no comments, CATs or pairs. "
            "Only those can be asked about in words. Name another set."
        )
    # What is not asked for is left to the method or the benchmark.
    asked = {name: value for name, value in options.items() if value is not None and value != {}}
    _check_known(benchmark, methods, asked)
    for name in _under(methods, settings_named):
        shape, known = methods[name].reads, {field.name for field in fields(methods[name].options)}
        how = {option: value for option, value in asked.items() if option in known}
        yield job_for(benchmark, shape, [name], model, settings, limit, how, called)
        own = benchmark.measures.get(shape, ())
        beside = own and name not in own and "likelihood" not in known
        if beside and options.get("likelihood"):
            yield job_for(benchmark, shape, own, model, settings, limit, called=called)


def manner_of(options: Mapping[str, Any]) -> str:
    """In which manner candidates are put, where not in the usual one."""
    if options.get("isolated") and options.get("neutral"):
        raise UsageError(
            "--isolated and --neutral were both given. A candidate that is rated by itself has no "
            "options beside it. Leave one of them out."
        )
    return next((name for name in ("isolated", "graded") if options.get(name)), "")


def _in_words(shape: str, manner: str) -> dict[str, Method]:
    """Those of the manner, or where the shape has none, the usual ones."""
    methods = catalog.every("method")
    own = {
        name: method
        for name, method in methods.items()
        if method.in_words and method.reads == shape
    }
    chosen = {name: method for name, method in own.items() if method.manner == manner}
    return chosen or {name: method for name, method in own.items() if not method.manner}


CHOSEN = ("wording", "neutral", "graded", "isolated")
"""Options that change what is measured: where no method has one, it is refused."""


def _check_known(
    benchmark: Benchmark, methods: Mapping[str, Method], asked: Mapping[str, Any]
) -> None:
    known = {field.name for method in methods.values() for field in fields(method.options)}
    if any(method.manner for method in methods.values()):
        known |= {"graded", "isolated"}
    for name in CHOSEN:
        if asked.get(name) and (name, asked[name]) != ("wording", FIRST) and name not in known:
            raise UsageError(
                f"{benchmark.name} cannot be asked with --{name}. Its questions have no such "
                "choice. Leave it out."
            )


def _under(methods: Mapping[str, Method], settings_named: Sequence[str]) -> Iterator[str]:
    """In the order of the settings, then those that have none."""
    known = {method.setting: name for name, method in methods.items() if method.setting}
    for setting in settings_named if known else ():
        if setting not in known:
            raise UnknownName("setting", setting, known)
        yield known[setting]
    yield from (name for name, method in methods.items() if not method.setting)
