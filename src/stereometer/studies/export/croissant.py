"""Croissant metadata of an export: its files, their digests and the columns of its tables."""

from __future__ import annotations

import csv
import datetime
import hashlib
import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from stereometer.files import write_json
from stereometer.studies.study import Study

CONTEXT = json.loads(
    resources.files("stereometer.studies.export")
    .joinpath("croissant_context.json")
    .read_text("utf-8")
)
"""The names of the format, version 1.0."""
FORMATS = {".csv": "text/csv", ".json": "application/json", ".md": "text/markdown"}
NUMBERS = {"rating", "mean", "low", "high", "raters", "sd", "place"}


def write_croissant(study: Study, files: Sequence[Path], facts: Sequence[str], out: Path) -> Path:
    path = out / "croissant.json"
    write_json(path, document(study, files, facts))
    return path


def document(study: Study, files: Sequence[Path], facts: Sequence[str] = ()) -> dict[str, Any]:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    tables = [path for path in files if path.suffix == ".csv"]
    # What the study's authors have said; nothing is made up.
    said = {"license": study.config.publication.licence, "url": study.config.publication.address}
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": "".join(sign if sign.isalnum() else "-" for sign in study.config.title),
        "description": " ".join([f"{study.kind.does}.", *facts, "See data-statement.md."]),
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **{name: value for name, value in said.items() if value},
        "version": "1.0.0",
        "datePublished": today,
        "citeAs": study.config.title,
        "rai:dataCollection": "A study in the browser; data-statement.md says how.",
        "distribution": [_file(path) for path in files],
        "recordSet": [_records(path) for path in tables],
    }


def _file(path: Path) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path.name,
        "name": path.name,
        "contentUrl": path.name,
        "encodingFormat": FORMATS[path.suffix],
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }


def _records(path: Path) -> dict[str, Any]:
    with path.open(encoding="utf-8", newline="") as file:
        columns = next(csv.reader(file))
    name = path.stem
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "dataType": "sc:Float" if column in NUMBERS else "sc:Text",
                "source": {"fileObject": {"@id": path.name}, "extract": {"column": column}},
            }
            for column in columns
        ],
    }
