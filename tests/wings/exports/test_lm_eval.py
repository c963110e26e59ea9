"""A task folder for lm-evaluation-harness: what is in it, what stays out, and what it counts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core import catalog
from stereometer.core.errors import UsageError
from stereometer.core.runs.stored import run_of
from stereometer.wings.exports.exporter import export_runs as export
from stereometer.wings.exports.lm_eval_task import METRICS, Task
from stereometer.wings.exports.metadata import ranked
from tests.builders.harnesses import run_harness
from tests.conftest import default_model

NAME = "stereometer_starter_cat_sum_likelihood"
SUM = "cat-sum-likelihood"


def rows_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_a_task_has_the_items_within_sentences_as_they_are_asked(
    cats: Path, tmp_path: Path
) -> None:
    files = export("lm-eval", [cats], tmp_path)
    assert sorted(file.name for file in files) == sorted(
        [f"{NAME}.yaml", "README.md", "items.jsonl", "utils.py"]
    )
    rows = rows_of(tmp_path / NAME / "items.jsonl")
    assert len(rows) == 240
    assert {row["task"] for row in rows} == {"intrasentence"}
    items = {item.id: item for item in stereometer.open_benchmark("starter").items("cat")}
    for row in rows:
        assert row["candidates"] == ["stereotype", "anti-stereotype", "unrelated"]
        context = items[row["id"]].texts["context"]
        assert all(choice.startswith(context.split("BLANK")[0]) for choice in row["choices"])
    readme = (tmp_path / NAME / "README.md").read_text("utf-8")
    assert "240 because they are across sentences" in readme
    assert "The first token counts" in readme


def test_runs_on_the_same_items_give_one_task_and_pairs_none(
    runs: Path, pairs: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    export("lm-eval", [runs, pairs], tmp_path / "both")
    assert "of these runs, not on context association tests" in caplog.text
    assert [folder.name for folder in (tmp_path / "both").iterdir()] == [NAME]
    with pytest.raises(UsageError, match="None of these runs is on context association tests"):
        export("lm-eval", [pairs], tmp_path / "pairs")


def test_hidden_texts_never_leave(hidden: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="240 because their texts are not stored"):
        export("lm-eval", [hidden], tmp_path)
    assert not any(tmp_path.iterdir())


def part_of(result: stereometer.Result, name: str, part: str, **slice_: str) -> float:
    away = name == "ss_from_50"
    row = result.estimate("ss" if away else name, **slice_)
    value: float = getattr(ranked(row) if away else row, part)
    return value


def test_only_what_has_a_best_end_may_be_sorted(cats: Path, tmp_path: Path) -> None:
    task, *_ = export("lm-eval", [cats], tmp_path)
    found = re.findall(r"metric: (\w+)_term_macro\n.*\n +higher_is_better: (\w+)", task.read_text())
    wanted = {"ss": "null", "ss_from_50": "false", "lms": "true", "icat": "true"}
    assert dict(found) == wanted


def test_the_task_counts_as_a_run_does(cats: Path, tmp_path: Path) -> None:
    """Within sentences alone, ss, lms and icat with their intervals are those of that slice."""
    export("lm-eval", [cats], tmp_path)
    task = Task(tmp_path / NAME / "items.jsonl")
    values = {score.item: score.values for score in run_of(cats).scores}
    rows = rows_of(task.file)
    results = [[(values[row["id"]][name], False) for name in row["candidates"]] for row in rows]
    told = [task.process_results(*each) for each in zip(rows, results, strict=True)]
    result = stereometer.load(cats)
    for metric, (name, part) in METRICS.items():
        aggregated = task.aggregation(metric)([each[metric] for each in told])
        assert aggregated == pytest.approx(part_of(result, name, part, task="intrasentence")), (
            metric
        )


def test_what_has_no_value_is_not_a_number() -> None:
    task = Task(Path("none"))
    tied = {"stereotype": 0.0, "anti-stereotype": 0.0, "unrelated": 0.0}
    slices = {"task": "intrasentence", "domain": "d", "target": "t"}
    rows = [{"item": str(at), "slices": slices, "values": tied} for at in range(20)]
    assert str(task.aggregation("ss_term_macro")(rows)) == "nan"


@pytest.mark.long
def test_lm_eval_itself_gives_our_numbers(tmp_path: Path) -> None:
    """SmolLM2, six items: every sum within 1e-4, and the same ss, lms and icat. The harness adds up
    in the precision of its softmax, which is float64 here."""
    default_model("smollm2-135m")
    folder = catalog.find("model", "smollm2-135m").folder
    items = stereometer.open_benchmark("starter").items("cat")
    within = [item for item in items if item.slices["task"] == "intrasentence"][:24:4]
    file = catalog.shape("cat").write(tmp_path / "six.json", within)  # type: ignore[attr-defined]
    (ours,) = stereometer.run(
        file, model="smollm2-135m", measure=SUM, out=tmp_path / "run", threads=1
    )
    (yaml, *_) = export("lm-eval", [tmp_path / "run"], tmp_path / "tasks")
    given = f"pretrained={folder},dtype=float32,softmax_dtype=float64"
    how = ("--model", "hf", "--model_args", given, "--device", "cpu", "--batch_size", "6")
    where = ("--include_path", tmp_path / "tasks", "--tasks", yaml.stem)
    out = ("--log_samples", "--output_path", tmp_path / "out")
    run_harness("lm-eval", "-m", "lm_eval", *where, *how, *out)
    samples = rows_of(next((tmp_path / "out").rglob("samples_*.jsonl")))
    ours_by_item = {score.item: score.values for score in run_of(tmp_path / "run").scores}
    assert len(samples) == len(within)
    for sample in samples:
        theirs = [float(total) for total, _ in sample["filtered_resps"]]
        expected = [ours_by_item[sample["doc"]["id"]][name] for name in sample["doc"]["candidates"]]
        assert theirs == pytest.approx(expected, abs=1e-4)
    numbers = json.loads(next((tmp_path / "out").rglob("results_*.json")).read_text("utf-8"))
    for metric, (name, part) in METRICS.items():
        told = numbers["results"][yaml.stem][f"{metric},none"]
        assert told == pytest.approx(part_of(ours, name, part))
    replayed = stereometer.replay(
        next((tmp_path / "out").rglob("samples_*.jsonl")),
        benchmark="custom",
        data=file,
        harness="lm-eval",
        out=tmp_path / "back",
    )[0]
    assert replayed.estimate("ss").value == ours.estimate("ss").value
