"""A model on items that nobody has seen: what is kept, what is compared, and what is published.

The folder of the hidden part holds `ledger.jsonl`, which the host alone may read, and `judged/`,
the runs that later submissions are compared with. Published are overall values only.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Unpack

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark, content
from stereometer.core.compare import pairs_among
from stereometer.core.errors import DataError, ModelError, UsageError
from stereometer.core.files import read_json
from stereometer.core.options import Loading, VariantName, verb
from stereometer.core.runs.execute import execute, opened_cache
from stereometer.core.runs.measure import job_for
from stereometer.core.runs.open import open_benchmark, open_model
from stereometer.core.runs.store import folder_name
from stereometer.core.runs.stored import Run, Side, run_of, settings_of
from stereometer.core.show import numbers
from stereometer.core.show.table import Table, number, text
from stereometer.core.show.view import View
from stereometer.core.types import Backend, Estimate, Job, Result, Settings, digest_of
from stereometer.core.types.document import Document
from stereometer.core.types.groups import lists_by_key
from stereometer.core.types.shown import Shown
from stereometer.report.load import section_for
from stereometer.report.systems import Group, System
from stereometer.wings.board.seals import Entry, Ledger, LedgerHead
from stereometer.wings.board.tables import HIDDEN, ShownTable, shown_table
from stereometer.wings.curation.split import MANIFEST

LEDGER, JUDGED = "ledger.jsonl", "judged"
KEPT = (
    *("submitter", "model", "identity", "data", "measure", "variant", "run", "scores"),
    *("valued", "climbed", "estimates"),
)
"""What is read of an entry of the ledger."""
LADDER = ("data", "measure", "variant")
"""What the submissions of a submitter share that are compared."""
EXPORTED = ("items.json", "pairs.csv")
"""What a study leaves."""


@dataclass(frozen=True)
class Submission(Document):
    """What may be known of a submission: the submitter's published value, new or repeated."""

    submitter: str
    model: str
    """Whose value it is: an earlier model of the submitter's, where the new one is not better."""
    measure: str
    variant: str
    submission: int
    """How many models the submitter has had judged like this."""
    climbed: bool
    """Whether this model's value took the place of the published one."""
    published: tuple[Estimate, ...]


@dataclass(frozen=True, repr=False)
class Judgement(Shown, Document):
    """What `board judge` says."""

    model: str
    ladders: tuple[Submission, ...]
    ledger_entries: int
    ledger_digest: str
    schema: str = "judged@1"

    def view(self) -> View:
        """What is published of each ladder."""
        ladders = []
        for each in self.ladders:
            kept = f"not shown to be better: {each.model} stays published"
            news = f"{self.model}: {'published' if each.climbed else kept}"
            columns = (text("metric"), number("published"), number("n / asked"), text("verdict"))
            rows = tuple(
                (
                    text(numbers.headed(row.name, row.ideal)),
                    number(numbers.with_interval(row)),
                    number(f"{row.n} / {row.asked}"),
                    text(numbers.short(row)),
                )
                for row in each.published
            )
            about = (each.measure, each.variant, news)
            ladders.append(View(each.submitter, about=about, parts=(Table(columns, rows),)))
        return View(parts=tuple(ladders))

    @property
    def remarks(self) -> list[str]:
        end = self.ledger_digest[:16]
        return [f"{self.ledger_entries} entries in the ledger; it ends in {end}."]


def hidden_parts(folder: Path) -> list[Benchmark]:
    """The items of a split's hidden part, or of a study's export; all of them as hidden."""
    if not folder.is_dir():
        raise DataError(
            f"{folder} is not a folder. Hidden items are kept in one that `split` or `study "
            "export` wrote. Name that."
        )
    split = folder / MANIFEST
    names = _split_parts(split) if split.exists() else _exported(folder)
    return [_hidden(open_benchmark(str(folder / name)), digest) for name, digest in names.items()]


def _split_parts(split: Path) -> dict[str, str]:
    """Files of hidden parts, and the digests that their items had."""
    parts = read_json(split).get("parts", [])
    names = {str(part["file"]): str(part["digest"]) for part in parts if part.get("hidden")}
    if not names or any(Path(name).name != name for name in names):
        raise DataError(
            f"{split} names no hidden part. It was split with --no-hide, or edited. Split the "
            "items again."
        )
    return names


def _exported(folder: Path) -> dict[str, str]:
    names = {name: "" for name in EXPORTED if (folder / name).exists()}
    if not names:
        raise DataError(
            f"{folder} holds neither {MANIFEST} nor {' nor '.join(EXPORTED)}. There are no "
            "items to judge with. Name the folder of `split` or of `study export`."
        )
    return names


def _hidden(benchmark: Benchmark, digest: str) -> Benchmark:
    """Whatever a file says of its items: their texts stay where they are."""
    items = [item for listed in benchmark.shapes.values() for item in listed]
    if digest and digest_of(sorted(map(content, items))) != digest:
        raise DataError(
            f"{benchmark.source} does not hold the items that were split off. It was edited since. "
            "Restore it, or split again."
        )
    hidden = {
        name: [replace(item, hidden=True) for item in listed]  # type: ignore[type-var]
        for name, listed in benchmark.shapes.items()
    }
    return replace(benchmark, shapes=hidden)


@verb
def judge(
    model: Annotated[str, "The submitted model: a folder, a .gguf file or org/name."],
    *,
    hidden: Annotated[str | Path, "Folder of the hidden items, from `split` or `study export`."],
    submitter: Annotated[str, "Who submits the model; each submitter has a separate ladder."],
    measure: Annotated[str | None, "The measure; by default the one of each kind of item."] = None,
    variant: VariantName = "sound",
    **loading: Unpack[Loading],
) -> Judgement:
    """Run a model on hidden items; a value is published only if it beats the submitter's last.

    The ledger is kept in the folder of the hidden items.
    """
    settings = Settings(variant)
    if not submitter.strip() or not submitter.isprintable():
        raise UsageError(
            "A submission needs a submitter. Each has a ladder of their own. Name them with "
            "--submitter."
        )
    folder = Path(hidden)
    ledger = Ledger(folder / LEDGER)
    backend = open_model(model, options=loading)
    if not isinstance(backend, Backend):
        raise ModelError(
            f"{model} is not a model but a rule that reads the labels. It has no weights to run. "
            "Name a model."
        )
    jobs = [
        job_for(part, shape, names, backend, settings)
        for part in hidden_parts(folder)
        for shape, names in _wanted(part, measure)
    ]
    if not jobs:
        raise UsageError(
            f"{folder} has no items that {measure} reads. There is nothing to judge. Name another "
            "measure, or none."
        )
    with ledger.alone():
        ladders = tuple(judged_job(job, folder, ledger, submitter.strip()) for job in jobs)
    head = ledger.head
    return Judgement(backend.card.name, ladders, head.entries, head.digest)


def _wanted(part: Benchmark, measure: str | None) -> Iterator[tuple[str, Sequence[str]]]:
    reads = catalog.find("method", measure).reads if measure else None
    for shape in part.shapes:
        if reads in (None, shape):
            yield shape, [measure] if measure else part.measures[shape]


def judged_job(job: Job, folder: Path, ledger: Ledger, submitter: str) -> Submission:
    """A model a second time tells nobody anything new: no entry, no test."""
    plan = job.plan
    ladder = (submitter, plan["data"], plan["measure"], plan["variant"])
    keys = ("submitter", *LADDER)
    entries = ledger.entries(*KEPT)
    earlier = [entry for entry in entries if tuple(entry[key] for key in keys) == ladder]
    if any(entry["identity"] == plan["identity"] for entry in earlier):
        return _published(earlier, False)
    number = len(earlier) + 1
    # One folder per model, measure and variant: what was interrupted continues there.
    parts = (plan["data"][:8], plan["measure"], plan["variant"], plan["identity"][:16])
    run = _run(job, folder / JUDGED / folder_name(*map(str, parts)))
    p, nearer = _against(published_entry(earlier), run, folder)
    entry = _entry(job, run, submitter, number, p)
    first = published_entry(earlier) is None
    entry["climbed"] = first or (p is not None and climbs(p, nearer, number))
    ledger.append(entry)
    return _published([*earlier, entry], bool(entry["climbed"]))


LEVEL = 0.01
"""That anything no better is ever published as better, however often somebody submits."""


def level_of(submission: int) -> float:
    """Of the test of the second, third ... submission: these sum to `LEVEL` over all of them.

    The Ladder (Blum and Hardt 2015) publishes a submitter's first value. A later one is published
    only where a paired test finds it better than the published one; otherwise that is repeated, and
    all that leaks is that the test did not reject. Their parameter-free form asks for one standard
    error, which a thousand random submissions pass a few times.
    """
    if submission < 2:
        raise ValueError("the first submission is not tested")
    return LEVEL / (submission * (submission - 1))


def climbs(p: float, nearer: bool, submission: int) -> bool:
    """Whether a submission replaces the published one: it is nearer to the ideal, beyond noise."""
    return nearer and p < level_of(submission)


def published_entry(earlier: Sequence[Entry]) -> Entry | None:
    """The submission whose value is published; None where none has a value."""
    published = [entry for entry in earlier if entry["climbed"] and entry["valued"]]
    return published[-1] if published else None


def _run(job: Job, place: Path) -> Run:
    """Answers are not kept, and nobody else may read the scores."""
    place.parent.mkdir(parents=True, exist_ok=True)
    os.chmod(place.parent, 0o700)
    with opened_cache(keep=False) as cache:
        return execute(job, place, cache)


def ranked_metric(result: Result) -> str:
    shape = catalog.shape(result.kind)
    return shape.summary_metric or shape.leading(result).name


def _against(before: Entry | None, run: Run, folder: Path) -> tuple[float | None, bool]:
    """p of the paired test with the published submission, and whether the new one is nearer."""
    if before is None:
        return None, False
    known = run_of(folder / JUDGED / str(before["run"]))
    sides = Side("published", known), Side("new", run)
    (pair,) = pairs_among(sides, settings_of(run.result), overall=True)
    for row in pair.differences:
        if row.name == ranked_metric(run.result):
            # That one is nearer to an ideal of 50 has a test of its own.
            return row.p if row.p_closer is None else row.p_closer, row.nearer == "second"
    return None, False


def _entry(job: Job, run: Run, submitter: str, number: int, p: float | None) -> dict[str, Any]:
    result, shape = run.result, run.shape
    every = (row for row in result.estimates if not row.slice)
    overall = [row for row in every if shape.metric(row.name).headline]
    ranked = next((row for row in overall if row.name == ranked_metric(result)), None)
    return {
        "submitter": submitter,
        "model": result.model,
        "identity": job.plan["identity"],
        "model_digest": result.model_card["digest"],
        "data": job.plan["data"],
        "measure": result.measure,
        "variant": result.variant,
        "kind": result.kind,
        "submission": number,
        "run": run.folder.name,
        "scores": result.scores_digest,
        "p": p,
        "valued": ranked is not None and ranked.value is not None,
        "estimates": replace(result, estimates=tuple(overall)).as_json()["estimates"],
    }


def _published(entries: Sequence[Entry], climbed: bool) -> Submission:
    shown = published_entry(entries) or entries[-1]
    return Submission(
        submitter=str(shown["submitter"]),
        model=str(shown["model"]),
        measure=str(shown["measure"]),
        variant=str(shown["variant"]),
        submission=len(entries),
        climbed=climbed,
        published=tuple(Estimate.from_json(row) for row in shown["estimates"]),
    )


@dataclass(frozen=True)
class LedgerEnd(Document):
    """Where the ledger of a hidden part ended when the board was made."""

    hidden_part: str
    ledger_entries: int
    ledger_digest: str

    def check(self, ledger: Ledger) -> None:
        """Raises where the ledger does not go on from here."""
        if not ledger.holds(LedgerHead(self.ledger_entries, self.ledger_digest)):
            raise DataError(
                f"{ledger.path} does not hold the {self.ledger_entries} entries that the board was "
                "last made from. Somebody shortened or rewrote it. Restore it from a copy."
            )


def ledger_end(folder: Path) -> LedgerEnd:
    head = Ledger(folder / LEDGER).head
    return LedgerEnd(folder.resolve().name, head.entries, head.digest)


def hidden_tables(folder: Path, first: int) -> list[ShownTable]:
    """One table for each measure and variant; `first` is the number of the first."""
    entries = Ledger(folder / LEDGER).entries(*KEPT)
    ladders = lists_by_key((tuple(entry[key] for key in LADDER), entry) for entry in entries)
    return [
        _table(folder, f"t{number}", lists_by_key((entry["submitter"], entry) for entry in ladder))
        for number, ladder in enumerate(ladders.values(), first)
    ]


def _table(folder: Path, id_: str, submitters: Mapping[str, Sequence[Entry]]) -> ShownTable:
    systems = tuple(
        _system(folder, published_entry(entries) or entries[-1], number)
        for number, entries in enumerate(submitters.values())
    )
    group = Group(id_, systems)
    tiers = {system.run.folder: HIDDEN for system in systems}
    return shown_table(section_for(group.first), group, tiers, hidden=True)


def _system(folder: Path, entry: Entry, number: int) -> System:
    """The run that later submissions are compared with, without slices and without its file."""
    place = folder / JUDGED / str(entry["run"])
    run = run_of(place)
    result = run.result
    if result.scores_digest != entry["scores"]:
        raise DataError(
            f"{place} does not hold what the ledger says was judged. It was changed since. Restore "
            "it from a copy."
        )
    estimates = tuple(Estimate.from_json(row) for row in entry["estimates"])
    about = {"title": f"Hidden items: {folder.resolve().name}", "source": ""}
    shown = replace(result, estimates=estimates, data={**result.data, **about}, notes=())
    label = f"{entry['model']} ({entry['submitter']})"
    return System(label, number, replace(run, result=shown), label)
