"""The StereoSet authors' own numbers (moinnadeem/StereoSet@ead7d08), to the last digit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.types import Result, Variant
from stereometer.kinds.cats.files import read_cats, statistics
from stereometer.kinds.cats.items import LABELS
from tests.builders.sure import sure
from tests.conftest import released

pytestmark = pytest.mark.golden

SYSTEMS = {
    "gpt2": "predictions_gpt2_ModelNSP_GPT2LM",
    "bert-base-cased": "predictions_bert-base-cased_BertNextSentence_BertLM",
    "roberta-large": "predictions_roberta-large_ModelNSP_RoBERTaLM",
    "xlnet-base-cased": "predictions_xlnet-base-cased_ModelNSP_XLNetLM",
    "SentimentModel.json": "predictions_SentimentModel",
}
METRICS = {"lms": "LM Score", "ss": "SS Score", "icat": "ICAT Score"}


def replayed(
    system: str, tmp_path: Path, variant: Variant = "paper", resamples: int = 200
) -> Result:
    file = released(f"stereoset/predictions/{SYSTEMS[system]}.json.gz")
    return stereometer.replay(
        file,
        benchmark="stereoset",
        variant=variant,
        resamples=resamples,
        out=tmp_path / f"{system}-{variant}",
    )[0]


def published_slices(scores: Mapping[str, Any]) -> dict[tuple[tuple[str, str], ...], Any]:
    """The 11 slices as the authors nest them, by our names."""
    found: dict[tuple[tuple[str, str], ...], Any] = {(): scores["overall"]}
    for task in ("intrasentence", "intersentence"):
        for domain, values in scores[task].items():
            found[(("task", task), *([] if domain == "overall" else [("domain", domain)]))] = values
    return found


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_published_cell_comes_out(system: str, tmp_path: Path) -> None:
    published = json.loads(released("stereoset/published_scores.json").read_text())[system]
    result = replayed(system, tmp_path)
    slices = published_slices(published)
    assert len(slices) == 11
    for fixed, values in slices.items():
        for name, theirs in METRICS.items():
            assert result.estimate(name, **dict(fixed)).value == pytest.approx(
                values[theirs], abs=1e-9
            )


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_published_value_stands_beside_ours_only_under_paper(
    system: str, tmp_path: Path
) -> None:
    under_paper = [row for row in replayed(system, tmp_path).estimates if row.published]
    assert len(under_paper) == 11 * 3
    for row in under_paper:
        assert sure(row.published).value == pytest.approx(row.value, abs=1e-9)
    assert replayed(system, tmp_path, "sound").estimate("icat").published is None


def test_the_authors_domain_counts_are_three_times_too_large(tmp_path: Path) -> None:
    """Their `Count` counts sentences in the domain rows and items in the overall rows; ours counts
    items."""
    published = json.loads(released("stereoset/published_scores.json").read_text())["gpt2"]
    result = replayed("gpt2", tmp_path)
    gender = result.estimate("ss", task="intrasentence", domain="gender")
    assert published["intrasentence"]["gender"]["Count"] == 3 * gender.n == 3 * gender.asked
    assert published["overall"]["Count"] == result.estimate("ss").n == 4229


def test_religion_holds_its_three_terms_fixed(tmp_path: Path) -> None:
    result = replayed("gpt2", tmp_path)
    religion = result.estimate("ss", domain="religion")
    assert religion.terms == 3
    assert "terms held fixed" in sure(religion.interval)
    assert "over target terms" in sure(result.estimate("ss").interval)


def test_table_1_of_the_development_set() -> None:
    """Counts by domain from methods.md: 79 terms (10, 30, 36, 3), 2,106 and 2,123 items."""
    cats = read_cats(released("stereoset/dev.json.gz"))
    rows = {(row["task"], row["domain"]): row for row in statistics(cats)}
    assert (rows["both", "all"]["terms"], rows["both", "all"]["items"]) == (79, 4229)
    assert [
        rows["intrasentence", domain]["terms"]
        for domain in ("gender", "profession", "race", "religion")
    ] == [10, 30, 36, 3]
    assert (rows["intrasentence", "all"]["items"], rows["intersentence", "all"]["items"]) == (
        2106,
        2123,
    )
    assert rows["intrasentence", "all"]["words"] == pytest.approx(
        8.02, abs=0.1
    )  # the paper's Table 1, all 321 terms
    assert rows["intersentence", "all"]["words"] == pytest.approx(15.39, abs=0.15)


def test_gold_labels_have_at_least_three_votes_and_every_sentence_is_its_context_filled() -> None:
    cats = read_cats(released("stereoset/dev.json.gz"))
    votes = [one.votes.count(label) for cat in cats for label, one in cat.candidates.items()]
    assert len(votes) == 12_687
    assert min(votes) == 3
    intra = [cat for cat in cats if cat.task == "intrasentence"]
    assert all(cat.filler(label) for cat in intra for label in cat.candidates)
    assert sum(cat.context.count("BLANK") > 1 for cat in intra) == 2
    assert {vote for cat in cats for one in cat.candidates.values() for vote in one.votes} == {
        *LABELS,
        "related",
    }


def test_the_ideal_model_is_the_papers(tmp_path: Path) -> None:
    """Section 5.3: 100, 50, 100. Under `paper` the odd items of terms cannot cancel to the last
    digit, as terms have different numbers of items."""
    data, out = released("stereoset/dev.json.gz"), tmp_path / "ideal"
    (result,) = stereometer.run(
        "stereoset", model="ideal", variant="paper", resamples=200, data=data, out=out
    )
    values = [result.estimate(name).value for name in ("lms", "ss", "icat")]
    assert values == [100.0, pytest.approx(50, abs=0.02), pytest.approx(100, abs=0.04)]
    assert "prefers" not in str(result.estimate("ss").verdict)
