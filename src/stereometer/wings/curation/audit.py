"""Flags of every item, what is left clean, and how far that moves the metrics of runs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import UnknownName, UsageError
from stereometer.core.files import write_json
from stereometer.core.options import Benchmark as Name
from stereometer.core.options import Data, Resamples, Seed, verb
from stereometer.core.runs.open import open_for_audit
from stereometer.core.runs.stored import Run, runs_of
from stereometer.core.shapes.differences import Shift
from stereometer.core.shapes.sentences import SentenceItem, SentenceShape
from stereometer.core.show import numbers
from stereometer.core.show.view import Paragraph, Piece, View, aside, heading, line, records
from stereometer.core.types import Settings
from stereometer.core.types.document import UNSTORED, Document
from stereometer.core.types.shown import Shown
from stereometer.report.figures.clean import AUDIT, AUDIT_SCHEMA
from stereometer.wings.curation.errata import Errata, check_against, corrected, read_errata
from stereometer.wings.curation.flags import AGREED, FLAGS, Flag, background_of, flags_for
from stereometer.wings.curation.keywords import LANGUAGES, other_than_english
from stereometer.wings.curation.restriction import restricted, shift_cell, shift_table, shifts
from stereometer.wings.curation.runs import RunsOnThese, curated_shapes, runs_on
from stereometer.wings.curation.terms import Zipf, zipf_in

EXAMPLES = 3


@dataclass(frozen=True)
class FlagExample:
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
    examples: Sequence[FlagExample] = ()
    why: str | None = None
    ids: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RunAudit(Document):
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
class ShapeAudit:
    shape: str
    items: int
    flagged: int
    """Items with at least one of the flags that count, or that the errata drop."""
    clean: int
    flags: Sequence[Flagged]
    dropped: int = 0
    kept: int = 0
    corrected: int = 0
    runs: Sequence[RunAudit] = ()


@dataclass(frozen=True, repr=False)
class Audit(Shown, Document):
    benchmark: str
    digest: str
    counting: Sequence[str]
    """The flags that make an item unclean."""
    agreed: float
    errata: str | None
    shapes: Sequence[ShapeAudit]
    clean_items: Path | None = field(default=None, metadata=UNSTORED)
    """The folder that they were written to."""
    schema: str = "audit@1"

    def view(self) -> View:
        flags = [flag for shape in self.shapes for flag in shape.flags]
        texts = any(example.texts for flag in flags for example in flag.examples)
        warning = [line(WARNING, bold="Content warning:")] * texts
        shapes = (piece for shape in self.shapes for piece in _shown(shape, self))
        return View(parts=(*warning, *shapes))

    @property
    def remarks(self) -> list[str]:
        folders = [run.folder for shape in self.shapes for run in shape.runs]
        said = [f"Stored beside {folder}; `stereometer report` shows it." for folder in folders]
        return [*said, f"Clean items are in {self.clean_items}."] if self.clean_items else said


@dataclass(frozen=True)
class AuditOptions:
    """How an audit is wanted."""

    settings: Settings
    counting: Sequence[str] = ()
    """The flags that make an item unclean."""
    agreed: float = AGREED
    examples: int = EXAMPLES
    show_texts: bool = False
    write: Path | None = None
    """Folder for the clean items, corrected where the errata say so."""
    errata: Errata | None = None


@verb
def audit(
    name: Name,
    *,
    data: Data = None,
    run: RunsOnThese = (),
    flag: Annotated[Sequence[str], "Only these flags make an item unclean; by default all."] = (),
    ignore: Annotated[Sequence[str], "Flags that do not make an item unclean."] = (),
    agreement: Annotated[
        float, "Share of validators who must have given an item's own label."
    ] = AGREED,
    errata: Annotated[
        str | Path | None, "A list of items to drop, keep or correct: docs/howto/audit.md."
    ] = None,
    examples: Annotated[int, "Examples of each flag."] = EXAMPLES,
    show_texts: Annotated[bool, "Show the texts of examples, many of them offensive."] = False,
    write: Annotated[str | Path | None, "Write the clean items to this folder, to run on."] = None,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
) -> Audit:
    """Flag items, and say what clean items would change in stored runs."""
    counting = _counting(flag, ignore, agreement, examples)
    out = Path(write) if write is not None else None
    benchmark = open_for_audit(str(name), data)
    runs = runs_on(benchmark, runs_of(run))
    listed = read_errata(Path(errata)) if errata is not None else None
    if listed is not None:
        check_against(listed, benchmark, Path(str(errata)))
    settings = Settings(seed=seed, resamples=resamples)
    wanted = AuditOptions(settings, counting, agreement, examples, show_texts, out, listed)
    shapes = [_shape(benchmark, shape, runs, wanted) for shape in curated_shapes(benchmark)]
    version = listed.version if listed else None
    audit = Audit(benchmark.name, benchmark.digest, counting, agreement, version, shapes, out)
    for shape in shapes:
        for audited in shape.runs:
            _store(audit, shape, audited)
    return audit


def _counting(
    flagging: Sequence[str], ignoring: Sequence[str], agreement: float, examples: int
) -> list[str]:
    names = [flag.name for flag in FLAGS]
    for name in (*flagging, *ignoring):
        if name not in names:
            raise UnknownName("flag", name, names, "`stereometer audit starter` shows all of them.")
    if not 0 <= agreement <= 1:
        raise UsageError(
            f"The agreement is {agreement}. It is a share of validators. Choose a number from "
            "0 to 1."
        )
    if examples < 0:
        raise UsageError(
            f"{examples} examples cannot be shown. Choose a number from 0 up. The default is "
            f"{EXAMPLES}."
        )
    return [name for name in (flagging or names) if name not in ignoring]


def _shape(
    benchmark: Benchmark, shape: SentenceShape, runs: Sequence[Run], wanted: AuditOptions
) -> ShapeAudit:
    released: Any = benchmark.items(shape.name)
    errata = wanted.errata
    items = corrected(released, errata) if errata else list(released)
    ids = {item.id for item in items}
    dropped, kept, changed = (
        (errata.ids(action) & ids if errata else set()) for action in ("drop", "keep", "correct")
    )
    flags = list(_flags(items, shape, wanted, benchmark.card.language))
    marked = {id_ for flag in flags if flag.name in wanted.counting for id_ in flag.ids}
    unclean = (marked - kept) | dropped
    clean = [item for item in items if item.id not in unclean]
    if wanted.write is not None and clean:
        shape.write(wanted.write / f"clean-{shape.name}{shape.suffix}", clean)
    same, its = ids - unclean - changed, [run for run in runs if run.result.kind == shape.name]
    return ShapeAudit(
        shape.name,
        len(items),
        len(unclean),
        len(clean),
        flags,
        len(dropped),
        len(kept),
        len(changed),
        [_run(run, flags, same, wanted) for run in its],
    )


def faulty(benchmark: Benchmark, shape: SentenceShape) -> tuple[frozenset[str], list[str]]:
    """The items that any flag marks, and the flags that could be checked."""
    items: Any = benchmark.items(shape.name)
    flags = list(_flags(items, shape, AuditOptions(Settings()), benchmark.card.language))
    marked = frozenset(id_ for flag in flags for id_ in flag.ids)
    return marked, [flag.name for flag in flags if flag.count is not None]


def _flags(
    items: Sequence[SentenceItem], shape: SentenceShape, wanted: AuditOptions, language: str
) -> Iterator[Flagged]:
    zipf = zipf_in(LANGUAGES.get(language, "en")) if find_spec("wordfreq") else None
    background = background_of(items, wanted.agreed, zipf)
    for flag in flags_for(shape.name):
        why = _unchecked(flag, items, zipf, language)
        if why is not None:
            yield Flagged(flag.name, flag.definition, None, why=why)
            continue
        seen = [(item, flag.check(item, background)) for item in items]
        yield _flagged(flag, [(item, what) for item, what in seen if what is not None], wanted)


def _unchecked(
    flag: Flag, items: Sequence[SentenceItem], zipf: Zipf | None, language: str
) -> str | None:
    if flag.needs_votes and not any(item.own_votes for item in items):
        return "the items carry no validators' labels"
    if flag.needs_words and zipf is None:
        return "needs wordfreq: `pip install '.[lexicon]'` from a clone"
    if flag.english and other_than_english(language):
        return f"rests on English words, the items are {language}"
    return None


def _flagged(
    flag: Flag, marked: Sequence[tuple[SentenceItem, str]], wanted: AuditOptions
) -> Flagged:
    examples = [
        FlagExample(item.id, seen, dict(item.texts))
        if wanted.show_texts and not item.hidden
        else FlagExample(item.id)
        for item, seen in marked[: wanted.examples]
    ]
    ids = frozenset(item.id for item, _ in marked)
    return Flagged(flag.name, flag.definition, len(marked), examples, ids=ids)


def _run(run: Run, flags: Sequence[Flagged], clean: set[str], wanted: AuditOptions) -> RunAudit:
    settings, scores = run.settings(wanted.settings), run.scores
    result, shape = run.result, run.shape
    measured = {score.item for score in scores}
    by_flag = {
        flag.name: shifts(shape, scores, measured - flag.ids, settings, overall=True)
        for flag in flags
        if flag.count and flag.name in wanted.counting
    }
    return RunAudit(
        str(run.folder),
        result.model,
        result.measure,
        result.variant,
        len(clean),
        restricted(shape, scores, clean, settings),
        shifts(shape, scores, clean, settings),
        by_flag,
    )


def _store(audit: Audit, shape: ShapeAudit, run: RunAudit) -> None:
    """Beside the run, for the report: the numbers alone, no texts."""
    numbers, whole = run.as_json(), vars(audit)
    flags = {
        flag.name: {"count": flag.count, "definition": flag.definition} for flag in shape.flags
    }
    stored = {
        "schema": AUDIT_SCHEMA,
        **{name: whole[name] for name in ("benchmark", "digest", "counting", "agreed", "errata")},
        "items": shape.items,
        "clean": run.clean,
        "flags": flags,
        **{name: numbers[name] for name in ("estimates", "shifts", "by_flag")},
    }
    write_json(Path(run.folder) / AUDIT, stored)


WARNING = " the examples state stereotypes about people, many of them offensive."
AUDITED = "Intervals are of one shift at a time, without correction for the number of shifts shown."


def _shown(shape: ShapeAudit, made: Audit) -> Iterator[Piece]:
    """How many items have which flag, examples, and what the flags do to runs."""
    items = f"{numbers.count(shape.items, 'item')} of shape {shape.shape}"
    yield heading(f"{made.benchmark} · {items}: {shape.clean} clean, {shape.flagged} not")
    if made.errata:
        yield line(
            f"errata {made.errata}: {shape.dropped} dropped, "
            f"{shape.kept} kept whatever the flags say, {shape.corrected} corrected"
        )
    yield from records(
        [
            {
                "flag": flag.name,
                "items": "" if flag.count is None else str(flag.count),
                "": flag.why or ("" if flag.name in made.counting else "does not count"),
            }
            for flag in shape.flags
        ]
    )
    yield from _examples(shape)
    for run in shape.runs:
        yield from _run_shown(run, shape.shape)


def _examples(shape: ShapeAudit) -> Iterator[Paragraph]:
    for flag in shape.flags:
        yield line(f": {flag.definition}", bold=flag.name, whole=True)
        for example in flag.examples:
            reason = f": {example.found}" if example.found else ""
            texts = "".join(f"\n      {key}: {text}" for key, text in example.texts.items())
            yield line(f"    {example.id}{reason}{texts}", whole=True)


def _run_shown(run: RunAudit, kind: str) -> Iterator[Piece]:
    metric = catalog.shape(kind).metric
    yield heading(f"all and clean items · {run.model} · {run.measure} · variant {run.variant}")
    yield from shift_table(run.shifts, "clean", kind)
    yield heading("overall, leaving out only the items of one flag")
    yield from records(
        [
            {
                "flag": name,
                "metric": shift.name,
                "left": shift.n_kept,
                "shift": shift_cell(shift, metric(shift.name).digits),
                "verdict": shift.verdict or "",
            }
            for name, moved in run.by_flag.items()
            for shift in moved
        ]
    )
    yield from aside(AUDITED)
