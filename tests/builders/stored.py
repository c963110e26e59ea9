"""Stored runs that a test changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any


def sealed(folder: Path, change: Callable[[dict[str, Any]], object] = lambda value: None) -> Path:
    """The run after its result and perhaps its scores were changed, all digests made to fit."""
    folder = only(folder)
    file, scores, record = (
        folder / f"{name}" for name in ("result.json", "scores.jsonl", "run.json")
    )
    value = json.loads(file.read_text("utf-8"))
    change(value)
    if scores.exists() and "scores_digest" in value:
        value["scores_digest"] = sha256(scores.read_bytes()).hexdigest()
    file.write_text(json.dumps(value), "utf-8")
    known = json.loads(record.read_text("utf-8")) if record.exists() else {"plan": {}}
    digest = sha256(file.read_bytes()).hexdigest()
    record.write_text(json.dumps(known | {"result_digest": digest}), "utf-8")
    return folder


def only(folder: Path) -> Path:
    """The only run in a folder, finished or not; a run's own folder is meant itself."""
    if (folder / "run.json").exists() or (folder / "result.json").exists():
        return folder
    (run,) = {file.parent for file in folder.glob("*/run.json")}
    return run
