"""Bundles as a skilled forger would write them: changed, with all digests made to fit again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from stereometer.core import catalog
from stereometer.core.runs.stored import settings_of
from stereometer.core.types import Result, Score
from stereometer.wings.board.bundle import manifest_of

Change = Callable[[dict[str, Any], list[dict[str, Any]]], None]
"""Given the result and the scores, to be changed in place."""


def forged(bundle: Path, place: Path, change: Change, recount: bool = False) -> Path:
    """A copy with changes; `recount` also makes the result follow from the changed scores."""
    result = json.loads((bundle / "result.json").read_text("utf-8"))
    scores = [
        json.loads(line) for line in (bundle / "scores.jsonl").read_text("utf-8").splitlines()
    ]
    change(result, scores)
    lines = "".join(json.dumps(score, ensure_ascii=False) + "\n" for score in scores).encode()
    result["scores_digest"] = sha256(lines).hexdigest()
    if recount:
        result["estimates"] = _counted(Result.from_json(result), scores)
    whole = json.dumps(result, ensure_ascii=False, indent=1).encode()
    digests = {"result.json": sha256(whole).hexdigest(), "scores.jsonl": sha256(lines).hexdigest()}
    manifest = manifest_of(Result.from_json(result), digests, "0.1.0")
    place.mkdir()
    (place / "manifest.json").write_bytes(json.dumps(manifest.as_json()).encode())
    (place / "result.json").write_bytes(whole)
    (place / "scores.jsonl").write_bytes(lines)
    return place


def _counted(result: Result, scores: list[dict[str, Any]]) -> list[dict[str, Any]]:
    shape = catalog.shape(result.kind)
    counted = shape.summarize([Score.from_json(score) for score in scores], settings_of(result))
    return [asdict(estimate) for estimate in counted]


def swap(values: dict[str, float]) -> dict[str, float]:
    """Stereotype and anti-stereotype exchanged."""
    turned = {"stereotype": "anti-stereotype", "anti-stereotype": "stereotype"}
    return {turned.get(name, name): value for name, value in values.items()}
