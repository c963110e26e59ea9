"""Flags of every item, what is left clean, and how far that moves the metrics of runs: what `stereometer audit` shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from stereometer import api
from stereometer.benchmarks.benchmark import Benchmark
from stereometer.curation.analyze.analyze import check_same, shape_of
from stereometer.curation.analyze.items import Kind, votes_for
from stereometer.curation.analyze.keywords import LANGUAGES, other_than_english
from stereometer.curation.audit.errata import Errata, check_against, corrected, read_errata
from stereometer.curation.audit.flags import AGREED, FLAGS, Flag, Zipf, flags_for, setting_for
from stereometer.curation.write import SUFFIX, write_items
from stereometer.errors import UnknownName, UsageError
from stereometer.files import write_json
from stereometer.findings.shift import AUDIT, AUDIT_SCHEMA, Shift, restricted, shifts
from stereometer.runs import store as runs
from stereometer.types import Result, Score, Settings

EXAMPLES = 3


@dataclass(frozen=True)
class Example:
    id: str
    found: str = ""
    """What the check saw; only where texts are asked for."""
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Flagged:
    """One flag over all items of a shape."""

    name: str
    definition: str
    count: int | None
    """None where it was not checked."""
    examples: Sequence[Example] = ()
    why: str | None = None
    ids: frozenset[str] = frozenset()


@dataclass(frozen=True)
class OfRun:
    """A run on all items and on clean ones."""

    folder: str
    model: str
    measure: str
    variant: str
    clean: int
    estimates: Sequence[Any]
    shifts: Sequence[Shift]
    by_flag: Mapping[str, Sequence[Shift]]
    """For each flag the overall shift when only the items it marks are left out."""


@dataclass(frozen=True)
class OfShape:
    shape: str
    items: int
    flagged: int
    """Items with at least one of the flags that count, or that the errata drop."""
    clean: int
    flags: Sequence[Flagged]
    dropped: int = 0
    kept: int = 0
    corrected: int = 0
    runs: Sequence[OfRun] = ()


@dataclass(frozen=True)
class Audit:
    benchmark: str
    digest: str
    counting: Sequence[str]
    """The flags that make an item unclean."""
    agreed: float
    errata: str | None
    shapes: Sequence[OfShape]
    schema: str = "audit@1"

    def as_json(self) -> dict[str, Any]:
        shapes = [asdict(shape) | {"flags": [_told(flag) for flag in shape.flags], "runs": [_run(run) for run in shape.runs]} for shape in self.shapes]  # fmt: skip
        return {"schema": self.schema} | asdict(self) | {"shapes": shapes}


def _told(flag: Flagged) -> dict[str, Any]:
    return {key: value for key, value in asdict(flag).items() if key != "ids"} | {
        "ids": sorted(flag.ids)
    }


def _run(run: OfRun) -> dict[str, Any]:
    told = asdict(run)
    told["shifts"] = [one.as_json() for one in run.shifts]
    told["by_flag"] = {
        name: [one.as_json() for one in found] for name, found in run.by_flag.items()
    }
    return told


@dataclass(frozen=True)
class Asked:
    """How an audit is wanted."""

    counting: Sequence[str] = ()
    """Flags that count; all where none is named."""
    ignoring: Sequence[str] = ()
    agreed: float = AGREED
    examples: int = EXAMPLES
    show_texts: bool = False
    errata: Path | None = None
    write: Path | None = None
    """Folder for the clean items, corrected where the errata say so."""


def audit(
    name: str,
    *,
    data: str | Path | None = None,
    run_folders: Sequence[str | Path] = (),
    asked: Asked | None = None,
    settings: Settings | None = None,
) -> Audit:
    chosen, wanted = settings or Settings(), asked or Asked()
    counting = _counting(wanted)
    benchmark = api.open_for_audit(name, data)
    loaded = [(Path(folder), runs.load_result(Path(folder))) for folder in run_folders]
    for folder, result in loaded:
        check_same(benchmark, result, folder)
    errata = read_errata(wanted.errata) if wanted.errata is not None else None
    if errata is not None and wanted.errata is not None:
        check_against(errata, benchmark, wanted.errata)
    shapes = [
        _shape(benchmark, shape, loaded, counting, wanted, errata, chosen)
        for shape in benchmark.sentence_shapes()
    ]
    found = Audit(
        benchmark.name,
        benchmark.digest,
        counting,
        wanted.agreed,
        errata.version if errata else None,
        shapes,
    )
    for folder, result in loaded:
        _stored(found, folder, result)
    return found


def _counting(wanted: Asked) -> list[str]:
    names = [flag.name for flag in FLAGS]
    for name in (*wanted.counting, *wanted.ignoring):
        if name not in names:
            raise UnknownName("flag", name, names, "`stereometer audit starter` shows all of them.")
    if not 0 <= wanted.agreed <= 1:
        raise UsageError(
            f"The agreement is {wanted.agreed}. It is a share of validators. Choose a number from 0 to 1."
        )
    if wanted.examples < 0:
        raise UsageError(
            f"{wanted.examples} examples cannot be shown. Choose a number from 0 up. The default is {EXAMPLES}."
        )
    return [name for name in (wanted.counting or names) if name not in wanted.ignoring]


def _shape(
    benchmark: Benchmark,
    shape: str,
    loaded: Sequence[tuple[Path, Result]],
    counting: Sequence[str],
    wanted: Asked,
    errata: Errata | None,
    settings: Settings,
) -> OfShape:
    released: Any = benchmark.items(shape)
    items = corrected(released, errata) if errata else list(released)
    ids = {item.id for item in items}
    dropped, kept, changed = (
        (errata.ids(action) & ids if errata else set()) for action in ("drop", "keep", "correct")
    )
    flags = list(_flags(items, shape, wanted, benchmark.card.language))
    marked = {one for flag in flags if flag.name in counting for one in flag.ids}
    unclean = (marked - kept) | dropped
    clean = [item for item in items if item.id not in unclean]
    if wanted.write is not None and clean:
        write_items(wanted.write / f"clean-{shape}{SUFFIX[shape]}", clean)
    told = [
        _of_run(folder, result, flags, counting, ids - unclean - changed, settings)
        for folder, result in loaded
        if shape_of(result) == shape
    ]
    return OfShape(
        shape,
        len(items),
        len(unclean),
        len(clean),
        flags,
        len(dropped),
        len(kept),
        len(changed),
        told,
    )


def word_frequency(language: str) -> Zipf | None:
    """How common words are, where wordfreq is installed."""
    try:
        from wordfreq import zipf_frequency
    except ModuleNotFoundError:
        return None
    code = LANGUAGES.get(language, "en")
    return lambda word: float(zipf_frequency(word, code))


def _flags(items: Sequence[Kind], shape: str, wanted: Asked, language: str) -> Iterator[Flagged]:
    zipf = word_frequency(language)
    setting = setting_for(items, wanted.agreed, zipf)
    for flag in flags_for(shape):
        why = _unchecked(flag, items, zipf, language)
        if why is not None:
            yield Flagged(flag.name, flag.definition, None, why=why)
            continue
        found = [(item, seen) for item in items if (seen := flag.check(item, setting)) is not None]
        yield _flagged(flag, found, wanted)


def _unchecked(flag: Flag, items: Sequence[Kind], zipf: Zipf | None, language: str) -> str | None:
    if flag.needs_votes and not any(votes_for(item) for item in items):
        return "the items carry no validators' labels"
    if flag.needs_words and zipf is None:
        return "needs wordfreq: `pip install '.[lexicon]'` from a clone"
    return (
        f"rests on English words, the items are {language}"
        if flag.english and other_than_english(language)
        else None
    )


def _flagged(flag: Flag, found: Sequence[tuple[Kind, str]], wanted: Asked) -> Flagged:
    shown = [
        Example(item.id, seen, dict(item.texts))
        if wanted.show_texts and not item.hidden
        else Example(item.id)
        for item, seen in found[: wanted.examples]
    ]
    return Flagged(
        flag.name, flag.definition, len(found), shown, None, frozenset(item.id for item, _ in found)
    )


# ----------------------------------------------------------------------------------------------- runs


def _of_run(
    folder: Path,
    result: Result,
    flags: Sequence[Flagged],
    counting: Sequence[str],
    clean: set[str],
    settings: Settings,
) -> OfRun:
    ours = Settings(
        result.variant,
        settings.seed,
        settings.resamples,
        settings.level,
        float(result.settings["coverage"]),
    )
    scores = list(runs.load_scores(folder))
    by_flag = {
        flag.name: shifts(scores, _others(scores, flag), ours, overall=True)
        for flag in flags
        if flag.count and flag.name in counting
    }
    return OfRun(
        str(folder), result.model, result.measure, result.variant, len(clean),
        restricted(scores, clean, ours), shifts(scores, clean, ours), by_flag,
    )  # fmt: skip


def _others(scores: Sequence[Score], flag: Flagged) -> set[str]:
    return {score.item for score in scores} - flag.ids


def _stored(found: Audit, folder: Path, result: Result) -> None:
    """Beside the run, for the report: the numbers alone, no texts."""
    shape = next(one for one in found.shapes if one.shape == shape_of(result))
    run = next(one for one in shape.runs if one.folder == str(folder))
    place = folder if folder.is_dir() else folder.parent
    write_json(
        place / AUDIT,
        {
            "schema": AUDIT_SCHEMA,
            "benchmark": found.benchmark,
            "digest": found.digest,
            "counting": list(found.counting),
            "agreed": found.agreed,
            "errata": found.errata,
            "items": shape.items,
            "clean": run.clean,
            "flags": {
                flag.name: {"count": flag.count, "definition": flag.definition}
                for flag in shape.flags
            },
            **{
                key: value
                for key, value in _run(run).items()
                if key in ("estimates", "shifts", "by_flag")
            },
        },
    )
