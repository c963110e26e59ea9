"""Models of one run that get different measures: warned of, with the measure that suits both."""

from __future__ import annotations

from pathlib import Path

from stereometer.core.runs.measure import _common
from tests.builders.commands import call
from tests.builders.models.zoo import Zoo


def test_a_masked_and_a_causal_model_are_not_measured_alike_on_pairs(
    zoo: Zoo, tmp_path: Path
) -> None:
    models = [part for name in ("bert", "gpt2") for part in ("-m", zoo.folder(name))]
    few = ("--limit", 2, "--threads", 1, "--resamples", 100, "--out", tmp_path / "out")
    said = call("run", "starter", *models, *few)
    (line,) = [line for line in said.err.splitlines() if "cannot be compared" in line]
    assert "is measured by pair-likelihood and" in line
    assert "by pair-sentence-likelihood" in line
    assert "of a context association test cat-pseudo-likelihood does." in line
    alike = call("run", "starter", *models, *few, "--measure", "cat-pseudo-likelihood")
    assert "cannot be compared" not in alike.err


def test_the_common_measure_is_named_where_there_is_one() -> None:
    assert (
        _common(["cat-likelihood", "pair-sentence-likelihood"], "pair")
        == "--measure pair-sentence-likelihood gives both the same."
    )
    assert _common([], "pair") == "No measure of a sentence pair suits both."
