"""Bad input to ensemble, relate, analyze, split and audit: one sentence of what is wrong, the right
exit code, no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

import stereometer
from stereometer.types import Variant
from tests.builders.commands import assert_refused, call
from tests.builders.little import little_stereoset, pairs_file
from tests.builders.stored import only, unsealed

QUICK = ("--resamples", 100)


@pytest.fixture
def runs(tmp_path: Path) -> dict[str, Path]:
    """Three coins and one without lms on CATs under `sound`, one under `paper`; one on pairs."""
    dev = little_stereoset(tmp_path / "dev.json", 6)
    plans: dict[str, tuple[str, Variant, int]] = {
        "a": ("random", "sound", 1),
        "b": ("random", "sound", 2),
        "c": ("random", "sound", 3),
        "p": ("random", "paper", 1),
        "s": ("stereotyped", "sound", 0),
    }
    for name, (model, variant, seed) in plans.items():
        stereometer.run(
            str(dev),
            model=model,
            variant=variant,
            seed=seed,
            measure=["cat-likelihood"],
            resamples=100,
            out=tmp_path / name,
            cache=False,
        )
    stereometer.run(
        str(pairs_file(tmp_path / "pairs.csv")),
        model="fake",
        resamples=100,
        out=tmp_path / "pairs",
        cache=False,
    )
    return {name: tmp_path / name for name in (*plans, "pairs")}


# ----------------------------------------------------------------------------------------- ensemble


def test_one_run_is_no_ensemble(runs: dict[str, Path]) -> None:
    assert_refused(call("ensemble", runs["a"], *QUICK), 2, "at least two runs")


def test_a_folder_that_is_no_run(runs: dict[str, Path], tmp_path: Path) -> None:
    assert_refused(
        call("ensemble", runs["a"], tmp_path / "nothing", *QUICK),
        4,
        "nothing. A stored run is a folder",
    )


def test_unlike_runs(runs: dict[str, Path]) -> None:
    assert_refused(
        call("ensemble", runs["a"], runs["p"], *QUICK), 2, "not measured alike", "variant"
    )
    assert_refused(call("ensemble", runs["a"], runs["pairs"], *QUICK), 2, "not measured alike")


def test_a_member_without_unrelated_scores(runs: dict[str, Path]) -> None:
    assert_refused(
        call("ensemble", runs["a"], runs["s"], *QUICK), 2, "no scores of unrelated candidates"
    )


def test_another_variant_than_the_runs(runs: dict[str, Path]) -> None:
    assert_refused(
        call("ensemble", runs["a"], runs["b"], "--variant", "paper", *QUICK),
        2,
        "measured under `sound`",
        "--variant paper",
    )
    assert_refused(
        call("ensemble", runs["a"], runs["b"], "--variant", "nice", *QUICK), 2, "no variant 'nice'"
    )


def test_paper_weights_nobody_gave(runs: dict[str, Path]) -> None:
    assert_refused(
        call("ensemble", runs["p"], runs["p"], *QUICK), 2, "gave no weight for random", "--weights"
    )


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (["intrasentence=1,2"], "leaves out intersentence"),
        (["intrasentence=1", "intersentence=1,2"], "has 1 numbers for 2 runs"),
        (["intrasentence=0,0", "intersentence=1,2"], "all are 0"),
        (["intrasentence=1,x", "intersentence=1,2"], "is not understood"),
        (["intrasentence=-1,2", "intersentence=1,2"], "is not understood"),
        (["intrasentence=nan,2", "intersentence=1,2"], "is not understood"),
        (["pair=1,2"], "no task of these runs"),
    ],
)
def test_weights_that_make_no_sense(runs: dict[str, Path], weights: list[str], said: str) -> None:
    options = [part for one in weights for part in ("--weights", one)]
    assert_refused(call("ensemble", runs["a"], runs["b"], *options, *QUICK), 2, said)


def test_too_few_folds(runs: dict[str, Path]) -> None:
    assert_refused(call("ensemble", runs["a"], runs["b"], "--folds", 1, *QUICK), 2, "too few")


def test_scores_that_were_cut_off(runs: dict[str, Path]) -> None:
    file = unsealed(runs["b"]) / "scores.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    assert_refused(
        call("ensemble", runs["a"], runs["b"], *QUICK), 2, "not scored on the same items"
    )


def test_a_bar_for_an_ensemble(runs: dict[str, Path], tmp_path: Path) -> None:
    said = call(
        "ensemble", runs["a"], runs["b"], "--require", "lms>=100.5", "--out", tmp_path / "e", *QUICK
    )
    assert said.code == 5
    assert (only(tmp_path / "e") / "result.json").exists()


# ------------------------------------------------------------------------------------------- relate


def test_too_few_systems(runs: dict[str, Path]) -> None:
    assert_refused(call("relate", runs["a"], runs["b"], *QUICK), 2, "at least 3 runs")
    assert_refused(
        call("relate", runs["a"], runs["b"], runs["s"], *QUICK), 2, "Only 2 of the runs have both"
    )


def test_pairs_have_no_lms(runs: dict[str, Path]) -> None:
    assert_refused(
        call("relate", runs["pairs"], runs["pairs"], runs["pairs"], *QUICK), 2, "has no lms and ss"
    )


def test_a_table_of_sizes_that_is_none(runs: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text("name,size\nx,1\n")
    three = (runs["a"], runs["b"], runs["a"])
    assert_refused(
        call("relate", *three, "--facts", tmp_path / "facts.csv", *QUICK), 4, "no column system"
    )
    assert_refused(
        call("relate", *three, "--facts", tmp_path / "none.csv", *QUICK), 4, "does not exist"
    )


# ------------------------------------------------------------------------- analyze, split and audit


@pytest.mark.parametrize("command", ["analyze", "audit"])
def test_unknown_names_files_and_runs(command: str, runs: dict[str, Path], tmp_path: Path) -> None:
    assert_refused(call(command, "steroset", *QUICK), 2, "Did you mean", "stereoset")
    assert_refused(call(command, tmp_path / "none.csv", *QUICK), 4, "does not exist")
    assert_refused(
        call(command, "starter", "--run", tmp_path / "none", *QUICK),
        4,
        "none. A stored run is a folder",
    )
    assert_refused(
        call(command, "starter", "--run", runs["a"], *QUICK), 2, "measured on other items"
    )
    assert_refused(call(command, "starter", "--resamples", 5), 2, "too few")


def test_what_does_not_judge_sentiment() -> None:
    assert_refused(
        call("analyze", "starter", "--sentiment", "ideal", *QUICK), 2, "does not judge sentiment"
    )
    assert_refused(
        call("analyze", "starter", "--sentiment", "fake", *QUICK), 2, "does not judge sentiment"
    )
    assert_refused(call("analyze", "starter", "--top", 0, *QUICK), 2, "At least one is shown")


def test_flags_and_shares_that_are_none() -> None:
    assert_refused(call("audit", "starter", "--flag", "artcle", *QUICK), 2, "Did you mean article")
    assert_refused(call("audit", "starter", "--ignore", "everything", *QUICK), 2, "no flag called")
    assert_refused(call("audit", "starter", "--agreement", 3, *QUICK), 2, "share of validators")
    assert_refused(call("audit", "starter", "--examples", -1, *QUICK), 2, "cannot be shown")


def test_errata_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text("schema = 'else'")
    assert_refused(call("audit", "starter", "--errata", tmp_path / "e.toml", *QUICK), 4, "errata@1")
    assert_refused(
        call("audit", "starter", "--errata", tmp_path / "none.toml", *QUICK), 4, "does not exist"
    )
    assert_refused(call("audit", "starter", "--errata", tmp_path, *QUICK), 4, "is a folder")


def test_splits_that_make_no_sense(tmp_path: Path) -> None:
    assert_refused(
        call("split", "starter", "--out", tmp_path / "x", "--share", 1.5), 2, "between 0 and 1"
    )
    assert_refused(call("split", "starter", "--out", tmp_path / "x", "--seed", -1), 2, "from 0 up")
    assert_refused(call("split", "nothing.csv", "--out", tmp_path / "x"), 4, "does not exist")
    (tmp_path / "file").write_text("x")
    assert_refused(call("split", "starter", "--out", tmp_path / "file"), 1, "cannot be written")
    assert_refused(
        call(
            "split",
            pairs_file(
                tmp_path / "h.csv", "sent_more,sent_less,bias_type,hidden\na b,a c,age,maybe\n"
            ),
            "--out",
            tmp_path / "x",
        ),
        4,
        "hidden is 'maybe'",
    )


# --------------------------------------------------------------------------------------------- JSON


def test_json_is_one_document_with_a_schema(runs: dict[str, Path], tmp_path: Path) -> None:
    spoken = {
        "result@1": ("ensemble", runs["a"], runs["b"], "--out", tmp_path / "e", *QUICK),
        "relate@1": ("relate", runs["a"], runs["b"], runs["c"], *QUICK),
        "analysis@1": ("analyze", "starter", *QUICK),
        "split@1": ("split", "starter", "--out", tmp_path / "x"),
        "audit@1": ("audit", tmp_path / "dev.json", "--run", runs["a"], *QUICK),
    }
    for schema, command in spoken.items():
        assert call(*command, "--json").json["schema"] == schema


def test_words_for_people(runs: dict[str, Path], tmp_path: Path) -> None:
    assert (
        "weights, intrasentence: random (1)"
        in call("ensemble", runs["a"], runs["b"], "--out", tmp_path / "e", *QUICK).out
    )
    said = call("relate", runs["a"], runs["b"], runs["c"], "-o", tmp_path / "r.html", *QUICK)
    assert "lms with ss: rho" in said.out
    assert (tmp_path / "r.html").exists()
    assert (
        "most and least stereotyped terms"
        in call("analyze", tmp_path / "dev.json", "--run", runs["a"], *QUICK).out
    )
    assert "test (hidden)" in call("split", "starter", "--out", tmp_path / "x").out
    shown = call("audit", tmp_path / "dev.json", "--run", runs["a"], "--show-texts", *QUICK)
    assert "Content warning" in shown.out
    assert "leaving out only the items of one flag" in shown.out
