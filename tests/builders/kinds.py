"""One stored run of each kind, small and of a model that answers by rule."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import stereometer
from tests.builders.commands import call
from tests.builders.comments import own_table
from tests.builders.ratings import two_sided
from tests.builders.trait_runs import synthetic_ratings

QUICK: dict[str, Any] = {"resamples": 100, "cache": False}
KINDS = {
    "aligned": "*",
    "asked": "*",
    "choice": "*cat*",
    "crossed": "*intersection",
    "ensemble": "*",
    "fake-cats": "*",
    "fake-pairs": "*",
    "profile": "*",
    "random-cats": "*",
}
"""What each is called, and which of the folders it is that were written for it."""


def one_of_each(folder: Path) -> Path:
    """The folder with a run under each of these names, and nothing else."""
    made = folder / "made"
    _likelihoods(made)
    _profiles(made)
    stereometer.ask("starter", model="fake", limit=8, out=made / "choice", **QUICK)
    how: dict[str, Any] = {"setting": "zero-shot", "repeats": 2, "size": 3}
    how |= {"column": {"comment": "text", "label": "gold"}, "out": made / "asked"}
    stereometer.ask(str(own_table(made / "comments.csv")), model="fake", **how, **QUICK)
    for name, pattern in KINDS.items():
        (run,) = (made / name).glob(pattern)
        run.rename(folder / name)
    shutil.rmtree(made)
    return folder


def _likelihoods(made: Path) -> None:
    cats: dict[str, Any] = {"measure": "cat-likelihood", "limit": 24, **QUICK}
    pairs: dict[str, Any] = {"measure": "pair-likelihood", "limit": 12, **QUICK}
    stereometer.run("starter", model="fake", out=made / "fake-cats", **cats)
    stereometer.run("starter", model="random", out=made / "random-cats", **cats)
    stereometer.run("starter", model="fake", out=made / "fake-pairs", **pairs)
    both = (made / "fake-cats", made / "random-cats")
    stereometer.ensemble(*both, resamples=100, out=made / "ensemble")


def _profiles(made: Path) -> None:
    few = ("--groups", "man,woman,Asian", "--templates", "that,plain", "--no-cache")
    call("run", "abc", "-m", "fake", "--out", made / "profile", *few)
    rated = synthetic_ratings(made / "ratings.json", two_sided())
    stereometer.align(made / "profile", ratings=rated, resamples=100, out=made / "aligned")
    crossed: dict[str, Any] = {"groups": ["man", "woman", "Asian"], "templates": ["that"]}
    stereometer.intersect("fake", out=made / "crossed", resamples=100, **crossed)
