"""`hub`: numbers for the page of a model on the Hugging Face Hub.

`.eval_results/NAME.yaml` holds one number per benchmark, which the Hub sorts: only what is best at
the top of its scale goes there. `model-index.yaml` is the block for the head of a README.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stereometer.core.errors import UsageError
from stereometer.core.files import replacing, to_json
from stereometer.core.runs.store import folder_name
from stereometer.core.runs.stored import Run, shown
from stereometer.core.types import Estimate, Result
from stereometer.wings.exports import metadata

LOG = logging.getLogger("stereometer")
DIGITS = 4


def write(runs: Sequence[Run], folder: Path) -> list[Path]:
    models: dict[str, list[Run]] = {}
    for run in _publishable(runs):
        models.setdefault(run.result.model, []).append(run)
    return [
        path
        for model, own in models.items()
        for path in _of_model(model, own, folder / folder_name(model))
    ]


def _publishable(runs: Sequence[Run]) -> list[Run]:
    """On a model's page a number is a measurement of it, whatever stands beside it."""
    kept = [each for each in runs if each.result.data["publishable"]]
    others = [each.result.benchmark for each in runs if not each.result.data["publishable"]]
    named = ", ".join(dict.fromkeys(others))
    if not kept:
        raise UsageError(
            f"Numbers on {named} must not be published as a measurement of a model. The set is for "
            "trying the tool, and the Hub would rank them. Export runs on other sets."
        )
    if others:
        LOG.warning("Left out: %d runs on %s, not to be published.", len(others), named)
    return kept


def _of_model(model: str, own: Sequence[Run], folder: Path) -> Iterator[Path]:
    indexed = [row for run in own if (row := _index_entry(run.result))["metrics"]]
    block = {"model-index": [{"name": model, "results": indexed}]}
    yield _yaml(folder / "model-index.yaml", block)
    entries: dict[str, list[dict[str, Any]]] = {}
    for run in own:
        entries.setdefault(run.result.benchmark, []).extend(_entries(run))
    for benchmark, rows in entries.items():
        if rows:
            yield _yaml(folder / ".eval_results" / f"{folder_name(benchmark)}.yaml", rows)


def _entries(run: Run) -> Iterator[dict[str, Any]]:
    """Nothing where the number that stands for a result has no top."""
    result = run.result
    row = metadata.headline(result)
    number = metadata.ranked(row) if row else None
    if row is None or number is None or number.lower_is_better:
        return
    limit = [f"limit{result.settings['limit']}"] if result.settings["limit"] else []
    task = folder_name(result.measured_by.name, result.variant, row.name, *limit)
    others = (metadata.line(each) for each in metadata.headlines(result) if each != row)
    said = (metadata.line(row), *others, metadata.measured(result))
    yield {
        "dataset": {"id": result.benchmark, "task_id": task},
        "value": round(number.value, DIGITS),
        "date": metadata.made_at(run).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "notes": " ".join((*(f"{each}." for each in said), *result.notes)),
    }


def _index_entry(result: Result) -> dict[str, Any]:
    known = metadata.tags(result)
    names = ("measure", "variant", "limit", "of", "until_decided", "model_digest", "stereometer")
    facts = {name: known[name] for name in names if name in known}
    return {
        "task": {"type": "other", "name": f"stereotypes by {result.measure}"},
        "dataset": {
            "name": str(result.data.get("title", result.benchmark)),
            "type": result.benchmark,
            "args": {"digest": known["data_digest"], **facts, "notes": list(result.notes)},
        },
        "metrics": [metric for row in shown(result) if not row.slice for metric in _metrics(row)],
    }


def _metrics(row: Estimate) -> Iterator[dict[str, Any]]:
    """What may be sorted, with its own interval; beside a distance the value that it is of."""
    number = metadata.ranked(row)
    if number is None or row.value is None:
        return
    away = number.lower_is_better
    kind = f"{row.name}_distance_from_{row.ideal:g}" if away else row.name
    name = f"{number.name}, lower is better" if away else row.name
    ends = {"low": number.low, "high": number.high}
    if away:
        ends |= {row.name: row.value, f"{row.name}_low": row.low, f"{row.name}_high": row.high}
    rounded = {key: None if end is None else round(end, DIGITS) for key, end in ends.items()}
    value, args = round(number.value, DIGITS), rounded | metadata.details(row)
    yield {"type": kind, "value": value, "name": name, "args": args}


def _yaml(path: Path, value: object) -> Path:
    with replacing(path) as file:
        file.writelines(f"{text}\n" for text in _lines(value))
    return path


def _lines(value: object) -> Iterator[str]:
    """Blocks of mappings and lists, whose scalars are JSON, which YAML reads alike."""
    entries: Iterator[tuple[str, object]]
    if isinstance(value, Mapping):
        entries = ((f"{key}:", inner) for key, inner in value.items())
    elif isinstance(value, list):
        entries = (("-", inner) for inner in value)
    for head, inner in entries:
        if isinstance(inner, Mapping | list) and inner:
            first, *rest = _lines(inner)
            yield from [f"- {first}"] if head == "-" else [head, f"  {first}"]
            yield from (f"  {text}" for text in rest)
        else:
            yield f"{head} {to_json(inner, indent=None)}"
