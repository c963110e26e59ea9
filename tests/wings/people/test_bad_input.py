"""Bad input to ensemble, relate, analyze, split and audit: one sentence of what is wrong, the right
exit code, no traceback."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import stereometer
from stereometer.core.types import Variant
from tests.builders.commands import assert_refused, call, filled
from tests.builders.little import little_stereoset, pairs_file
from tests.builders.stored import only, sealed

QUICK = ("--resamples", 100)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Three coins and one without lms on CATs under `sound`, one under `paper`; one on pairs; and
    files that are none of what they are given for."""
    folder = tmp_path_factory.mktemp("runs")
    dev = little_stereoset(folder / "dev.json", 6)
    plans: dict[str, tuple[str, Variant, int]] = {
        "a": ("random", "sound", 1),
        "b": ("random", "sound", 2),
        "c": ("random", "sound", 3),
        "p": ("random", "paper", 1),
        "s": ("stereotyped", "sound", 0),
    }
    measured: dict[str, Any] = {"resamples": 100, "cache": False}
    for name, (model, variant, seed) in plans.items():
        how = measured | {"variant": variant, "seed": seed, "measure": ["cat-likelihood"]}
        stereometer.run(str(dev), model=model, out=folder / name, **how)
    pairs = str(pairs_file(folder / "pairs.csv"))
    stereometer.run(pairs, model="fake", out=folder / "pairs", **measured)
    (folder / "facts.csv").write_text("name,size\nx,1\n")
    (folder / "e.toml").write_text("schema = 'else'")
    pairs_file(folder / "h.csv", "sent_more,sent_less,bias_type,hidden\na b,a c,age,maybe\n")
    return {name: folder / name for name in (*plans, "pairs")} | {"in": folder}


WEIGHTS = "ensemble {a} {b} --resamples 100 --weights"
UNFIT = "does not fit these runs. Each of their tasks takes 2 numbers from 0 up"
NO_RUN = "nothing'. A stored run is a folder"


@pytest.mark.parametrize(
    ("line", "code", "parts"),
    [
        ("ensemble {a}", 2, ["at least two runs"]),
        ("ensemble {a} {in}/nothing", 4, [NO_RUN]),
        ("ensemble {a} {p}", 2, ["not measured alike", "variant"]),
        ("ensemble {a} {pairs}", 2, ["not measured alike"]),
        ("ensemble {a} {s}", 2, ["no scores of unrelated candidates"]),
        ("ensemble {p} {p}", 2, ["gave no weight for random", "--weights"]),
        (f"{WEIGHTS} intrasentence=1,2", 2, [UNFIT]),
        (f"{WEIGHTS} intrasentence=1 --weights intersentence=1,2", 2, [UNFIT]),
        (f"{WEIGHTS} intrasentence=0,0 --weights intersentence=1,2", 2, [UNFIT]),
        (f"{WEIGHTS} intrasentence=1,x --weights intersentence=1,2", 2, [UNFIT]),
        (f"{WEIGHTS} intrasentence=-1,2 --weights intersentence=1,2", 2, [UNFIT]),
        (f"{WEIGHTS} intrasentence=nan,2 --weights intersentence=1,2", 2, [UNFIT]),
        (f"{WEIGHTS} pair=1,2", 2, [UNFIT]),
        ("ensemble {a} {b} --folds 1", 2, ["Choose 2 or more"]),
        ("relate {a} {b}", 2, ["at least 3 runs"]),
        ("relate {a} {b} {s}", 2, ["Only 2 of the runs have both"]),
        ("relate {pairs} {pairs} {pairs}", 2, ["has no lms and ss"]),
        ("relate {a} {b} {a} --facts {in}/facts.csv", 4, ["no column system"]),
        ("relate {a} {b} {a} --facts {in}/none.csv", 4, ["was not found"]),
        *(
            (f"{command} {rest}", code, parts)
            for command in ("analyze", "audit")
            for rest, code, parts in (
                ("steroset", 2, ["Did you mean", "stereoset"]),
                ("{in}/none.csv", 4, ["was not found"]),
                ("starter --run {in}/nothing", 4, [NO_RUN]),
                ("starter --run {a}", 2, ["measured on other items"]),
                ("starter --resamples 5", 2, ["too few"]),
            )
        ),
        ("analyze starter --sentiment ideal", 2, ["does not judge sentiment"]),
        ("analyze starter --sentiment fake", 2, ["does not judge sentiment"]),
        ("analyze starter --top 0", 2, ["At least one is shown"]),
        ("audit starter --flag artcle", 2, ["Did you mean article"]),
        ("audit starter --ignore everything", 2, ["no flag called"]),
        ("audit starter --agreement 3", 2, ["share of validators"]),
        ("audit starter --examples -1", 2, ["cannot be shown"]),
        ("audit starter --errata {in}/e.toml", 4, ["errata@1"]),
        ("audit starter --errata {in}/none.toml", 4, ["was not found"]),
        ("audit starter --errata {in}", 4, ["is a folder"]),
        ("split starter --out {in}/x --share 1.5", 2, ["between 0 and 1"]),
        ("split starter --out {in}/x --seed -1", 2, ["from 0 up"]),
        ("split nothing.csv --out {in}/x", 4, ["was not found"]),
        ("split starter --out {in}/e.toml", 1, ["cannot be written"]),
        ("split {in}/h.csv --out {in}/x", 4, ["hidden is 'maybe'"]),
    ],
)
def test_what_makes_no_sense_is_refused(
    line: str, code: int, parts: list[str], runs: dict[str, Path]
) -> None:
    few = QUICK if "--resamples" not in line and not line.startswith("split") else ()
    assert_refused(call(*filled(line, runs), *few), code, *parts)


def test_scores_that_were_cut_off(runs: dict[str, Path], tmp_path: Path) -> None:
    file = only(Path(copytree(runs["b"], tmp_path / "b"))) / "scores.jsonl"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:-1]))
    sealed(tmp_path / "b")
    said = call("ensemble", runs["a"], tmp_path / "b", *QUICK)
    assert_refused(said, 2, "not scored on the same items")


def test_a_bar_for_an_ensemble(runs: dict[str, Path], tmp_path: Path) -> None:
    said = call(
        "ensemble", runs["a"], runs["b"], "--require", "lms>=100.5", "--out", tmp_path / "e", *QUICK
    )
    assert said.code == 5
    assert (only(tmp_path / "e") / "result.json").exists()


def test_json_is_one_document_with_a_schema(runs: dict[str, Path], tmp_path: Path) -> None:
    spoken = {
        "stereometer-result@1": ("ensemble", runs["a"], runs["b"], "--out", tmp_path / "e", *QUICK),
        "relate@1": ("relate", runs["a"], runs["b"], runs["c"], *QUICK),
        "analysis@1": ("analyze", "starter", *QUICK),
        "split@1": ("split", "starter", "--out", tmp_path / "x"),
        "audit@1": ("audit", runs["in"] / "dev.json", "--run", runs["a"], *QUICK),
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
        in call("analyze", runs["in"] / "dev.json", "--run", runs["a"], *QUICK).out
    )
    assert "test (hidden)" in call("split", "starter", "--out", tmp_path / "x").out
    shown = call("audit", runs["in"] / "dev.json", "--run", runs["a"], "--show-texts", *QUICK)
    assert "Content warning" in shown.out
    assert "leaving out only the items of one flag" in shown.out
