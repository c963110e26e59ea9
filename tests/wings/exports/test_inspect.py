"""Inspect's own library reads our logs, and runs our tasks with its mock model."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from stereometer.core.types import Score, Settings
from stereometer.kinds.cats import metrics
from stereometer.wings.exports.exporter import export_runs as export
from tests.builders.harnesses import run_harness

PROJECT = Path(__file__).parents[3] / "pyproject.toml"

READS = """
import json, sys
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.log import bundle_log_dir
logs = [read_eval_log(info) for info in list_eval_logs(sys.argv[1])]
heads = [read_eval_log(info, header_only=True) for info in list_eval_logs(sys.argv[1])]
bundle_log_dir(sys.argv[1], sys.argv[2])
print(json.dumps([
    {
        "task": log.eval.task,
        "first": next(iter(log.results.scores[0].metrics)),
        "head": head.results.scores[0].metrics["ss"].value if "ss" in
            head.results.scores[0].metrics else None,
        "samples": len(log.samples or []),
    }
    for log, head in zip(logs, heads)
]))
"""

ASKS = """
import json, sys
import tiktoken
class Words:
    def encode(self, text, **options):
        return text.split()
tiktoken.get_encoding = lambda name: Words()  # its file would come from the network
from inspect_ai import eval
from inspect_ai.model import ModelOutput, get_model
name, arguments, answers, limit, logs = json.loads(sys.argv[1])
def outputs():
    while True:
        for answer in answers:
            yield ModelOutput.from_content("mockllm", answer)
model = get_model("mockllm/model", custom_outputs=outputs())
log = eval(name, task_args=arguments, model=model, limit=limit, log_dir=logs, display="none")[0]
assert log.status == "success", log.error
print(json.dumps({
    "metrics": {key: metric.value for key, metric in log.results.scores[0].metrics.items()},
    "scores": [sample.scores["stereometer"].metadata["score"] for sample in log.samples],
    "first": log.samples[0].input,
}))
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The package's entry points, as an installation would write them."""
    points = tomllib.loads(PROJECT.read_text("utf-8"))["project"]["entry-points"]["inspect_ai"]
    info = tmp_path / "installed" / "entry_points-0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: entry_points\nVersion: 0\n")
    lines = "".join(f"{name} = {place}\n" for name, place in points.items())
    (info / "entry_points.txt").write_text(f"[inspect_ai]\n{lines}")
    return info.parent


def asked(installed: Path, folder: Path, name: str, arguments: dict[str, Any], *rest: Any) -> Any:
    given = json.dumps([name, arguments, *rest, str(folder)])
    printed = run_harness("Inspect", "-c", ASKS, given, also=installed)
    return json.loads(printed.splitlines()[-1])


@pytest.mark.long
def test_inspect_reads_lists_and_bundles_our_logs(runs: Path, tmp_path: Path) -> None:
    export("inspect", [runs], tmp_path / "logs", items=True)
    printed = run_harness("Inspect", "-c", READS, tmp_path / "logs", tmp_path / "bundle")
    logs = {log["task"]: log for log in json.loads(printed.splitlines()[-1])}
    cats, pairs = logs["starter-cat-pseudo-likelihood"], logs["starter-pair-likelihood"]
    assert cats["first"] == "icat"
    assert pairs["first"] == "|pair_preference - 50|"
    assert cats["head"] is not None
    assert (cats["samples"], pairs["samples"]) == (480, 400)
    assert (tmp_path / "bundle" / "index.html").exists()


@pytest.mark.long
def test_forced_choice_is_a_task_of_inspect(installed: Path, tmp_path: Path) -> None:
    """Answers that always take the first option are ties, and say so by having no score."""
    how: dict[str, Any] = {"benchmark": "starter"}
    told = asked(installed, tmp_path, "stereometer/forced_choice", how, ["A", "B", "B"], 12)
    scores = [Score.from_json(row) for row in told["scores"]]
    assert len(scores) == 12
    counted = {
        row.name: row for row in metrics.summarize(scores, Settings(ties=1.0)) if not row.slice
    }
    ss = counted["ss"]
    if "ss" in told["metrics"]:
        assert told["metrics"]["ss"] == pytest.approx(ss.value)
        assert told["metrics"]["ss_low"] == pytest.approx(ss.low)
    assert "A" in told["first"]
    first = asked(installed, tmp_path, "stereometer/forced_choice", how, ["A"], 4)
    assert "ss" not in first["metrics"]


@pytest.mark.long
def test_recognition_is_a_task_of_inspect(installed: Path, tmp_path: Path) -> None:
    table = tmp_path / "comments.csv"
    rows = [f"the {number}th mild remark,{'yes' if number % 2 else 'no'}" for number in range(8)]
    table.write_text("text,gold\n" + "\n".join(rows) + "\n")
    how = {
        "benchmark": str(table),
        "column": "comment=text,label=gold",
        "category": "yes",
        "neither": "no",
        "repeats": 1,
        "size": 3,
    }
    told = asked(installed, tmp_path, "stereometer/recognition", how, ["yes"], None)
    assert told["metrics"]
    assert all(len(row["answers"]) == 1 for row in told["scores"])
