"""The released labels of StereoSet give back its released gold labels."""

from __future__ import annotations

import pytest

from stereometer.kinds.cats.files import read_cats
from stereometer.wings.curation.labels import judge_cat
from tests.conftest import released


@pytest.mark.golden
def test_the_plurality_is_the_released_gold_of_all_12_687_sentences() -> None:
    cats = read_cats(released("stereoset/dev.json.gz"))
    agreeing = 0
    for cat in cats:
        votes = {each.id: each.votes for each in cat.candidates.values()}
        golds = judge_cat(cat, votes).golds
        agreeing += sum(golds[each.id] == label for label, each in cat.candidates.items())
    assert agreeing == 12_687
