"""`lm-eval`: a task of lm-evaluation-harness on the items of a run, for `--include_path`.

The harness knows causal models and sums of log-probabilities of whole texts. That is the reading
`cat-sum-likelihood` within sentences, and the task is named so. Across sentences our reading needs
a next-sentence head, so those items are left out.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from stereometer.core.errors import UsageError
from stereometer.core.files import replacing, to_json
from stereometer.core.runs.stored import Run
from stereometer.core.show import numbers
from stereometer.core.types import Result, Score, Skip
from stereometer.kinds.cats.items import LABELS, Candidate, Cat
from stereometer.kinds.cats.rules import filled
from stereometer.wings.exports.lm_eval_task import METRICS, NAMES
from stereometer.wings.exports.markdown import plain
from stereometer.wings.exports.metadata import headlines, measured

LOG = logging.getLogger("stereometer")
MEASURE = "cat-sum-likelihood"
KIND, TASK = "cat", "intrasentence"
HIDDEN, ACROSS = "their texts are not stored", "they are across sentences"


def write(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Runs on the same items give one task."""
    cats = [each for each in runs if each.result.kind == KIND]
    by_task = {_task(each.result): each for each in reversed(cats)}
    if not by_task:
        raise UsageError(
            "None of these runs is on context association tests. lm-eval has tasks of its own for "
            "pairs. Name a run on stereoset, starter or CATs of your own."
        )
    if others := len(runs) - len(cats):
        LOG.warning("Left out: %d of these runs, not on context association tests.", others)
    return [file for run in by_task.values() for file in _write(run, folder)]


def _task(result: Result) -> str:
    limit = result.settings.get("limit")
    own = [] if result.data.get("as_released") else [str(result.data["digest"])[:6]]
    parts = ("stereometer", result.benchmark, *own, *([f"limit{limit}"] if limit else []), MEASURE)
    return re.sub(r"\W", "_", "_".join(parts))


def _write(run: Run, folder: Path) -> Iterator[Path]:
    name, left = _task(run.result), Counter[str]()
    rows = []
    for score in run.read():
        try:
            rows.append(_row(score))
        except Skip as skip:
            left[skip.reason] += 1
    if not rows:
        raise UsageError(
            f"No item of {run.folder.name} can be asked this way: {_counts(left)}. Export a "
            "run on items within sentences whose texts are stored."
        )
    if left:
        LOG.warning("%s leaves items out: %s.", name, _counts(left))
    metrics = (
        f"  - metric: {metric}\n    aggregation: !function utils.{metric}\n"
        f"    higher_is_better: {to_json(NAMES[of])}\n"
        for metric, (of, _) in METRICS.items()
    )
    counted = (f'{metric} = TASK.aggregation("{metric}")\n' for metric in METRICS)
    texts = {
        f"{name}.yaml": _fill("task.yaml", name=name, metrics="".join(metrics)),
        "utils.py": _fill("utils.txt", aggregations="".join(counted)),
        "items.jsonl": "".join(f"{to_json(row, indent=None)}\n" for row in rows),
        "README.md": _readme(name, run.result, len(rows), left),
    }
    for file, text in texts.items():
        with replacing(folder / name / file) as written:
            written.write(text)
        yield folder / name / file


def _row(score: Score) -> dict[str, Any]:
    """A document of the task; raises Skip for an item that it leaves out."""
    if score.slices["task"] != TASK:
        raise Skip(ACROSS)
    if any(not score.texts.get(name) for name in ("context", *LABELS)):
        raise Skip(HIDDEN)
    sentences = {label: Candidate(label, score.texts[label]) for label in LABELS}
    task, target, domain = (score.slices[name] for name in ("task", "target", "domain"))
    item = Cat(score.item, task, target, domain, score.texts["context"], sentences)
    choices = [filled(item, label, "sound")[0] for label in LABELS]
    return {"id": score.item, **score.slices, "candidates": list(LABELS), "choices": choices}


def _counts(left: Counter[str]) -> str:
    return ", ".join(f"{count:,} because {why}" for why, count in sorted(left.items()))


def _fill(template: str, **values: object) -> str:
    file = resources.files("stereometer.wings.exports").joinpath("templates", "lm_eval", template)
    return Template(file.read_text("utf-8")).substitute(values)


def _readme(name: str, result: Result, items: int, left: Counter[str]) -> str:
    title, licence = (plain(str(result.data.get(key, ""))) for key in ("title", "licence"))
    return _fill(
        "README.md",
        name=name,
        items=f"{items:,} items of {title} ({licence}).",
        without=f" Left out: {_counts(left)}." if left else "",
        measured=plain(measured(result)),
        used=next(map(numbers.used, headlines(result)), "none"),
        notes="\n".join(f"- {plain(note)}" for note in result.notes),
        benchmark=result.benchmark,
    )
