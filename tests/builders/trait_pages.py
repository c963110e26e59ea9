"""Runs on groups and traits for pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import stereometer
from stereometer.kinds.traits.abc.items import Grid, packaged
from tests.builders.trait_runs import GROUPS

QUICK: dict[str, Any] = {"resamples": 200}
MET = ["man", "woman", "gay", "Black", "White", "Asian", "teenager"]


def ratings(file: Path) -> Path:
    """Eight raters about means of which every group has eight above and eight below 50."""
    draw = np.random.default_rng(0)
    traits = [trait.name for trait in Grid.of(*packaged()).traits]
    raters: dict[str, dict[str, dict[str, str]]] = {}
    for group in GROUPS:
        means = draw.permutation(np.r_[np.linspace(12, 38, 8), np.linspace(62, 88, 8)])
        for rater in range(8):
            rated = np.clip((means + 3 * draw.normal(size=16)).round(), 0, 100)
            values = {trait: str(int(value)) for trait, value in zip(traits, rated, strict=True)}
            raters.setdefault(f"p{rater}", {})[group] = values
    file.write_text(json.dumps(raters))
    return file


def trait_runs(home: Path) -> dict[str, Path]:
    """A profile, its agreement with ratings, and groups that meet, all of a fake model."""
    some: Any = {"groups": GROUPS, "templates": ("that", "all", "should")}
    out = home / "profile"
    stereometer.run("abc", model="fake", out=out, cache=False, **some, **QUICK)
    rated = ratings(home / "ratings.json")
    stereometer.align(out, ratings=rated, out=home / "alignment", **QUICK)
    met = stereometer.intersect(
        "fake", groups=MET, templates=("the", "that"), out=home / "met", **QUICK
    )
    return {"trait": out, "alignment": home / "alignment", "intersection": met.folder}
