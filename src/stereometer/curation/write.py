"""Items back into files that `stereometer run FILE` reads: CATs in StereoSet's layout, pairs as a table."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stereometer.benchmarks.stereoset import TASKS, Cat
from stereometer.files import replacing, to_json
from stereometer.shapes.pair.items import Pair

SUFFIX = {"cat": ".json", "pair": ".csv"}
COLUMNS = (
    "id",
    "sent_more",
    "sent_less",
    "stereo_antistereo",
    "bias_type",
    "annotations",
    "note",
    "hidden",
)


def write_items(path: Path, items: Sequence[Any], hidden: bool = False) -> Path:
    """Writes CATs or pairs; `hidden` marks all of them so that runs on the file keep no texts."""
    with replacing(path) as file:
        if isinstance(items[0], Cat):
            file.write(
                to_json(
                    {"version": "1.0", "data": {task: _cats(items, task, hidden) for task in TASKS}}
                )
                + "\n"
            )
        else:
            table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            table.writeheader()
            table.writerows(_pair(item, hidden) for item in items)
    return path


def _cats(items: Sequence[Cat], task: str, hidden: bool) -> list[dict[str, Any]]:
    return [_cat(item, hidden) for item in items if item.task == task]


def _cat(item: Cat, hidden: bool) -> dict[str, Any]:
    sentences = [
        {
            "id": one.id,
            "sentence": one.text,
            "gold_label": label,
            "labels": [{"label": vote} for vote in one.votes],
        }
        for label, one in item.candidates.items()
    ]
    found: dict[str, Any] = {
        "id": item.id,
        "target": item.target,
        "bias_type": item.domain,
        "context": item.context,
    }
    found["sentences"] = sentences
    return (
        found
        | ({"note": item.note} if item.note else {})
        | ({"hidden": True} if hidden or item.hidden else {})
    )


def _pair(item: Pair, hidden: bool) -> dict[str, str]:
    return {
        "id": item.id,
        "sent_more": item.sent_more,
        "sent_less": item.sent_less,
        "stereo_antistereo": item.direction or "",
        "bias_type": item.bias_type,
        "annotations": repr([list(vote) for vote in item.votes]) if item.votes else "",
        "note": item.note,
        "hidden": "yes" if hidden or item.hidden else "",
    }
