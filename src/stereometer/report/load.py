"""Stored runs into groups, each loaded once."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from stereometer.core import catalog
from stereometer.core.runs.stored import Run, Stored, runs_of, shareable
from stereometer.core.types import Result
from stereometer.report.sections.section import Section
from stereometer.report.system_facts import Facts
from stereometer.report.systems import Group, System


def section_for(result: Result) -> Section:
    """What shows a kind of result; the plain section where the catalog has none, or where the
    result has none of the metrics that its kind declares."""
    metrics = {metric.name for metric in catalog.shape(result.kind).metrics}
    usual = not metrics or any(estimate.name in metrics for estimate in result.estimates)
    known = usual and catalog.has("section", result.kind)
    section: Section = catalog.find("section", result.kind) if known else Section()
    return section


def groups_of(
    stored: Sequence[Stored], facts: Mapping[str, Facts] | None = None
) -> list[tuple[Section, Group]]:
    """Those of stored runs."""
    return grouped(map(shareable, runs_of(stored)), facts or {})


def grouped(given: Iterable[Run], facts: Mapping[str, Facts]) -> list[tuple[Section, Group]]:
    """Runs of one kind, benchmark, measure, variant and data together, in the order given."""
    every = [(run, section_for(run.result)) for run in given]
    within = {digest for run, section in every for digest in section.within(run)}
    runs: dict[tuple[object, ...], tuple[Section, list[Run]]] = {}
    for run, section in every:
        if run.result.scores_digest not in within:
            key = (run.result.kind, *section.alike(run.result))
            runs.setdefault(key, (section, []))[1].append(run)
    marks: dict[str, int] = {}
    return [
        (section, Group(f"s{number}", tuple(_systems(section, alike, marks)), facts))
        for number, (section, alike) in enumerate(runs.values(), 1)
    ]


def _systems(section: Section, alike: Sequence[Run], marks: dict[str, int]) -> Iterator[System]:
    """Under the model's name, and what the section adds; with the run's folder, and then a number,
    where that is not enough to distinguish two. The same label has the same mark everywhere."""
    runs = section.ordered(alike)
    labels = [f"{run.result.model}{section.added(run.result)}" for run in runs]
    counts, seen = Counter(labels), Counter[str]()
    folders = Counter(zip(labels, (run.folder.name for run in runs), strict=True))
    for label, run in zip(labels, runs, strict=True):
        # Runs in several places may have folders of one name.
        alone = folders[label, run.folder.name] == 1
        place = run.folder.name if alone else run.folder.parent.name
        unique = label if counts[label] == 1 else f"{label} ({place})"
        seen[unique] += 1
        unique = unique if seen[unique] == 1 else f"{unique} {seen[unique]}"
        name = unique.replace(section.added(run.result), "", 1)
        yield System(unique, marks.setdefault(unique, len(marks)), run, name)
