"""Files of other programs' formats, as those programs ask for them."""

from __future__ import annotations

import json
import re
import shutil
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from huggingface_hub.repocard_data import model_index_to_eval_results

import stereometer
from stereometer.core import catalog
from stereometer.core.errors import UsageError
from stereometer.wings.exports.exporter import export_runs as export
from tests.builders.commands import assert_refused, call
from tests.builders.stored import sealed

NAMES = [name for name in catalog.names("exporter") if name != "figures"]


def document(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"), parse_constant=pytest.fail)


@pytest.mark.parametrize("name", NAMES)
def test_every_kind_of_result_can_be_exported(name: str, every: Path, tmp_path: Path) -> None:
    files = export(name, [every], tmp_path)
    assert files
    assert all(file.stat().st_size for file in files)


def test_nothing_can_be_asked_of_hidden_texts(hidden: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="texts are not stored"):
        export("lm-eval", [hidden], tmp_path)


def test_many_files_are_counted_and_few_are_named(cats: Path, every: Path, tmp_path: Path) -> None:
    few = call("export", "csv", str(cats), "-o", str(tmp_path))
    assert f"Written to {tmp_path / 'estimates.csv'}." in few.err.replace("\n", "")
    many = call("export", "eee", str(every), "-o", str(tmp_path))
    assert f" files in {tmp_path}." in many.err.replace("\n", "")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "lm-eval"])
def test_hidden_texts_never_leave(name: str, hidden: Path, tmp_path: Path) -> None:
    has_items = "items" in signature(catalog.find("exporter", name)).parameters
    files = export(name, [hidden], tmp_path, items=has_items)
    written = "".join(file.read_text("utf-8") for file in files)
    items = stereometer.open_benchmark("starter").items("cat")
    texts = [text for item in items for text in item.texts.values() if " " in text]
    assert texts
    assert not [text for text in texts if text in written or json.dumps(text)[1:-1] in written]


@pytest.mark.parametrize("name", ["eee", "inspect"])
def test_items_are_written_only_when_asked_for(name: str, cats: Path, tmp_path: Path) -> None:
    item = stereometer.open_benchmark("starter").items("cat")[0]
    sentence = item.texts["stereotype"]
    plain = export(name, [cats], tmp_path / "plain")
    asked = export(name, [cats], tmp_path / "items", items=True)
    assert not any(sentence in file.read_text("utf-8") for file in plain)
    assert any(sentence in file.read_text("utf-8") for file in asked)


def test_a_format_without_items_says_so(runs: Path, tmp_path: Path) -> None:
    assert_refused(call("export", "csv", runs, "-o", tmp_path, "--items"), 2, "no items")


# ------------------------------------------------------------------------------- Every Eval Ever


def is_text(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(inner, str) for inner in value.values())


def assert_aggregate(value: dict[str, Any]) -> None:
    """What eval.schema.json (0.3.0) requires; the validator itself needs other versions of what we
    install, and was tried by hand."""
    for key in ("schema_version", "evaluation_id", "retrieved_timestamp"):
        assert isinstance(value[key], str)
    source, library, model = value["source_metadata"], value["eval_library"], value["model_info"]
    assert source["source_type"] in ("documentation", "evaluation_run")
    assert source["evaluator_relationship"] in ("first_party", "third_party", "other")
    assert isinstance(source["source_organization_name"], str)
    assert isinstance(library["name"] + library["version"] + model["name"] + model["id"], str)
    assert {"deployment_type", "model_availability"} < set(model["additional_details"])
    assert all(is_text(part["additional_details"]) for part in (source, library, model))
    for result in value["evaluation_results"]:
        assert_entry(result)


def assert_entry(result: dict[str, Any]) -> None:
    config, score = result["metric_config"], result["score_details"]
    assert isinstance(result["evaluation_name"], str)
    assert {"dataset_name", "source_type"} < set(result["source_data"])
    assert isinstance(config["lower_is_better"], bool)
    assert {"min_score", "max_score"} < set(config)
    assert isinstance(score["score"], float)
    assert is_text(score["details"])
    assert isinstance(score["uncertainty"]["num_samples"], int)
    interval = score["uncertainty"].get("confidence_interval")
    if interval:
        assert interval["lower"] <= interval["upper"]
        assert interval["confidence_level"] == 0.95


def test_eee_has_what_the_schema_requires(every: Path, tmp_path: Path) -> None:
    for file in export("eee", [every], tmp_path):
        assert_aggregate(document(file))


def test_eee_never_sorts_a_preference(runs: Path, tmp_path: Path) -> None:
    for file in export("eee", [runs], tmp_path):
        results = document(file)["evaluation_results"]
        for entry in results:
            config = entry["metric_config"]
            ideal = float(entry["score_details"]["details"]["ideal"])
            if ideal in (100.0, 1.0):
                assert not config["lower_is_better"]
            elif config["lower_is_better"]:
                assert config["metric_name"].startswith("|")
            else:
                assert config["metric_parameters"] == {"ideal": ideal}
                assert "direction" in config["additional_details"]


def test_eee_samples_lie_where_the_aggregate_says(cats: Path, tmp_path: Path) -> None:
    samples, aggregate = export("eee", [cats], tmp_path, items=True)
    named = document(aggregate)["detailed_evaluation_results"]
    lines = [json.loads(line) for line in samples.read_text("utf-8").splitlines()]
    assert tmp_path / named["file_path"] == samples
    assert named["total_rows"] == len(lines) == stereometer.load(cats).estimate("lms").n
    assert re.search(r"-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}_samples", named["file_path"])
    for line in lines:
        assert isinstance(line["evaluation"]["is_correct"], bool)
        assert line["output"]["raw"]
        assert line["evaluation_id"] == document(aggregate)["evaluation_id"]


def test_eee_writes_no_samples_of_pairs(pairs: Path, tmp_path: Path) -> None:
    (file,) = export("eee", [pairs], tmp_path, items=True)
    assert "detailed_evaluation_results" not in document(file)


# -------------------------------------------------------------------------------------- Inspect


def test_inspect_has_what_reading_a_header_asks_for(every: Path, tmp_path: Path) -> None:
    for file in export("inspect", [every], tmp_path):
        log = document(file)
        assert (log["version"], log["status"]) == (2, "success")
        assert {"created", "task", "dataset", "model", "config"} < set(log["eval"])
        assert log["plan"] == {}
        assert "stats" in log
        assert re.fullmatch(r"[\dT+-]+_[\w.-]+_\w+\.json", file.name)


def test_the_headline_of_a_log_may_be_sorted(cats: Path, pairs: Path, tmp_path: Path) -> None:
    first = [
        next(iter(document(file)["results"]["scores"][0]["metrics"]))
        for file in export("inspect", [cats, pairs], tmp_path)
    ]
    assert first == ["icat", "|pair_preference - 50|"]


def test_a_metric_of_a_log_carries_what_is_read_beside_it(cats: Path, tmp_path: Path) -> None:
    (file,) = export("inspect", [cats], tmp_path)
    metric = document(file)["results"]["scores"][0]["metrics"]["ss"]
    ss = stereometer.load(cats).estimate("ss")
    assert (metric["value"], metric["metadata"]["low"]) == (ss.value, ss.low)
    assert metric["metadata"]["verdict"] == ss.verdict
    assert metric["metadata"]["asked"] == str(ss.asked)


def test_exporting_a_log_twice_writes_one_file(cats: Path, tmp_path: Path) -> None:
    assert export("inspect", [cats], tmp_path) == export("inspect", [cats], tmp_path)


# ------------------------------------------------------------------------------------------ Hub


@pytest.fixture
def released(runs: Path, tmp_path: Path) -> Path:
    """The runs as if on a set whose numbers may be published."""
    folder = Path(shutil.copytree(runs, tmp_path / "released"))
    for run in folder.iterdir():
        sealed(run, lambda value: value["data"].update(publishable=True))
    return folder


def test_the_hub_gets_no_number_on_a_set_for_trying_the_tool(
    runs: Path, released: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert_refused(call("export", "hub", runs, "-o", tmp_path / "hub"), 2, "Numbers on starter")
    assert not (tmp_path / "hub").exists()
    export("hub", [runs, released], tmp_path / "hub")
    assert "Left out: 2 runs on starter, not to be published." in caplog.text


def test_the_hub_reads_the_entry_and_gets_icat_alone(
    runs: Path, released: Path, tmp_path: Path
) -> None:
    _, file = export("hub", [released], tmp_path)
    assert file.parent.name == ".eval_results"
    (entry,) = parse_eval_result_entries(yaml.safe_load(file.read_text("utf-8")))
    icat = stereometer.load(runs / "starter-fake-cat-pseudo-likelihood").estimate("icat")
    assert entry.value == pytest.approx(icat.value, abs=1e-4)
    assert entry.task_id.endswith("icat")
    assert f"{icat.n} of {icat.asked} items" in (entry.notes or "")


def test_a_preference_alone_gives_the_hub_no_number_to_sort(
    released: Path, pairs: Path, tmp_path: Path
) -> None:
    (file,) = export("hub", [released / pairs.name], tmp_path)
    assert file.name == "model-index.yaml"


def test_the_model_index_sorts_distances(runs: Path, released: Path, tmp_path: Path) -> None:
    file, _ = export("hub", [released], tmp_path)
    model, entries = model_index_to_eval_results(yaml.safe_load(file.read_text())["model-index"])
    assert model == "fake"
    types = [entry.metric_type for entry in entries]
    assert "icat" in types
    assert "ss_distance_from_50" in types
    assert not {"ss", "pair_preference", "ss_micro"} & set(types)
    ss = next(entry for entry in entries if entry.metric_type == "ss_distance_from_50")
    stored = stereometer.load(runs / "starter-fake-cat-pseudo-likelihood").estimate("ss")
    args = ss.metric_args or {}
    assert [args[key] for key in ("ss", "ss_low", "ss_high")] == pytest.approx(
        [stored.value, stored.low, stored.high], abs=1e-4
    )
    assert args["low"] <= ss.metric_value <= args["high"]
    assert (ss.metric_args or {})["verdict"] == stored.verdict


# ----------------------------------------------------------------------------------- model card


def test_a_card_has_one_table_one_picture_limits_and_commands(runs: Path, tmp_path: Path) -> None:
    drawn, card = export("model-card", [runs], tmp_path)
    text = card.read_text("utf-8")
    assert text.count("\n|---|") == 1
    assert re.findall(r"!\[.+\]\((.+)\)", text) == [drawn.name]
    assert "What this does not mean" in text
    ss = stereometer.load(runs / "starter-fake-cat-pseudo-likelihood").estimate("ss")
    assert ss.verdict is not None
    assert ss.verdict in text
    (command,) = re.findall(r"^stereometer (run .*cat-pseudo.*)$", text, re.MULTILINE)
    assert "cat-pseudo-likelihood" in call(*command.split(), "--dry-run").out


def test_the_picture_of_a_card_is_drawn_without_a_script(cats: Path, tmp_path: Path) -> None:
    from xml.etree import ElementTree

    drawn, _ = export("model-card", [cats], tmp_path)
    root = ElementTree.fromstring(drawn.read_text("utf-8"))
    marks = root.findall("{http://www.w3.org/2000/svg}circle[@r='4.5']")
    slices = [row for row in stereometer.load(cats).estimates if row.name == "ss"]
    shown = [row for row in slices if len(row.slice) < 2 and "target" not in row.slice]
    assert len(marks) == sum(row.value is not None for row in shown) > 1
    assert f"overall: {shown[0].value:.1f}" in root.attrib["aria-label"]


def test_the_command_of_a_card_has_the_options_of_the_run(tmp_path: Path) -> None:
    stereometer.run(
        "starter",
        model="fake",
        measure="pair-likelihood",
        within_word=True,
        resamples=100,
        cache=False,
        out=tmp_path / "runs",
    )
    _, card = export("model-card", [tmp_path / "runs"], tmp_path)
    text = card.read_text("utf-8")
    assert "other runs" not in text
    assert "--measure pair-likelihood --within-word --variant sound --seed 0" in text
    (command,) = re.findall(r"^stereometer (run .*)$", text, re.MULTILINE)
    assert "pair-likelihood@1+within-word" in call(*command.split(), "--dry-run").out


def test_the_caption_of_a_card_names_what_is_drawn(every: Path, tmp_path: Path) -> None:
    drawn, card = export("model-card", [every / "aligned"], tmp_path)
    assert f"![tau, overall and by slice, with intervals]({drawn.name})" in card.read_text("utf-8")


COMMANDS = {
    "aligned": "# abc, set@1+alignment: from computed scores of other runs",
    "asked": "stereometer ask comments --model fake --data comments.csv --setting zero-shot "
    "--repeats 2 --no-chat --size 3",
    "choice": "stereometer ask starter --model fake --no-chat --variant",
    "crossed": "# abc, set@1+intersection@1: from computed scores of other runs",
    "ensemble": "# starter, cat-likelihood@1: from combined scores of other runs",
    "fake-pairs": "stereometer run starter --model fake --measure pair-likelihood --variant",
}


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_card_says_how_each_kind_of_result_came_about(
    kind: str, every: Path, tmp_path: Path
) -> None:
    _, card = export("model-card", [every / kind], tmp_path)
    assert f"\n{COMMANDS[kind]}" in card.read_text("utf-8")


def test_a_baseline_is_run_again(tmp_path: Path) -> None:
    stereometer.run("starter", model="ideal", resamples=100, cache=False, out=tmp_path / "runs")
    _, card = export("model-card", [tmp_path / "runs"], tmp_path)
    assert "\nstereometer run starter --model ideal --measure" in card.read_text("utf-8")
