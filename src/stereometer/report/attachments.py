"""Names of files, and files beside the page for what a browser could not hold: every item, and
every system's scores.

They are written only where the page leaves something out.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from stereometer.core.files import replacing
from stereometer.core.show.figure import Figure
from stereometer.report.items import MOST_ITEMS
from stereometer.report.systems import Group

ITEMS, SCORES = "items", "scores"


@dataclass(frozen=True)
class Beside:
    """The files of one group, by their paths from the page."""

    items: str
    scores: str


def folder_of(page: Path) -> Path:
    return page.with_name(f"{page.stem}-items")


def is_cut(group: Group) -> bool:
    """Whether the page shows fewer systems or items than there are."""
    if len(group.shown.systems) < len(group.systems):
        return True
    return len({score.item for system in group.systems for score in system.scores}) > MOST_ITEMS


def write_beside(page: Path, groups: Sequence[Group]) -> dict[str, Beside]:
    """The files of the groups that are cut, by the group's id."""
    folder = folder_of(page)
    _clear(folder)
    files: dict[str, Beside] = {}
    for group in groups:
        if group.shape.candidates and is_cut(group):
            names = [f"{group.id}-{what}.csv" for what in (ITEMS, SCORES)]
            for name, rows in zip(names, (_items(group), _scores(group)), strict=True):
                with replacing(folder / name) as file:
                    csv.writer(file, lineterminator="\n").writerows(map(_written, rows))
            files[group.id] = Beside(*(f"{folder.name}/{name}" for name in names))
    return files


def _clear(folder: Path) -> None:
    """Without the files of an earlier page of the same name."""
    for what in (ITEMS, SCORES):
        for file in folder.glob(f"s[0-9]*-{what}.csv"):
            file.unlink()
    with suppress(OSError):  # not there, or it holds files of somebody else
        folder.rmdir()


def _written(row: Sequence[object]) -> list[str]:
    """A lone surrogate, which JSON can carry and UTF-8 cannot, must not cost the file."""
    return [str(value).encode("utf-8", "replace").decode() for value in row]


def _items(group: Group) -> Iterator[Sequence[str]]:
    """Every item once, with its slices and its texts."""
    items = {score.item: score for system in group.systems for score in system.scores}
    slices = dict.fromkeys(name for score in items.values() for name in score.slices)
    texts = dict.fromkeys(name for score in items.values() for name in score.texts)
    yield ["item", *slices, *texts]
    for id_, score in items.items():
        values = [*map(score.slices.get, slices), *map(score.texts.get, texts)]
        yield [id_, *(value or "" for value in values)]


def _scores(group: Group) -> Iterator[Sequence[object]]:
    """Every item of every system."""
    candidates = group.shape.candidates
    yield ["item", "system", "run", *candidates, "skipped"]
    for system in group.systems:
        for score in system.scores:
            values = [score.values.get(name, "") for name in candidates]
            run = system.run.folder.name
            yield [score.item, system.label, run, *values, score.skipped or ""]


# ---------------------------------------------------------------------------------- names of files

FEW, LONGEST = 3, 150
"""Systems that a name names, and its most characters."""


@dataclass(frozen=True)
class ShownNames:
    """Gives no name twice."""

    given: Counter[str] = field(default_factory=Counter)

    def new(self, group: Group, *shown: str) -> str:
        systems = list(dict.fromkeys(system.name for system in group.systems))
        whose = systems if len(systems) <= FEW else [f"{len(systems)} systems"]
        limit = group.first.settings.get("limit")
        part = [f"limit {limit}"] if limit else []
        words = " ".join((group.first.benchmark, *part, *group.how, *whose, *shown))
        name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:LONGEST]
        self.given[name] += 1
        return name if self.given[name] == 1 else f"{name}-{self.given[name]}"

    def named(self, group: Group, figure: Figure) -> Figure:
        """With a file for each of its charts."""
        files = (self.new(group, figure.title, chart.name) for chart in figure.charts)
        charts = zip(figure.charts, files, strict=True)
        return replace(figure, charts=tuple(replace(chart, file=file) for chart, file in charts))
