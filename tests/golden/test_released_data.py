"""Every card's digest is that of the released data; a re-laid-out copy of the same content
passes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import open_benchmark
from tests.conftest import released

pytestmark = pytest.mark.golden

RELEASED = [
    "stereoset",
    "crows-pairs",
    "crows-pairs-revised",
    "crows-pairs-french",
    "winobias",
    "winobias-test",
    "crows-pairs-dutch",
    "stereoset-portuguese",
]


@pytest.mark.parametrize("name", RELEASED)
def test_the_released_files_are_known_by_content(name: str) -> None:
    source = catalog.find("benchmark", name)
    for file in source.card.files:
        packed = f"{source.card.folder}/{file}.gz"
        released(packed if packed.endswith(".json.gz") else f"{source.card.folder}/{file}")
    loaded = open_benchmark(source)
    assert loaded.as_released
    assert {shape: len(items) for shape, items in loaded.shapes.items()} == dict(source.card.counts)


def test_a_copy_laid_out_anew_is_the_same_data(tmp_path: Path) -> None:
    value = json.loads(gzip.decompress(released("stereoset/dev.json.gz").read_bytes()))
    value["data"] = {task: list(reversed(items)) for task, items in reversed(value["data"].items())}
    copy = tmp_path / "anything.json"
    copy.write_text(json.dumps(value, indent=3), encoding="utf-8")
    assert open_benchmark(catalog.find("benchmark", "stereoset"), copy).as_released
