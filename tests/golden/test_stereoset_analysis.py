"""Analyses, ensembles and audits of the released StereoSet and CrowS-Pairs: numbers that the papers
print or that do not change."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import stereometer
from stereometer.core.runs.open import open_model
from stereometer.core.runs.stored import run_of
from stereometer.core.stats.ranks import spearman
from stereometer.core.types import Result, Settings, Variant
from stereometer.kinds.cats import shape as cat_shape
from stereometer.kinds.cats.files import read_cats, term_agreement
from stereometer.kinds.cats.items import Cat
from stereometer.kinds.pairs.benchmarks import read_crows_pairs
from stereometer.wings.curation import analysis, keywords, sentiment
from stereometer.wings.curation.audit import audit
from stereometer.wings.curation.split import parted
from stereometer.wings.relations.ensemble.combine import ensemble as combine
from stereometer.wings.relations.ensemble.combine import mean_weights
from tests.builders.sure import all_of, bounds, sure
from tests.conftest import released
from tests.golden.test_stereoset import SYSTEMS

pytestmark = pytest.mark.golden
QUICK = Settings(resamples=200)
DEV = "stereoset/dev.json.gz"


@pytest.fixture(scope="module")
def cats() -> list[Cat]:
    return read_cats(released(DEV))


def replay(system: str, variant: Variant, place: Path) -> Path:
    file = released(f"stereoset/predictions/{SYSTEMS[system]}.json.gz")
    stereometer.replay(
        file,
        benchmark="stereoset",
        variant=variant,
        resamples=100,
        out=place / f"{system}-{variant}",
    )[0]
    return place / f"{system}-{variant}"


# ---------------------------------------------------------------------------------- across systems


def test_the_papers_correlation_of_lms_and_ss() -> None:
    """Section 7 prints 0.87: Table 4 without the baselines and without the ensemble."""
    with released("published/reference_numbers.csv").open(newline="") as file:
        rows = [
            row
            for row in csv.DictReader(file)
            if (row["benchmark"], row["split"], row["method"], row["subset"])
            == ("StereoSet", "test", "LL", "overall")
        ]
    table: dict[str, dict[str, float]] = {}
    for row in rows:
        table.setdefault(row["model"], {})[row["metric"]] = float(row["value"])
    models = [name for name in table if name not in ("SentimentLM", "Ensemble")]
    assert len(models) == 9
    rho = float(
        spearman(
            np.array([table[name]["lms"] for name in models]),
            np.array([table[name]["ss"] for name in models]),
        )
    )
    assert round(rho, 2) == 0.87


# ---------------------------------------------------------------------------------------- ensembles


def value_of(result: Result, name: str) -> float:
    return sure(result.estimate(name).value)


def test_a_cross_fitted_ensemble_is_the_strongest_language_model(tmp_path: Path) -> None:
    """As the paper says of its own: a higher lms than any member, and a higher ss."""
    places = [
        replay(system, "sound", tmp_path)
        for system in ("bert-base-cased", "gpt2", "roberta-large", "xlnet-base-cased")
    ]
    done = combine(*places, resamples=100, out=tmp_path / "ensemble").result
    members = [stereometer.load(place) for place in places]
    lms, ss = value_of(done, "lms"), value_of(done, "ss")
    assert lms > max(value_of(member, "lms") for member in members) + 3
    assert ss > max(value_of(member, "ss") for member in members)
    assert lms == pytest.approx(90.27, abs=0.1)
    assert mean_weights(done)["intersentence"]["bert-base-cased"] > 0.5


def test_the_released_rule_on_released_scores(tmp_path: Path) -> None:
    """Two of the authors' systems under their weights, against the rule written out."""
    places = [replay(system, "paper", tmp_path) for system in ("bert-base-cased", "gpt2")]
    done = combine(*places, resamples=100, out=tmp_path / "ensemble")
    bert, gpt2 = ({one.item: one.values for one in run_of(place).scores} for place in places)
    for score in run_of(done.folder).scores:
        inside = score.slices["task"] == "intrasentence"
        total = dict.fromkeys(score.values, 0.0)
        for values, weight in (
            (bert[score.item], 1 if inside else 35),
            (gpt2[score.item], 10000 if inside else 15),
        ):
            for one, other in (
                ("stereotype", "anti-stereotype"),
                ("stereotype", "unrelated"),
                ("anti-stereotype", "unrelated"),
            ):
                if values[one] > values[other]:
                    total[one] += weight * values[one]
                elif values[other] > values[one]:
                    total[other] += weight * values[other]
        assert score.values == pytest.approx(total, rel=1e-12)
    terms = {
        one.slice["target"]: sure(one.value)
        for one in done.result.estimates
        if one.name == "ss" and "target" in one.slice
    }
    assert (
        max(("Bible", "Brahmin", "Muslim"), key=terms.__getitem__) == "Bible"
    )  # Table 8's ends of religion
    assert min(("Bible", "Brahmin", "Muslim"), key=terms.__getitem__) == "Muslim"


# ---------------------------------------------------------------------------------------- sentiment


def test_the_released_sentiment_scores_replay_exactly(tmp_path: Path) -> None:
    """methods.md: the released file, not the values printed in 2020."""
    place = replay("SentimentModel.json", "paper", tmp_path)
    result = stereometer.load(place)
    for name in ("lms", "ss", "icat"):
        one = result.estimate(name)
        assert one.value == pytest.approx(sure(one.published).value, abs=1e-9)


def test_stereotypes_sound_more_negative_as_in_table_2(cats: list[Cat]) -> None:
    """The paper's classifier says 41 % and 33 %, with neutral texts on the positive side; VADER
    finds the same direction."""
    found = sentiment.signs(cats, cat_shape.SHAPE, open_model("sentiment"))  # type: ignore[arg-type]
    one = sentiment.contrasts(cats, cat_shape.SHAPE, found, QUICK)[0]
    assert (one.n, one.clusters) == (4229, 79)
    assert one.verdict == "stereotypes sound more negative"


# ----------------------------------------------------------------------------- words and validators


def test_keywords_meet_those_of_table_3(cats: list[Cat]) -> None:
    """The development set has a quarter of the terms; of the words that Table 3 prints for two
    domains many come out on top."""
    printed = {
        "gender": {"masculine", "bossy", "immature", "rowdy", "polite", "studious", "burly"},
        "profession": {
            "nerdy",
            "uneducated",
            "bossy",
            "unintelligent",
            "studious",
            "rude",
            "greedy",
            "talkative",
        },
    }
    found = keywords.keywords(cats, keywords.reference("English"), 40)
    for domain, words in printed.items():
        ours = {one.word for one in found if one.group == domain}
        assert len(ours & words) >= 5
    assert not {one.word for one in found} & {"mother", "librarian", "ethiopia", "muslim"}


def test_validators_of_stereoset(cats: list[Cat]) -> None:
    """12,687 sentences, five labels each; every gold label has at least three votes."""
    assert analysis.levels(cats) == {"3 of 5": 1223, "4 of 5": 1864, "5 of 5": 1142}
    alpha = analysis.raw_alpha(cats, QUICK)
    assert (alpha.units, alpha.labels) == (12_687, 63_435)
    assert alpha.value == pytest.approx(0.668, abs=5e-4)
    low, value, high = bounds(alpha)
    assert low < value < high


def test_a_split_of_the_terms_keeps_every_domain(cats: list[Cat]) -> None:
    found = parted(cats, 0.25, 0)
    dev, test = (
        all_of(Cat, (item for group in side for item in group.items))
        for side in (found.dev, found.test)
    )
    assert {item.target for item in dev}.isdisjoint(item.target for item in test)
    assert len(dev) + len(test) == 4229
    for domain in ("gender", "profession", "race", "religion"):
        sizes = [
            len(group.items)
            for group in [*found.dev, *found.test]
            if group.domain == f"cat {domain}"
        ]
        mine = [len(group.items) for group in found.dev if group.domain == f"cat {domain}"]
        assert abs(sum(mine) - 0.25 * sum(sizes)) <= max(sizes) / 2
        assert mine


# ------------------------------------------------------------------------------------------- audits


def test_known_faults_of_stereoset_are_counted() -> None:
    """methods.md: 928 glued blanks, 2 with several, every sentence its context filled, 38 % of
    intrasentence items in other case.

    Seven items have their target misspelt or only in a longer name.
    """
    released(DEV)
    (shape,) = audit("stereoset", resamples=200).shapes
    counts = {flag.name: flag.count for flag in shape.flags}
    expected = {
        "no-blank": 0,
        "several-blanks": 2,
        "glued-blank": 928,
        "not-filled": 0,
        "case-differs": 793,
        "empty": 0,
        "duplicate": 0,
        "disagreement": 0,
        "article": 57,
        "target-missing": 7,
    }
    assert {name: counts[name] for name in expected} == expected
    assert round(793 / 2106, 2) == 0.38
    assert sure(counts["glued-filler"]) > 0


def test_known_faults_of_crows_pairs_are_counted() -> None:
    """methods.md: one pair twice, 162 pairs whose own bias type has fewer than 3 of 5 votes."""
    pairs = read_crows_pairs([released("crows_pairs/crows_pairs_anonymized.csv")])[0]["pair"]
    (shape,) = audit("crows-pairs", agreement=0.6, resamples=200).shapes
    counts = {flag.name: flag.count for flag in shape.flags}
    assert (len(pairs), counts["duplicate"], counts["disagreement"]) == (1508, 1, 162)
    assert counts["empty"] == counts["same-sides"] == counts["nothing-shared"] == 0
    assert (counts["far-apart"], counts["names"]) == (40, 242)


def test_flags_that_rest_on_english_are_not_checked_in_french() -> None:
    released("crows_pairs/crows_pairs_FR_languagearc_contribution+210.csv")
    (shape,) = audit("crows-pairs-french", resamples=200).shapes
    unchecked = {flag.name: flag.why for flag in shape.flags if flag.count is None}
    assert set(unchecked) == {"article", "more-than-group", "names", "disagreement"}
    assert "French" in sure(unchecked["article"])
    assert "no validators' labels" in sure(unchecked["disagreement"])


def test_agreement_on_stereotypes_is_that_of_table_10(cats: list[Cat]) -> None:
    """Table 10 prints 77 of the development set's 79 terms, rounded to two digits. How it was
    counted is not said; pairs among the validators and the writer come as near as this."""
    with (Path(__file__).parent / "stereoset_table_10.csv").open(newline="") as file:
        printed = {row["term"]: float(row["agreement"]) for row in csv.DictReader(file)}
    ours = {row["target"]: row["agreement"] for row in term_agreement(cats)}
    assert len(printed) == 77
    assert sum(round(ours[term], 2) == value for term, value in printed.items()) == 40
    assert sum(abs(ours[term] - value) <= 0.01 for term, value in printed.items()) == 66
    assert max(abs(ours[term] - value) for term, value in printed.items()) < 0.02
