"""Stored runs on groups and traits with scores of our choosing, and ratings to hold them
against."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from stereometer.core import catalog
from stereometer.core.runs.execute import execute
from stereometer.core.runs.job import Measurement
from stereometer.core.types import ModelCard, Score, Settings
from stereometer.kinds.traits.abc.items import Choice, chosen_benchmark

GROUPS = (
    "man",
    "woman",
    "Asian",
    "Black",
    "Hispanic",
    "immigrant",
    "teenager",
    "elderly",
    "doctor",
    "blind",
)
TEMPLATES = ("that", "all", "should")
SETTINGS = Settings(resamples=200)

Value = Callable[[str, str, str], float | None]
"""Of a template, group and trait; None where it is skipped."""


def stored_run(
    folder: Path,
    value: Value,
    groups: tuple[str, ...] = GROUPS,
    templates: tuple[str, ...] = TEMPLATES,
) -> Path:
    benchmark = chosen_benchmark(Choice(groups=groups, templates=templates))
    items = benchmark.items("trait")

    def scores() -> list[Score]:
        found = []
        for item in items:
            number = value(item.slices["template"], item.slices["group"], item.slices["trait"])
            values = {} if number is None else {"left": 0.0, "right": number}
            found.append(
                Score(
                    item.id,
                    item.slices,
                    values,
                    None if number is not None else "by hand",
                    item.texts,
                )
            )
        return found

    card = ModelCard("synthetic", "none", "synthetic@1", "0")
    measurement = Measurement(benchmark, items, "set@1", card, "computed", SETTINGS)
    return execute(measurement.job(catalog.shape("trait"), scores), folder).folder


def synthetic_ratings(
    file: Path, means: Mapping[tuple[str, str], float], raters: int = 8, spread: float = 3.0
) -> Path:
    """Whole numbers about the means."""
    draw = np.random.default_rng(5)
    found: dict[str, dict[str, dict[str, str]]] = {}
    for (group, trait), mean in means.items():
        for rater in range(raters):
            number = int(np.clip(round(mean + spread * draw.normal()), 0, 100))
            found.setdefault(f"p{rater}", {}).setdefault(group, {})[trait] = str(number)
    file.write_text(json.dumps(found))
    return file
