"""What the verbs accept and refuse, and what a result holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.errors import ModelError, UnknownName, UsageError
from stereometer.files import to_json
from stereometer.types import Estimate, Published, Result
from tests.builders.little import PAIRS, QUICK, pairs_file


@pytest.mark.parametrize("model", ["fake", "ideal"])
def test_an_unknown_measure_is_refused_whatever_the_model(model: str) -> None:
    with pytest.raises(UnknownName):
        stereometer.run("starter", model=model, measure=["pair-likelyhood"], **QUICK)


def test_a_measure_of_another_shape_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"custom has no items of shape 'cat'. It offers pair"):
        stereometer.run(
            str(pairs_file(tmp_path / "pairs.csv")), model="fake", measure=["cat-likelihood"]
        )


def test_the_first_default_measure_that_the_model_can_answer_is_taken(tmp_path: Path) -> None:
    path = str(pairs_file(tmp_path / "pairs.csv"))
    taken = {
        model: stereometer.run(path, model=model, **QUICK)[0].measure
        for model in ("fake", "random")
    }
    assert taken == {"fake": "pair-likelihood@1", "random": "pair-sentence-likelihood@1"}


def test_a_model_that_can_answer_none_of_them_is_refused() -> None:
    with pytest.raises(
        ModelError, match="sentiment cannot answer cat-pseudo-likelihood on the intersentence task"
    ):
        stereometer.run("starter", model="sentiment", measure=["cat-pseudo-likelihood"])


def test_two_files_of_ones_own_in_one_run_get_a_folder_each(tmp_path: Path) -> None:
    paths = [str(pairs_file(tmp_path / name)) for name in ("one.csv", "two.csv")]
    Path(paths[1]).write_text(PAIRS.replace("keys", "pens"))
    assert len(stereometer.run(*paths, model="fake", **QUICK)) == 2


def test_two_files_of_the_same_name_in_one_run_get_a_folder_each_under_out(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        pairs_file(tmp_path / name / "pairs.csv", PAIRS.replace("keys", name))
    paths = [str(tmp_path / name / "pairs.csv") for name in ("one", "two")]
    assert len(stereometer.run(*paths, model="fake", out=tmp_path / "out", **QUICK)) == 2


def test_two_files_of_ones_own_in_one_run_get_a_folder_each_under_out(tmp_path: Path) -> None:
    paths = [str(pairs_file(tmp_path / name)) for name in ("one.csv", "two.csv")]
    Path(paths[1]).write_text(PAIRS.replace("keys", "pens"))
    assert len(stereometer.run(*paths, model="fake", out=tmp_path / "out", **QUICK)) == 2


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"variant": "loud"}, "There is no variant 'loud'"),
        ({"resamples": 99}, "too few"),
        ({"coverage": 1.5}, "coverage floor"),
        ({"coverage": float("nan")}, "coverage floor"),
        ({"model": "fakee"}, "There is no model"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        stereometer.run("starter", **({"model": "fake"} | settings))


@pytest.mark.parametrize("settings", [{"seed": -1}, {"limit": 0}, {"limit": -3}])
def test_negative_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        stereometer.run("starter", model="fake", **({"resamples": 100} | settings))


def test_custom_needs_a_file_and_data_needs_one_benchmark() -> None:
    with pytest.raises(UsageError, match="`custom` needs a file"):
        stereometer.run("custom", model="fake")
    with pytest.raises(UsageError, match="--data names one file"):
        stereometer.run("starter", "winobias", model="fake", data="x")


def test_a_list_of_benchmarks_is_answered_with_what_was_meant() -> None:
    with pytest.raises(UsageError, match=r"Write run\('starter', 'abc', model="):
        stereometer.run(["starter", "abc"], model="fake")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="No benchmark was named"):
        stereometer.run(model="fake")


def test_a_misspelt_parameter_is_answered_with_what_was_meant() -> None:
    with pytest.raises(UsageError, match=r"no parameter 'measures'.*help\(stereometer.run\)"):
        stereometer.run("starter", model="fake", measures=("set",))  # type: ignore[call-arg]
    with pytest.raises(UsageError, match=r"no parameter 'devise'\. Did you mean device"):
        stereometer.run("starter", model="fake", devise="cpu")  # type: ignore[call-arg]


def test_a_name_of_ones_own_stands_in_results_and_folders(tmp_path: Path) -> None:
    path = str(pairs_file(tmp_path / "pairs.csv"))
    (named,) = stereometer.run(path, model="fake", name="my fake", **QUICK)
    (plain,) = stereometer.run(path, model="fake", **QUICK)
    assert (named.model, plain.model) == ("my fake", "fake")
    assert named.estimates == plain.estimates
    assert [folder for folder in Path("stereometer-runs").iterdir() if "my_fake" in folder.name]


def test_public_names_are_importable_and_sorted() -> None:
    assert all(
        getattr(stereometer, name) is not None
        for name in stereometer.__all__
        if name != "write_report"
    )
    assert list(stereometer.__all__) == sorted(stereometer.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        stereometer.nothing  # noqa: B018


# ------------------------------------------------------------------------------------------ results


@pytest.fixture
def result(tmp_path: Path) -> Result:
    (found,) = stereometer.run(
        str(pairs_file(tmp_path / "pairs.csv")), model="fake", limit=3, **QUICK
    )
    return found


def test_a_result_says_everything_it_depends_on(result: Result) -> None:
    assert (result.benchmark, result.measure, result.variant, result.scoring) == (
        "custom",
        "pair-likelihood@1",
        "sound",
        "computed",
    )
    assert result.settings == {
        "seed": 0,
        "resamples": 100,
        "level": 0.95,
        "coverage": 0.9,
        "delta": 5.0,
        "ties": 0.1,
        "limit": 3,
    }
    assert set(result.versions) == {"stereometer", "numpy", "scipy"}
    assert result.model_card["backend"] == "fake@1"
    assert (result.data["items"], result.data["source"], result.data["as_released"]) == (
        3,
        "pairs.csv",
        False,
    )
    assert any(note.startswith("Limited to 3 items") for note in result.notes)
    assert "A fake model: its numbers mean nothing." in result.notes


def test_a_result_is_json_there_and_back(result: Result) -> None:
    assert Result.from_json(result.as_json()) == result
    assert next(iter(result.as_json())) == "schema"
    to_json(result.as_json())


def test_a_published_value_survives_json() -> None:
    one = Estimate("ss", {}, 50.0, 49.0, 51.0, 1, 1, 0, 50.0, published=Published(51.5, "a paper"))
    from dataclasses import asdict

    assert Estimate.from_json(asdict(one)) == one


def test_an_estimate_is_found_by_name_and_exact_slice(result: Result) -> None:
    assert result.estimate("pair_preference", bias_type="age").slice == {"bias_type": "age"}
    with pytest.raises(UsageError, match="not estimated for bias_type='nothing'"):
        result.estimate("pair_preference", bias_type="nothing")


@pytest.mark.parametrize(
    ("name", "fixed", "meant"),
    [
        ("Pair_Preference", {}, "Did you mean pair_preference"),
        ("pair-preference", {}, "Did you mean pair_preference"),
        ("pair_preference", {"bias_type": "Hieght"}, "Did you mean bias_type='height'"),
    ],
)
def test_a_slip_in_an_estimate_is_answered_with_what_was_meant(
    result: Result, name: str, fixed: dict[str, str], meant: str
) -> None:
    with pytest.raises(UsageError, match=meant):
        result.estimate(name, **fixed)


def test_a_printed_result_is_a_short_table() -> None:
    result, _ = stereometer.run("starter", model="random", **QUICK)
    printed = str(result)
    assert len(printed.splitlines()) <= 16
    assert "starter · random" in printed
    assert "144 / 144" in printed
    assert printed.splitlines()[2].startswith("lms")
    assert "more estimates: result.rows()" in printed
    assert len(repr([result, result])) < 300


def test_a_notebook_shows_a_short_table_without_markup_of_others(result: Result) -> None:
    hostile = replace(result, model="<script>alert(1)</script>")
    shown = hostile._repr_html_()
    assert "<table>" in shown
    assert "<script>" not in shown
    assert len(shown) < 5000


def test_rows_are_flat_records(result: Result) -> None:
    rows = result.rows()
    assert len(rows) == len(result.estimates)
    assert all(not isinstance(value, (dict, list, tuple)) for row in rows for value in row.values())
    assert {row.get("bias_type") for row in rows} == {None, "age", "height"}


def test_published_values_stand_only_beside_the_released_items(result: Result) -> None:
    assert all(one.published is None for one in result.estimates)
