"""`eee`: Every Eval Ever (schema 0.3.0), an aggregate file for each run; with items, its samples.

The schema asks of every metric whether lower is better. A value whose ideal lies within its scale
has no such end: its distance from the ideal is written with a direction, and the value itself
beside it with `metric_parameters: {"ideal": 50}`.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID

from stereometer.core import catalog
from stereometer.core.files import replacing, to_json, write_json
from stereometer.core.runs.store import folder_name
from stereometer.core.runs.stored import Run, shown
from stereometer.core.types import Estimate, Result, Score, digest_of_file
from stereometer.wings.exports import metadata

SCHEMA_VERSION = "0.3.0"
UNKNOWN = "unknown"
NO_END = "Neither end is best. Sort by the distance from the ideal, which has an entry of its own."
CAT, UNRELATED = "cat", "unrelated"


def write(runs: Sequence[Run], folder: Path, items: bool = False) -> list[Path]:
    return [path for run in runs for path in _write(run, folder, items)]


def _write(run: Run, folder: Path, items: bool) -> Iterator[Path]:
    place, aggregate = _place(run), _aggregate(run, str(int(time.time())))
    samples = place.with_name(f"{place.stem}_samples.jsonl")
    if items and (rows := list(_samples(run, aggregate))):
        with replacing(folder / samples) as file:
            file.writelines(to_json(row, indent=None) + "\n" for row in rows)
        yield folder / samples
        aggregate["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": str(samples),
            "hash_algorithm": "sha256",
            "checksum": digest_of_file(folder / samples),
            "total_rows": len(rows),
            "additional_details": {"is_correct": IS_CORRECT, "variant": run.result.variant},
        }
    write_json(folder / place, aggregate)
    yield folder / place


def _place(run: Run) -> PurePosixPath:
    """`data/<collection>/<developer>/<model>/<uuid4>.json`."""
    developer, _, model = _model_id(run.result).rpartition("/")
    parts = (run.result.benchmark, developer, model)
    name = UUID(bytes=bytes.fromhex(metadata.identity(run)[:32]), version=4)
    return PurePosixPath("data", *map(folder_name, parts), f"{name}.json")


def _model_id(result: Result) -> str:
    """`developer/model`; a model that names no developer has an unknown one."""
    *developer, model = result.model.rsplit("/", 1)
    return f"{developer[0].strip('/') if developer else UNKNOWN}/{model}"


def _aggregate(run: Run, now: str) -> dict[str, Any]:
    result, card = run.result, run.result.model_card
    made = {"deployment_type": UNKNOWN, "model_availability": UNKNOWN}
    made |= {key: str(card.get(key, "")) for key in ("family", "backend", "digest", "dtype")}
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{result.benchmark}/{_model_id(result)}/{now}",
        "evaluation_timestamp": str(int(metadata.made_at(run).timestamp())),
        "retrieved_timestamp": now,
        "source_metadata": {
            "source_name": f"stereometer {result.measure}",
            "source_type": "evaluation_run",
            "source_organization_name": UNKNOWN,
            "evaluator_relationship": "other",
            "additional_details": {"notes": " ".join(result.notes)},
        },
        "eval_library": {
            "name": "stereometer",
            "version": result.versions.get("stereometer", UNKNOWN),
            "additional_details": metadata.tags(result),
        },
        "model_info": {"name": result.model, "id": _model_id(result), "additional_details": made},
        "evaluation_results": [entry for row in shown(result) for entry in _entries(run, row)],
    }


def _entries(run: Run, row: Estimate) -> Iterator[dict[str, Any]]:
    """What may be sorted; after a distance the value itself."""
    number = metadata.ranked(row)
    if number is None or row.value is None:
        return
    yield _entry(run, row, number, {})
    if number.lower_is_better:
        whole = metadata.Ranked(row.name, row.value, row.low, row.high, False)
        yield _entry(run, row, whole, {"metric_parameters": {"ideal": row.ideal}})


def _entry(
    run: Run, row: Estimate, number: metadata.Ranked, more: Mapping[str, Any]
) -> dict[str, Any]:
    result = run.result
    declared = catalog.shape(result.kind).metric(row.name, row.ideal)
    known = ("title", "digest", "items", "licence", "language", "citation", "as_released")
    about = {key: str(result.data[key]) for key in known if key in result.data}
    config = {
        "evaluation_description": declared.about or declared.label,
        "metric_id": f"stereometer.{result.kind}.{number.name}",
        "metric_name": number.name,
        "lower_is_better": number.lower_is_better,
        "score_type": "continuous",
        **_scale(row, number),
        **more,
        "additional_details": {"direction": NO_END} if more else {},
    }
    return {
        "evaluation_result_id": f"{number.name}{metadata.placed(row)}",
        "evaluation_name": f"{result.benchmark}{metadata.placed(row)}",
        "source_data": {
            "dataset_name": result.benchmark,
            "source_type": "other",
            "additional_details": about,
        },
        "evaluation_timestamp": str(int(metadata.made_at(run).timestamp())),
        "metric_config": config,
        "score_details": _score(result, row, number),
    }


def _scale(row: Estimate, number: metadata.Ranked) -> dict[str, float | str]:
    """From where to where a number can go; percent where the ideal is 50 or 100."""
    percent = row.ideal in (50.0, 100.0)
    if number.name != row.name:
        return {"min_score": 0.0, "max_score": 50.0 if percent else "Infinity"}
    if percent:
        return {"min_score": 0.0, "max_score": 100.0}
    if row.ideal == 1.0:
        return {"min_score": -1.0, "max_score": 1.0}
    return {"min_score": "-Infinity", "max_score": "Infinity"}


def _score(result: Result, row: Estimate, number: metadata.Ranked) -> dict[str, Any]:
    uncertainty: dict[str, Any] = {"num_samples": row.n}
    if number.low is not None and number.high is not None:
        uncertainty["confidence_interval"] = {
            "lower": number.low,
            "upper": number.high,
            "confidence_level": float(result.settings["level"]),
            "method": row.interval or UNKNOWN,
        }
    return {"score": number.value, "details": metadata.details(row), "uncertainty": uncertainty}


# ------------------------------------------------------------------------------------------- items

IS_CORRECT = (
    "Whether both meaningful candidates score above the unrelated one. Nothing is right or wrong "
    "about a preference: read ss from the values in metadata."
)


def _samples(run: Run, aggregate: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """CATs that were scored and have texts: of other kinds `is_correct` could mean nothing."""
    if run.result.kind != CAT or not run.has_scores:
        return
    for score in run.read():
        if score.texts and UNRELATED in score.values:
            yield _sample(score, run.result, aggregate)


def _sample(score: Score, result: Result, aggregate: Mapping[str, Any]) -> dict[str, Any]:
    meaningful = [name for name in score.values if name != UNRELATED]
    beaten = [score.values[name] > score.values[UNRELATED] for name in meaningful]
    first = max(score.values, key=lambda name: score.values[name])
    return {
        "schema_version": f"instance_level_eval_{SCHEMA_VERSION}",
        "evaluation_id": aggregate["evaluation_id"],
        "model_id": _model_id(result),
        "evaluation_name": result.benchmark,
        "evaluation_result_id": "lms",
        "sample_id": score.item,
        "interaction_type": "single_turn",
        "input": {
            "raw": score.texts["context"],
            "reference": [score.texts[name] for name in meaningful],
            "choices": [score.texts[name] for name in score.values],
        },
        "output": {"raw": [to_json(dict(score.values), indent=None)]},
        "answer_attribution": [
            {
                "turn_idx": 0,
                "source": "output.raw",
                "extracted_value": score.texts[first],
                "extraction_method": "highest score",
                "is_terminal": True,
            }
        ],
        "evaluation": {"score": sum(beaten) / len(beaten), "is_correct": all(beaten)},
        "metadata": {
            **score.slices,
            **{f"score.{name}": repr(value) for name, value in score.values.items()},
        },
    }
