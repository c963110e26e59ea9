"""What runs inside lm-evaluation-harness: the items of an exported task, and their counting.

`utils.py` of a task that `export lm-eval` wrote names these, so that ss, lms and icat, their
intervals and the rules for ties and coverage are those of `stereometer run`, not a copy.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stereometer.core.files import read_jsonl
from stereometer.core.types import Estimate, Score, Settings
from stereometer.kinds.cats import metrics
from stereometer.wings.exports.metadata import Ranked, ranked

NAMES = {"ss": None, "ss_from_50": False, "lms": True, "icat": True}
"""What is counted, and whether higher is better; the ideal of ss is neither end of its scale."""
PARTS = {"": "value", "_low": "low", "_high": "high"}
METRICS = {f"{name}_term_macro{end}": (name, part) for name in NAMES for end, part in PARTS.items()}
"""What the harness prints, and which part of what it is."""


class Task:
    """Items of a file that lies beside the task."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._known: tuple[Sequence[Any], Mapping[str, Estimate | Ranked]] = ((), {})

    def dataset(self, **metadata: object) -> dict[str, Any]:
        """For `custom_dataset`; the harness passes the task's metadata."""
        from datasets import Dataset

        return {"test": Dataset.from_list([dict(row) for _, row in read_jsonl(self.file)])}

    def process_results(
        self, doc: Mapping[str, Any], results: Sequence[tuple[float, bool]]
    ) -> dict[str, dict[str, Any]]:
        """The sum of log-probabilities of each candidate, under every metric."""
        sums = [float(total) for total, _ in results]
        score = {
            "item": doc["id"],
            "slices": {name: doc[name] for name in ("task", "domain", "target")},
            "values": dict(zip(doc["candidates"], sums, strict=True)),
        }
        return dict.fromkeys(METRICS, score)

    def aggregation(self, metric: str) -> Callable[[Sequence[Mapping[str, Any]]], float]:
        name, part = METRICS[metric]

        def aggregated(rows: Sequence[Mapping[str, Any]]) -> float:
            value = getattr(self._estimates(rows)[name], part)
            return float("nan") if value is None else float(value)

        return aggregated

    def _estimates(self, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Estimate | Ranked]:
        """Once for all metrics."""
        if self._known[0] != list(rows):
            scores = [Score(row["item"], row["slices"], row["values"]) for row in rows]
            estimates = metrics.summarize(scores, Settings())
            overall = {row.name: row for row in estimates if not row.slice}
            away = ranked(overall["ss"]) or overall["ss"]
            self._known = list(rows), {**overall, "ss_from_50": away}
        return self._known[1]
