"""Like the paper: the benchmark's own published method, in its variant `paper`."""

from __future__ import annotations

from pathlib import Path

import pytest

import stereometer
from stereometer.core.errors import UsageError
from stereometer.core.runs.measure import by_benchmark
from tests.builders.commands import call
from tests.builders.little import QUICK, little_stereoset, pairs_file


def test_stereoset_is_measured_by_likelihood_as_its_authors_did(tmp_path: Path) -> None:
    data = little_stereoset(tmp_path / "dev.json", 3)
    (result,) = stereometer.run("stereoset", model="fake", data=data, like_paper=True, **QUICK)
    assert (result.measure.partition("@")[0], result.variant) == ("cat-likelihood", "paper")
    (plain,) = stereometer.run("stereoset", model="fake", data=data, **QUICK)
    assert (plain.measure.partition("@")[0], plain.variant) == ("cat-pseudo-likelihood", "sound")


def test_the_command_says_the_same(tmp_path: Path) -> None:
    data = pairs_file(tmp_path / "pairs.csv")
    said = call(
        *("run", "crows-pairs", "-m", "fake", "--data", data, "--like-paper"),
        *("--resamples", 100, "--out", tmp_path / "out", "--json"),
    )
    (result,) = said.json["results"]
    assert (result["measure"].partition("@")[0], result["variant"]) == ("pair-likelihood", "paper")


def test_ethos_has_a_paper() -> None:
    assert by_benchmark(["ethos"], [], like_paper=True) == [(["ethos"], ("recognition-zero-shot",))]


@pytest.mark.parametrize("benchmark", ["starter", "definitional"])
def test_a_set_whose_paper_has_no_measure_is_refused(benchmark: str) -> None:
    with pytest.raises(UsageError, match=r"Leave --like-paper out"):
        stereometer.run(benchmark, model="fake", like_paper=True)


def test_a_measure_beside_it_is_refused() -> None:
    with pytest.raises(UsageError, match="--like-paper and --measure"):
        stereometer.run("stereoset", model="fake", measure="cat-likelihood", like_paper=True)
