"""A file of a million answers is read without being held."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from stereometer.core.runs.execute import execute
from stereometer.core.stats.intervals import MANY, resampled_strata, resampled_sums
from stereometer.core.tables import PLAIN
from stereometer.core.types import Settings
from stereometer.kinds.comments.items import SETTINGS
from stereometer.wings.replay.runs import answers_job

pytestmark = pytest.mark.long

LINES = 8_000


def answers(path: Path, comments: int, repeats: int) -> Path:
    rows = (
        {
            "comment": f"What is said in comment {comment} is neither here nor there.",
            "answer": ("yes", "no", "well")[(comment + repeat) % 3],
            "label": ("yes", "no")[comment % 2],
            "category": "rude",
            "repeat": repeat,
        }
        for repeat in range(repeats)
        for comment in range(comments)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def peak(path: Path, out: Path) -> int:
    """Bytes at most held while a file is replayed."""
    tracemalloc.start()
    try:
        setting, settings = SETTINGS["zero-shot"], Settings(resamples=200)
        execute(answers_job(path, setting, settings, PLAIN, "custom"), out)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("comments", "bytes_a_line"), [(LINES, 1000), (LINES // 100, 200)])
def test_bytes_a_line(tmp_path: Path, comments: int, bytes_a_line: int) -> None:
    path = answers(tmp_path / "answers.jsonl", comments, LINES // comments)
    small = answers(tmp_path / "small.jsonl", comments // 10, LINES // comments)
    peak(small, tmp_path / "first")  # imports and caches are not what grows
    grown = peak(path, tmp_path / "all") - peak(small, tmp_path / "tenth")
    assert grown / (0.9 * LINES) < bytes_a_line


def test_clusters_that_count_alike_are_drawn_as_one_number() -> None:
    """As much spread as of clusters drawn one by one, in memory for kinds of clusters only."""
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 3, (MANY + 500, 2)).astype(float)
    strata = ["few" if at % 5 == 0 else "many" for at in range(len(rows))]
    together = resampled_sums(rows, strata, 4000, np.random.default_rng(2))
    by_itself = resampled_strata(strata, 4000, np.random.default_rng(3)) @ rows
    assert together.mean(axis=0) == pytest.approx(by_itself.mean(axis=0), rel=0.005)
    assert together.std(axis=0) == pytest.approx(by_itself.std(axis=0), rel=0.06)
    differences = [np.std(sums[:, 0] - sums[:, 1]) for sums in (together, by_itself)]
    assert differences[0] == pytest.approx(differences[1], rel=0.06)
