"""What the verbs accept and refuse, and what a result holds."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import stereometer
import stereometer.core.types.shown
from stereometer.core.errors import ModelError, UnknownName, UsageError
from stereometer.core.files import to_json
from stereometer.core.types import Estimate, Published, Result
from stereometer.core.types.shown import Shown
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


@pytest.mark.parametrize("names", [("one.csv", "two.csv"), ("one/pairs.csv", "two/pairs.csv")])
@pytest.mark.parametrize("out", [None, "out"])
def test_two_files_of_ones_own_in_one_run_get_a_folder_each(
    tmp_path: Path, names: tuple[str, str], out: str | None
) -> None:
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pairs_file(tmp_path / name, PAIRS.replace("keys", name[:3]))
    paths = [str(tmp_path / name) for name in names]
    results = stereometer.run(*paths, model="fake", out=out and tmp_path / out, **QUICK)
    assert len({result.folder for result in results}) == 2


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"variant": "loud"}, "There is no variant 'loud'"),
        ({"resamples": 99}, "too few"),
        ({"coverage": 1.5}, "coverage floor"),
        ({"coverage": float("nan")}, "coverage floor"),
        ({"model": "fakee"}, "There is no model"),
        ({"seed": -1}, "The seed is -1"),
        ({"resamples": "100"}, "resamples is '100'. It takes a whole number"),
        ({"limit": "5"}, "limit is '5'. It takes a whole number. Write it without quotes"),
        ({"limit": 0}, "The limit is 0. At least one item is needed"),
        ({"budget": "2.50"}, r"whole number of tokens.* write --budget '\$2.50' with --price"),
        ({"budget": "$2.50"}, "needs a price"),
        ({"budget": "2.50", "model": (None, None)}, "whole number of tokens"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        stereometer.run("starter", **({"model": "fake"} | settings))


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
    verbs: tuple[Any, ...] = (stereometer.run, stereometer.ask)
    for verb in verbs:
        with pytest.raises(UsageError, match=r"no parameter 'limt'\. Did you mean limit"):
            verb("starter", model="fake", limt=3)


def test_a_name_of_ones_own_stands_in_results_and_folders(tmp_path: Path) -> None:
    path = str(pairs_file(tmp_path / "pairs.csv"))
    (named,) = stereometer.run(path, model="fake", name="my fake", **QUICK)
    (plain,) = stereometer.run(path, model="fake", **QUICK)
    assert (named.model, plain.model) == ("my fake", "fake")
    assert named.estimates == plain.estimates
    assert [folder for folder in Path("stereometer-runs").iterdir() if "my_fake" in folder.name]


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
    assert result.estimate("preference") == result.estimate("pair_preference")
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


def test_a_result_knows_its_folder_and_keeps_it_out_of_the_document(result: Result) -> None:
    assert result.folder is not None
    assert (result.folder / "result.json").is_file()
    assert stereometer.load(result.folder).folder == result.folder
    assert "folder" not in result.as_json()
    assert Result.from_json({**result.as_json(), "folder": "/"}).folder is None


def every_value(folder: Path) -> list[Any]:
    """What the verbs return, of runs that take no model."""
    how: dict[str, Any] = {"measure": "cat-pseudo-likelihood", "limit": 9, "out": folder, **QUICK}
    runs = [stereometer.run("starter", model=model, **how) for model in ("random", "ideal", "fake")]
    bars = folder / "bars.toml"
    bars.write_text("[[bars]]\nrequire = 'ss<=90'\n")
    several = [run[0] for run in runs]
    return [
        several[0],
        runs[0],
        stereometer.compare(*runs[:2], **QUICK),
        stereometer.gate(*several, bars=bars),
        stereometer.relate(*several, **QUICK),
        stereometer.sweep("starter", model="fake", limit=9, out=folder, **QUICK),
        stereometer.audit("starter"),
        stereometer.published(),
    ]


@pytest.mark.long
def test_whatever_a_verb_returns_is_shown_short_and_with_markup_escaped(tmp_path: Path) -> None:
    for value in every_value(tmp_path):
        name, text, html = type(value).__name__, str(value), value._repr_html_()
        assert len(text) <= 2_000, name
        assert max(map(len, text.splitlines())) < 400, name
        assert len(repr(value)) < 200, name
        assert "<table>" in html, name
        assert "--" not in text, name  # options are the terminal's
        if name == "Comparison":
            assert "48 of them in slices; 2 beyond noise (42 more rows: rows())" in text
            assert ("intrasentence" in text, "gender" in text) == (True, False)
        if isinstance(value, stereometer.core.types.shown.Tabular):
            assert len(value.to_frame()) == len(value.rows()) > 0
        if isinstance(value, stereometer.core.types.shown.WithFigures) and name != "Sweep":
            assert value.plot().save(tmp_path / "figure.html").stat().st_size > 100_000


def test_a_notebook_shows_a_table_without_markup_of_others(result: Result) -> None:
    shown = replace(result, model="<script>alert(1)</script>")._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert "50.0 [" in shown  # as in the terminal, not 50 [


def test_a_figure_is_found_by_its_title_and_saved(result: Result, tmp_path: Path) -> None:
    saved = result.plot("Confidence").save(tmp_path / "figure.svg")
    assert saved.read_text().startswith("<svg")
    with pytest.raises(
        UnknownName, match=r"no figure called 'confidnce'\. Did you mean Confidence"
    ):
        result.plot("confidnce")
    with pytest.raises(UsageError, match=r"is kept as \.html, or as \.svg"):
        result.plot().save(tmp_path / "figure.gif")


def test_without_pandas_a_frame_says_what_to_do(
    result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match=r"needs pandas\. .*pip install pandas.*rows\(\)"):
        result.to_frame()


def test_an_error_is_one_line_in_a_notebook() -> None:
    with pytest.raises(UnknownName) as raised:
        stereometer.run("startr", model="fake")
    (line,) = raised.value._render_traceback_()
    assert line.startswith("UnknownName: There is no benchmark called 'startr'. Did you mean start")


def test_whatever_is_printed_has_a_view_of_its_own(result: Result) -> None:
    kinds = [Shown]
    for kind in kinds:
        kinds += kind.__subclasses__()
    bare = {"Shown", "Tabular"}
    assert [kind for kind in kinds if kind.view is Shown.view and kind.__name__ not in bare] == []
    assert result.view().tables == () != result.view().parts[0].tables


def test_rows_are_flat_records(result: Result) -> None:
    rows = result.rows()
    assert len(rows) == len(result.estimates)
    assert all(not isinstance(value, (dict, list, tuple)) for row in rows for value in row.values())
    assert {row.get("bias_type") for row in rows} == {None, "age", "height"}


def test_published_values_stand_only_beside_the_released_items(result: Result) -> None:
    assert all(one.published is None for one in result.estimates)
