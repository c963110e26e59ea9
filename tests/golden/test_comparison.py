"""What the data say of StereoSet's own systems: which differences are beyond noise.

methods.md: resampling target terms, intervals are about 2.8-3.5 either way for icat and 1.6-1.9 for
ss.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import stereometer
from stereometer.core.compare import Comparison
from stereometer.core.shapes.differences import Difference
from tests.builders.sure import bounds
from tests.golden.test_stereoset import replayed

pytestmark = pytest.mark.golden

MODELS = ("bert-base-cased", "gpt2", "roberta-large", "xlnet-base-cased")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    folder = tmp_path_factory.mktemp("runs")
    for model in MODELS:
        replayed(model, folder)
    return stereometer.compare(*(folder / f"{model}-paper" for model in MODELS), all_pairs=True)


def overall(found: Comparison, first: str, second: str, name: str) -> Difference:
    (pair,) = [one for one in found.pairs if (one.first, one.second) == (first, second)]
    (difference,) = [one for one in pair.differences if one.name == name and not one.slice]
    return difference


def verdicts(found: Comparison, name: str) -> list[str]:
    return [overall(found, pair.first, pair.second, name).verdict for pair in found.pairs]


def test_all_six_differences_in_lms_are_beyond_noise(compared: Comparison) -> None:
    assert verdicts(compared, "lms") == ["lower"] * 6


def test_four_of_six_differences_in_ss_and_in_icat_are(compared: Comparison) -> None:
    assert verdicts(compared, "ss").count("not beyond noise") == 2
    assert overall(compared, "gpt2", "roberta-large", "ss").verdict == "not beyond noise"
    assert (
        overall(compared, "roberta-large", "xlnet-base-cased", "ss").verdict == "not beyond noise"
    )
    assert verdicts(compared, "icat").count("not beyond noise") == 2
    assert overall(compared, "bert-base-cased", "gpt2", "icat").verdict == "not beyond noise"
    assert (
        overall(compared, "bert-base-cased", "roberta-large", "icat").verdict == "not beyond noise"
    )


@pytest.mark.parametrize("model", MODELS)
def test_half_widths_are_as_methods_says(model: str, tmp_path: Path) -> None:
    found = replayed(model, tmp_path, resamples=10_000)
    half = {}
    for name in ("ss", "icat"):
        low, _, high = bounds(found.estimate(name))
        half[name] = (high - low) / 2
    assert 1.5 < half["ss"] < 2.0
    assert 2.5 < half["icat"] < 3.6
