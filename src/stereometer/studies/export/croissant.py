"""Croissant metadata of an export: its files, their digests and the columns of its tables."""

from __future__ import annotations

import csv
import datetime
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stereometer.files import write_json
from stereometer.studies.config import Publication
from stereometer.studies.study import Study

CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The names of the format, version 1.0."""
FORMATS = {".csv": "text/csv", ".json": "application/json", ".md": "text/markdown"}
NUMBERS = {"rating", "mean", "low", "high", "raters", "sd"}


def write_croissant(study: Study, files: Sequence[Path], facts: Sequence[str], out: Path) -> Path:
    path = out / "croissant.json"
    write_json(path, document(study, files, facts))
    return path


def document(study: Study, files: Sequence[Path], facts: Sequence[str] = ()) -> dict[str, Any]:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    tables = [path for path in files if path.suffix == ".csv"]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": "".join(sign if sign.isalnum() else "-" for sign in study.config.title),
        "description": " ".join([f"{study.kind.does}.", *facts, "See data-statement.md."]),
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        **_published(study.config.publication),
        "version": "1.0.0",
        "datePublished": today,
        "citeAs": study.config.title,
        "rai:dataCollection": "A study in the browser; data-statement.md says how.",
        "distribution": [_file(path) for path in files],
        "recordSet": [_records(path) for path in tables],
    }


def _published(publication: Publication) -> dict[str, str]:
    """What the study's authors have said; nothing is made up."""
    said = {"license": publication.licence, "url": publication.address}
    return {name: value for name, value in said.items() if value}


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
