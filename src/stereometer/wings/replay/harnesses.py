"""Scores of single items in files of other harnesses: lm-eval, Inspect, Every Eval Ever.

What each file says of an item differs, but all need the id of the item and a number for each of its
candidates. The result is named after the harness: these are its numbers, not those of our methods.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from stereometer.core.errors import DataError, UnknownName
from stereometer.core.files import finite, read_json, read_jsonl
from stereometer.wings.replay.replay import SCORED, Replayed, add, read_pair_rows, system_name

Values = tuple[str, Mapping[str, Any], str]
"""Of one item: its id, numbers by candidate, and where they stand."""
LmEvalRow = tuple[int, Mapping[str, Any], list[float]]
"""A line's number, its document and its sums."""


def read_harness(path: Path, harness: str, name: str | None = None) -> Replayed:
    """A file of per-item results in the format of this name."""
    if harness not in READERS:
        raise UnknownName("format", harness, READERS)
    return READERS[harness](path, name)


def _lm_eval(path: Path, name: str | None) -> Replayed:
    """`samples_TASK_TIME.jsonl`: sums of log-probabilities, in the order of the document's
    `candidates`, or of sent_more and sent_less."""
    rows = [(line, *_doc(row, f"{path}, line {line}")) for line, row in read_jsonl(path)]
    if rows and "sent_more" in rows[0][1]:
        return read_pair_rows(path, map(_pair_row, rows), name, "lm-eval-sum@1")
    return _join(path, name, _lm_eval_items(path, rows), "lm-eval-sum@1")


def _doc(row: Mapping[str, Any], where: str) -> tuple[Mapping[str, Any], list[float]]:
    """The document and its sums; lm-eval writes number and greediness as text."""
    doc, pairs = row.get("doc"), row.get("filtered_resps")
    if not isinstance(doc, dict) or not isinstance(pairs, list):
        raise DataError(
            f"{where} has no doc and filtered_resps. It is not a line of lm-eval's samples. Name "
            "the samples_*.jsonl file that --log_samples writes."
        )
    return doc, [finite(pair[0] if isinstance(pair, list) else pair, where) for pair in pairs]


def _lm_eval_items(path: Path, rows: list[LmEvalRow]) -> Iterator[Values]:
    for line, doc, sums in rows:
        where, names = f"{path}, line {line}", doc.get("candidates")
        if not isinstance(names, list) or len(names) != len(sums):
            raise DataError(
                f"{where}: the doc does not name the candidates of its {len(sums)} numbers. They "
                "cannot be told apart. Use a task whose documents have `id` and `candidates`."
            )
        yield str(doc.get("id", "")), dict(zip(map(str, names), sums, strict=True)), where


def _pair_row(row: LmEvalRow) -> tuple[int, dict[str, str]]:
    line, doc, sums = row
    scores = dict(zip(("sent_more_score", "sent_less_score"), map(repr, sums), strict=False))
    return line, {key: str(value) for key, value in doc.items()} | scores


def _inspect(path: Path, name: str | None) -> Replayed:
    """A JSON log whose samples hold `values` by candidate; of our own tasks the scores do."""
    log = read_json(path)
    samples = log.get("samples") if isinstance(log, dict) else None
    if not isinstance(samples, list) or not samples:
        raise DataError(
            f"{path} has no samples. Scores are read from them. Write the log with items, or turn "
            "an .eval file into JSON with `inspect log convert --to json`."
        )
    model = _within(log, "eval").get("model")

    def items() -> Iterator[Values]:
        for number, sample in enumerate(samples, 1):
            if isinstance(sample, dict):
                values = _within(sample, "metadata", "values") or _within(sample, *OURS)
                yield str(sample.get("id", "")), values, f"{path}, sample {number}"

    return _join(path, name or (str(model) if model else None), items(), "inspect@1")


OURS = ("scores", "stereometer", "metadata", "score", "values")


def _within(value: Any, *keys: str) -> Mapping[str, Any]:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _eee(path: Path, name: str | None) -> Replayed:
    """`UUID_samples.jsonl` whose metadata holds `score.CANDIDATE`."""

    def items() -> Iterator[Values]:
        for line, row in read_jsonl(path):
            known = _within(row, "metadata")
            values = {key: known[f"score.{key}"] for key in SCORED if f"score.{key}" in known}
            yield str(row.get("sample_id", "")), values, f"{path}, line {line}"

    model = next(read_jsonl(path), (0, {}))[1].get("model_id")
    if isinstance(model, str) and model:
        # The file itself is named by a number; `unknown` is a developer that no run knows.
        name = name or model.removeprefix("unknown/")
    return _join(path, name, items(), "eee@1")


def _join(path: Path, name: str | None, items: Iterator[Values], method: str) -> Replayed:
    by_id: dict[str, float] = {}
    skipped = 0
    for id_, values, where in items:
        skipped += not values
        for candidate, value in values.items():
            add(by_id, f"{id_}:{candidate}", finite(value, where), where)
    if not by_id:
        raise DataError(
            f"{path} holds no score of a candidate. Only files with one number for each candidate "
            "can be replayed. `export --items` writes such files."
        )
    notes = (f"{skipped} items of the file hold no scores.",) if skipped else ()
    system = name or system_name(path)
    return Replayed(path, system, by_id, {"all": "log"}, notes=notes, method=method)


READERS: Mapping[str, Callable[[Path, str | None], Replayed]] = {
    "lm-eval": _lm_eval,
    "inspect": _inspect,
    "eee": _eee,
}
