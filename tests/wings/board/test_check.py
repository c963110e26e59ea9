"""Tiers are earned: forged scores, edited digests and labels in place of a model go nowhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import DataError, ModelError, UsageError
from stereometer.wings.board.bundle import write_bundle as submit
from stereometer.wings.board.check import check
from stereometer.wings.board.site import build
from tests.builders.bundles import forged, swap
from tests.builders.commands import assert_refused, call
from tests.builders.stored import sealed


@pytest.mark.long
def test_an_honest_bundle_is_reported_and_then_reproduced(bundle: Path) -> None:
    assert check(bundle).tier == "reported"
    checked = check(bundle, model="fake")
    assert checked.tier == "reproduced"
    assert checked.reproduced is not None
    assert checked.reproduced.items == 50
    assert checked.reproduced.largest < 1e-6


def test_items_are_drawn_after_the_submission(bundle: Path) -> None:
    seeds = {check(bundle, model="fake", items=3).reproduced for _ in range(2)}
    assert len(seeds) == 2


# -------------------------------------------------------------------------------- forged and edited


def test_a_number_that_does_not_follow_from_the_scores_is_refused(
    bundle: Path, tmp_path: Path
) -> None:
    def better(result: dict[str, Any], scores: object) -> None:
        row = next(each for each in result["estimates"] if each["name"] == "icat")
        row["value"] += 0.1

    with pytest.raises(DataError, match="do not follow from the scores"):
        check(forged(bundle, tmp_path / "forged", better))


def test_scores_changed_under_their_result_are_refused(bundle: Path, tmp_path: Path) -> None:
    def turned(result: object, scores: list[dict[str, Any]]) -> None:
        for score in scores[:20]:
            score["values"] = swap(score["values"])

    with pytest.raises(DataError, match="do not follow from the scores"):
        check(forged(bundle, tmp_path / "forged", turned))


@pytest.mark.long
def test_forged_scores_with_numbers_that_follow_stay_reported(bundle: Path, tmp_path: Path) -> None:
    """Arithmetic cannot see it; running items again does."""

    def turned(result: object, scores: list[dict[str, Any]]) -> None:
        for score in scores[::2]:
            score["values"] = {name: value + 1 for name, value in score["values"].items()}

    lie = forged(bundle, tmp_path / "forged", turned, recount=True)
    assert check(lie).tier == "reported"
    with pytest.raises(DataError, match="stays `reported`"):
        check(lie, model="fake")


@pytest.mark.parametrize("name", ["result.json", "scores.jsonl"])
def test_a_file_without_its_digest_is_refused(bundle: Path, tmp_path: Path, name: str) -> None:
    copy = shutil.copytree(bundle, tmp_path / "copy")
    (copy / name).write_text((copy / name).read_text("utf-8").replace("0.1", "0.2"), "utf-8")
    with pytest.raises(DataError, match="contradicts itself"):
        check(copy)


@pytest.mark.parametrize("field", ["data_digest", "model_digest", "measure", "variant", "model"])
def test_an_edited_manifest_is_refused(bundle: Path, tmp_path: Path, field: str) -> None:
    copy = shutil.copytree(bundle, tmp_path / "copy")
    manifest = json.loads((copy / "manifest.json").read_text("utf-8"))
    manifest[field] = "paper" if field == "variant" else "f" * 64
    (copy / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(DataError, match="do not speak of the same run"):
        check(copy)


def test_another_digest_of_the_data_is_refused(bundle: Path, tmp_path: Path) -> None:
    def other(result: dict[str, Any], scores: object) -> None:
        result["data"]["digest"] = "0" * 64

    with pytest.raises(DataError, match="other items cannot"):
        check(forged(bundle, tmp_path / "forged", other))


def test_items_left_out_twice_or_filed_elsewhere_are_refused(bundle: Path, tmp_path: Path) -> None:
    def fewer(result: object, scores: list[dict[str, Any]]) -> None:
        del scores[:10]

    def twice(result: object, scores: list[dict[str, Any]]) -> None:
        scores[1] = dict(scores[0])

    def elsewhere(result: object, scores: list[dict[str, Any]]) -> None:
        scores[0]["slices"] = scores[0]["slices"] | {"domain": "weather"}

    for number, change in enumerate((fewer, twice, elsewhere)):
        with pytest.raises(DataError, match="does not score each"):
            check(forged(bundle, tmp_path / str(number), change, recount=True))


def test_a_submitter_does_not_choose_how_surely_something_is_said(
    bundle: Path, tmp_path: Path
) -> None:
    def bold(result: dict[str, Any], scores: object) -> None:
        result["settings"] |= {"level": 0.5, "resamples": 1_000_000, "delta": 49.0}
        result["notes"] = ["The best model of all."]
        result["data"]["title"] = "A much better set"

    checked = check(forged(bundle, tmp_path / "bold", bold), into=tmp_path / "host")
    stored = json.loads((tmp_path / "host" / str(checked.run) / "result.json").read_text("utf-8"))
    assert (stored["settings"]["level"], stored["settings"]["delta"]) == (0.95, 5.0)
    assert stored["settings"]["resamples"] == 10_000
    assert stored["data"]["title"] == "Starter set"
    assert "best model" not in json.dumps(stored["notes"])


# -------------------------------------------------------------------------------------------- ideal


@pytest.mark.long
def test_what_reads_the_labels_is_never_above_reported(ideal_bundle: Path, tmp_path: Path) -> None:
    assert check(ideal_bundle).tier == "reported"
    for model in ("ideal", "fake"):
        with pytest.raises(ModelError, match="stays `reported`"):
            check(ideal_bundle, model=model)

    def computed(result: dict[str, Any], scores: object) -> None:
        result["scoring"] = "computed"

    with pytest.raises(DataError, match="do not follow"):  # a model's ties leave no score
        check(forged(ideal_bundle, tmp_path / "tied", computed))

    def posing(result: dict[str, Any], scores: list[dict[str, Any]]) -> None:
        computed(result, scores)
        _untie(scores)

    posed = forged(ideal_bundle, tmp_path / "posing", posing, recount=True)
    with pytest.raises(ModelError, match="not a model but a rule"):
        check(posed, model="ideal")
    with pytest.raises(ModelError, match="other weights"):
        check(posed, model="fake")


def _untie(scores: list[dict[str, Any]]) -> None:
    for number, score in enumerate(scores):
        score["values"]["stereotype"] += 0.1 if number % 2 else -0.1


@pytest.mark.long
def test_its_scores_under_the_name_of_real_weights_are_not_reproduced(
    bundle: Path, ideal_bundle: Path, tmp_path: Path
) -> None:
    real = json.loads((bundle / "result.json").read_text("utf-8"))

    def posing(result: dict[str, Any], scores: list[dict[str, Any]]) -> None:
        result |= {"scoring": "computed", "model": "fake", "model_card": real["model_card"]}
        _untie(scores)

    posed = forged(ideal_bundle, tmp_path / "posing", posing, recount=True)
    assert check(posed).tier == "reported"
    with pytest.raises(DataError, match="stays `reported`"):
        check(posed, model="fake")


def test_other_weights_than_named_reproduce_nothing(bundle: Path) -> None:
    with pytest.raises(ModelError, match="other weights"):
        check(bundle, model="random")
    with pytest.raises(UsageError, match="too few"):
        check(bundle, model="fake", items=0)


def test_another_version_of_a_measure_without_options_is_said(tmp_path: Path) -> None:
    """Not that the measure has no --within-word, which nobody asked for."""
    stereometer.run(
        "starter",
        model="fake",
        measure="pair-all-masks-likelihood",
        resamples=100,
        out=tmp_path,
        cache=False,
    )
    (run,) = tmp_path.iterdir()
    submit(run, tmp_path / "bundle")

    def of_later(result: dict[str, Any], scores: object) -> None:
        result["measure"] = "pair-all-masks-likelihood@9"

    later = forged(tmp_path / "bundle", tmp_path / "later", of_later)
    with pytest.raises(DataError, match="this version makes pair-all-masks-likelihood@1"):
        check(later, model="fake")


def test_a_measure_with_an_option_is_run_again_with_it(tmp_path: Path) -> None:
    stereometer.run(
        "starter",
        model="fake",
        measure="pair-likelihood",
        within_word=True,
        resamples=100,
        out=tmp_path,
        cache=False,
    )
    (run,) = tmp_path.iterdir()
    submit(run, tmp_path / "bundle")
    assert check(tmp_path / "bundle", model="fake", items=3).tier == "reproduced"


# -------------------------------------------------------------------------------- the host's folder


@pytest.mark.long
def test_a_run_that_is_taken_in_has_its_tier_on_the_board(
    bundle: Path, ideal_bundle: Path, tmp_path: Path
) -> None:
    check(bundle, model="fake", into=tmp_path / "host")
    check(ideal_bundle, into=tmp_path / "host")
    (table,) = build(tmp_path / "host", output=tmp_path / "site").tables
    tiers = {entry.model: entry.tier for entry in table.entries}
    assert tiers == {"fake": "reproduced", "ideal": "reported"}
    assert "reproduced" in (tmp_path / "site" / "index.html").read_text("utf-8")


def test_a_run_that_changed_after_its_check_is_refused(bundle: Path, tmp_path: Path) -> None:
    checked = check(bundle, into=tmp_path / "host")
    sealed(tmp_path / "host" / str(checked.run), lambda value: value.update(model="gpt-9"))
    with pytest.raises(DataError, match="not the file that was checked"):
        build(tmp_path / "host", output=tmp_path / "site")


def test_a_refused_bundle_leaves_nothing(bundle: Path, tmp_path: Path) -> None:
    def unordered(result: object, scores: list[dict[str, Any]]) -> None:
        for score in scores:
            score["item"] = score.pop("item")

    with pytest.raises(DataError, match="not written as"):
        check(forged(bundle, tmp_path / "forged", unordered), into=tmp_path / "host")
    assert not (tmp_path / "host").exists()


def test_a_forged_ledger_of_checks_is_refused(
    bundle: Path, ideal_bundle: Path, tmp_path: Path
) -> None:
    check(bundle, into=tmp_path / "host")
    check(bundle, into=tmp_path / "host")
    ledger = tmp_path / "host" / "checks.jsonl"
    ledger.write_text(ledger.read_text("utf-8").replace("reported", "reproduced", 1), "utf-8")
    with pytest.raises(DataError, match="is broken"):
        build(tmp_path / "host", output=tmp_path / "site")
    with pytest.raises(DataError, match="is broken"):
        check(ideal_bundle, into=tmp_path / "host")
    assert not list((tmp_path / "host").glob("*ideal*"))


def test_the_command_gives_the_tier(bundle: Path, tmp_path: Path) -> None:
    said = call("board", "check", bundle, "-m", "fake", "--items", "5", "--json")
    assert said.code == 0
    assert said.json["tier"] == "reproduced"
    lie = forged(bundle, tmp_path / "lie", lambda result, scores: scores.clear())
    assert_refused(call("board", "check", lie), 4)
