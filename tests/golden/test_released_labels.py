"""The released labels of StereoSet give back its released gold labels."""

from __future__ import annotations

import pytest

from stereometer.kinds.cats.files import read_cats
from stereometer.wings.curation.labels import plurality
from tests.conftest import released


@pytest.mark.golden
def test_the_plurality_is_the_released_gold_of_all_12_687_sentences() -> None:
    cats = read_cats(released("stereoset/dev.json.gz"))
    agreeing = sum(
        plurality(each.votes)[0] == label for cat in cats for label, each in cat.candidates.items()
    )
    assert agreeing == 12_687
