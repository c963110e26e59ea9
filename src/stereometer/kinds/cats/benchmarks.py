"""StereoSet (Nadeem, Bethke and Reddy 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Content, Source
from stereometer.core.shapes.sentences import unique
from stereometer.kinds.cats.files import read_cats
from stereometer.kinds.cats.items import TASKS, Cat
from stereometer.kinds.cats.shape import SHAPE


def read(files: Sequence[Path]) -> Content:
    """dev.json as released, plain or .gz, with one task or both; or a hub's files, one a task."""
    cats = [cat for path in files for cat in read_cats(path)]
    unique((cat.id for cat in cats), "StereoSet: item")
    return content_of(sorted(cats, key=lambda cat: TASKS.index(cat.task)))


def content_of(cats: Sequence[Cat]) -> Content:
    """Items within a sentence are pairs as well."""
    tasks = {cat.task for cat in cats}
    notes = [f"There are no {task} items." for task in TASKS if task not in tasks]
    return {"cat": cats, "pair": as_pairs(cats)}, notes


def as_pairs(cats: Sequence[Cat]) -> list[Any]:
    """As the CrowS-Pairs authors compared their measure on StereoSet: what fills a blank."""
    pair = catalog.find("shape", "pair").item
    return [
        pair(
            cat.id,
            cat.sentences.get("stereotype", ""),
            cat.sentences.get("anti-stereotype", ""),
            cat.domain,
            target=cat.target,
            hidden=cat.hidden,
        )
        for cat in cats
        if cat.task == "intrasentence"
    ]


STEREOSET = Source(
    "stereoset",
    read,
    {"cat": SHAPE.measures},
    package="stereometer.kinds.cats",
    published=("cat-likelihood",),
)
