"""`lm-eval`: a task of lm-evaluation-harness on the items of a run, for `--include_path`.

The harness knows causal models and sums of log-probabilities of whole texts. That is the reading
`cat-sum-likelihood` within sentences, and the task is named so. Across sentences our reading needs
a next-sentence head, so those items are left out.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
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


@dataclass(frozen=True)
class LmEval:
    name: str = "lm-eval"

    def write(self, runs: Sequence[Run], folder: Path) -> list[Path]:
        """Runs on the same items give one task."""
        cats = [each for each in runs if each.result.kind == KIND]
        by_task = {_task(each.result): each for each in reversed(cats)}
        if not by_task:
            raise UsageError(
                "None of these runs is on context association tests. lm-eval has tasks of its own "
                "for pairs. Name a run on stereoset, starter or CATs of your own."
            )
        if others := len(runs) - len(cats):
            LOG.warning("Left out: %d of these runs, not on context association tests.", others)
        return [file for run in by_task.values() for file in _written(run, folder)]


def _task(result: Result) -> str:
    limit = result.settings.get("limit")
    own = [] if result.data.get("as_released") else [str(result.data["digest"])[:6]]
    parts = ("stereometer", result.benchmark, *own, *([f"limit{limit}"] if limit else []), MEASURE)
    return re.sub(r"\W", "_", "_".join(parts))


def _written(run: Run, folder: Path) -> Iterator[Path]:
    name, left = _task(run.result), Counter[str]()
    rows = list(_rows(run.read(), left))
    if not rows:
        raise UsageError(
            f"No item of {run.folder.name} can be asked this way: {_counts(left)}. Export a "
            "run on items within sentences whose texts are stored."
        )
    if left:
        LOG.warning("%s leaves items out: %s.", name, _counts(left))
    texts = {
        f"{name}.yaml": _yaml(name),
        "utils.py": _utils(),
        "items.jsonl": "".join(f"{to_json(row, indent=None)}\n" for row in rows),
        "README.md": _readme(name, run.result, len(rows), left),
    }
    for file, text in texts.items():
        with replacing(folder / name / file) as written:
            written.write(text)
        yield folder / name / file


def _rows(scores: Iterable[Score], left: Counter[str]) -> Iterator[dict[str, Any]]:
    """Documents of the task; `left` counts what is left out, by reason."""
    for score in scores:
        try:
            yield _row(score)
        except Skip as skip:
            left[skip.reason] += 1


def _row(score: Score) -> dict[str, Any]:
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


def _yaml(name: str) -> str:
    metrics = "".join(
        f"  - metric: {metric}\n    aggregation: !function utils.{metric}\n"
        f"    higher_is_better: {to_json(NAMES[name])}\n"
        for metric, (name, _) in METRICS.items()
    )
    return (
        f"task: {name}\ncustom_dataset: !function utils.dataset\ntest_split: test\n"
        'output_type: multiple_choice\ndoc_to_text: ""\ndoc_to_choice: choices\ndoc_to_target: 0\n'
        'target_delimiter: ""\nnum_fewshot: 0\n'
        f"process_results: !function utils.process_results\nmetric_list:\n{metrics}"
        "metadata:\n  version: 1\n"
    )


def _utils() -> str:
    aggregations = "".join(f'{metric} = TASK.aggregation("{metric}")\n' for metric in METRICS)
    return (
        '"""Items and counting of this task, by stereometer, which must be installed here too."""\n'
        "\nfrom pathlib import Path\n\nfrom stereometer.wings.exports.lm_eval_task import Task\n\n"
        'TASK = Task(Path(__file__).with_name("items.jsonl"))\n'
        f"dataset = TASK.dataset\nprocess_results = TASK.process_results\n{aggregations}"
    )


def _readme(name: str, result: Result, items: int, left: Counter[str]) -> str:
    without = f" Left out: {_counts(left)}." if left else ""
    used = next(map(numbers.used, headlines(result)), "none")
    notes = "\n".join(f"- {plain(note)}" for note in result.notes)
    title, licence = (plain(str(result.data.get(key, ""))) for key in ("title", "licence"))
    return f"""# {name}

{items:,} items of {title} ({licence}).{without}
They are those of a run by {plain(measured(result))}, which used {used}.

{notes}

    lm_eval --include_path THIS_FOLDER --tasks {name} --model hf --model_args pretrained=MODEL

`ss_term_macro`, `lms_term_macro` and `icat_term_macro` are averaged over target terms; `_low` and
`_high` are the ends of their 95 % intervals. The ideal of ss is 50: neither higher nor lower is
better, and `ss_from_50_term_macro` is how far it is from there. They are those
of `stereometer run {result.benchmark} --measure {MEASURE}` in the slice `task = {TASK}`:
the sum of the log-probabilities of the whole filled sentence. Short candidates win more often by a
sum than by a mean.

The first token counts, given the token that the harness puts first: the model's begin-of-text
token, or its end-of-text token where it has no other. `--limit` would drop terms; do not use it.
stereometer must be installed where lm-eval is.
"""


EXPORTER = LmEval()
