"""StereoSet (Nadeem, Bethke, Reddy 2021): context association tests within and across sentences."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stereometer.benchmarks.benchmark import CAT_MEASURES, Shapes, Source
from stereometer.shapes.cat.files import read_cats
from stereometer.shapes.cat.items import TASKS, Cat
from stereometer.shapes.sentences import unique


def read(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    """dev.json as released, plain or .gz, with one task or both; or a hub's files, one a task."""
    cats = [cat for path in files for cat in read_cats(path)]
    unique((cat.id for cat in cats), "StereoSet: item")
    return shapes(sorted(cats, key=lambda cat: TASKS.index(cat.task)))


def shapes(cats: Sequence[Cat]) -> tuple[Shapes, Sequence[str]]:
    """Items within a sentence are pairs as well."""
    tasks = {cat.task for cat in cats}
    notes = [f"There are no {task} items." for task in TASKS if task not in tasks]
    pairs = [cat.as_pair() for cat in cats if cat.task == "intrasentence"]
    return {"cat": cats, "pair": pairs}, notes


SOURCE = Source("stereoset", read, {"cat": CAT_MEASURES}, published=("cat-likelihood",))
