"""States that are kept while a head is trained: a part that is cut is made again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch")


class Counting:
    """Stands for the trunk: a row for each pair, and how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def rows(self, pairs: Sequence[Any]) -> Any:
        self.asked += 1
        return torch.arange(2.0 * len(pairs)).reshape(len(pairs), 2)


@pytest.mark.parametrize("size", [0, 3, 60, 130])
def test_a_cut_part_is_made_again(tmp_path: Path, size: int) -> None:
    from stereometer.wings.training.next_sentence import kept_rows

    trunk, pairs = Counting(), cast(Any, ["a", "b", "c"])

    def kept() -> Any:
        return kept_rows(cast(Any, trunk), pairs, tmp_path, lambda *report: None)

    whole = kept()
    assert torch.equal(kept(), whole)
    assert trunk.asked == 1
    os.truncate(next(tmp_path.glob("*.npy")), size)
    assert torch.equal(kept(), whole)
    assert torch.equal(kept(), whole)
    assert trunk.asked == 2
