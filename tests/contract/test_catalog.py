"""Everything in the catalog keeps its contract: benchmarks, measures, backends, systems."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import DataMissing, ModelError
from stereometer.core.runs.open import open_benchmark
from stereometer.core.types import Item, Measure, Method, Variant
from stereometer.kinds.comments.items import Comment
from stereometer.kinds.traits.abc.items import chosen_benchmark
from stereometer.testing import check_backend, check_measure, check_source, check_system
from stereometer.wings.packs.pack import open_pack, shipped
from tests.builders import told_text

WITHOUT = {("cat-sum-likelihood", "paper")}
"""What no paper computes."""
OWN_PAIRS = (
    "id,sent_more,sent_less,bias_type\n1,The old man napped.,The young man napped.,age\n2,The nun"
    " sang.,The clerk sang.,religion\n"
)


def opened(name: str, tmp_path: Path) -> Benchmark:
    if name == "custom":
        file = tmp_path / "own.csv"
        file.write_text(OWN_PAIRS)
        return open_benchmark(name, file)
    try:
        return open_benchmark(name)
    except DataMissing as missing:
        pytest.skip(str(missing))


UNTRIED = [name for name, folder in shipped().items() if open_pack(folder).notes]
"""Packs whose file nobody here has."""


@pytest.mark.parametrize(
    "name", [name for name in catalog.names("benchmark") if name not in UNTRIED]
)
def test_benchmarks(name: str, tmp_path: Path) -> None:
    benchmark = opened(name, tmp_path)
    source = catalog.find("benchmark", name)
    if name == "custom":
        benchmark = Benchmark(
            benchmark.card,
            benchmark.shapes,
            benchmark.source,
            measures={"pair": source.measures["pair"]},
        )
    check_source(source, benchmark)


@pytest.mark.parametrize("name", catalog.names("backend"))
def test_backends(name: str) -> None:
    check_backend(catalog.find("backend", name)(seed=3))


@pytest.mark.parametrize("name", catalog.names("system"))
@pytest.mark.parametrize("shape", ["cat", "pair"])
def test_systems(name: str, shape: str) -> None:
    check_system(catalog.find("system", name)(), open_benchmark("starter").items(shape))


def comments() -> list[Comment]:
    """Enough comments of two categories and of none for every setting, some with a word that edits
    change."""
    kinds = [("kill", {"rude": 1.0}), ("dull", {"dull": 1.0}), ("mild", {})]
    return [
        Comment(
            f"row-{row}", f"They {word} the lights in room {row}.", scores, row, float(bool(scores))
        )
        for row in range(1, 751)
        for word, scores in [kinds[row % 3 if row < 376 else 2]]
    ]


def items_of(shape: str, folder: Path) -> Sequence[Item]:
    """Items of a shape, from a benchmark that ships with the package."""
    if shape == "comment":
        return comments()
    if shape.startswith("sentence"):
        return chosen_benchmark(told_text.choice(folder)).items(shape)
    shipped = {"trait": "abc", "survey": "survey", "fact": "definitional"}
    return open_benchmark(shipped.get(shape, "starter")).items(shape)


def bound(name: str, backend: str, variant: Variant = "sound") -> Measure | None:
    """The measure on this backend, or None where the backend cannot answer it."""
    try:
        method: Method = catalog.find("method", name)
        opened = catalog.find("backend", backend)(seed=3)
        return method.bind(opened, variant, method.options())
    except ModelError:
        return None


@pytest.mark.parametrize("variant", ["paper", "sound"])
@pytest.mark.parametrize("name", catalog.names("method"))
def test_measures_on_every_backend_that_can_answer_them(
    name: str, variant: Variant, tmp_path: Path
) -> None:
    found = {backend: bound(name, backend, variant) for backend in catalog.names("backend")}
    assert any(found.values()) != ((name, variant) in WITHOUT), f"no backend here answers {name}"
    for backend, measure in found.items():
        if measure is not None:
            assert measure.name == f"{name}@{catalog.find('method', name).version}"
            check_measure(
                measure,
                catalog.find("backend", backend)(seed=3),
                items_of(catalog.find("method", name).reads, tmp_path),
            )


def test_a_refusal_says_what_the_model_can_do_instead() -> None:
    method = catalog.find("method", "cat-pseudo-likelihood")
    with pytest.raises(ModelError, match="the model answers follows, whole-text"):
        method.bind(catalog.find("backend", "sentiment")(), "sound", method.options())
