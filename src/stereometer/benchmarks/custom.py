"""A user's own items: CATs or pairs, as JSONL or as a table with a header. The columns say which.

CATs:   task, target, domain, context, stereotype, anti_stereotype, unrelated   [id, note, hidden]
        In an intrasentence item the context holds BLANK and the three columns what fills it; in an intersentence
        item they are the sentences that follow.
Pairs:  sent_more, sent_less, bias_type   [id, stereo_antistereo, annotations, note, hidden]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from stereometer.benchmarks.benchmark import CAT_MEASURES, PAIR_MEASURES, Shapes, Source
from stereometer.benchmarks.stereoset import BLANK, LABELS, TASKS, Candidate, Cat, read_cats, unique
from stereometer.errors import DataError
from stereometer.files import read_jsonl, read_table, read_text
from stereometer.shapes.pair.items import DIRECTIONS, Pair, read_hidden, read_votes
from stereometer.types import Item

CAT_COLUMNS = ("task", "target", "domain", "context", "stereotype", "anti_stereotype", "unrelated")
PAIR_COLUMNS = ("sent_more", "sent_less", "bias_type")


def read(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    return _read(files, faulty=False)


def read_faulty(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    """For an audit: also items with an empty text or a context without BLANK, which cannot be measured."""
    return _read(files, faulty=True)


def _read(files: Sequence[Path], faulty: bool) -> tuple[Shapes, Sequence[str]]:
    (path,) = files
    if _is_stereoset(path):
        return {"cat": read_cats(path)}, []
    rows = list(_rows(path))
    if not rows:
        raise DataError(
            f"{path} has no rows. There is nothing to measure in it. Check that it is the right file."
        )
    columns = rows[0][1].keys()
    if set(CAT_COLUMNS) <= set(columns):
        cats = [_cat(row, path, line, faulty) for line, row in rows]
        unique((cat.id for cat in cats), f"{path}: item")
        return {"cat": cats}, repeated(cats)
    if set(PAIR_COLUMNS) <= set(columns):
        pairs = [_pair(row, path, line, faulty) for line, row in rows]
        unique((pair.id for pair in pairs), f"{path}: pair")
        return {"pair": pairs}, repeated(pairs)
    nearest = min(
        (CAT_COLUMNS, PAIR_COLUMNS),
        key=lambda wanted: len(set(wanted) - set(columns)) / len(wanted),
    )
    missing = ", ".join(name for name in nearest if name not in columns)
    raise DataError(
        f"{path} lacks {missing}. It has the columns {', '.join(map(str, columns))}. CATs need {', '.join(CAT_COLUMNS)}; pairs need {', '.join(PAIR_COLUMNS)}. Rename its columns."
    )


def repeated(items: Sequence[Item]) -> list[str]:
    """Says how many items repeat another: each counts, though it brings nothing new."""
    distinct = {tuple(sorted(item.texts.items())) for item in items}
    extra = len(items) - len(distinct)
    return (
        [f"{extra} item(s) have the same texts as another and are counted all the same."]
        if extra
        else []
    )


def _is_stereoset(path: Path) -> bool:
    return path.name.removesuffix(".gz").endswith(".json")


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if read_text(path).lstrip().startswith("{"):
        return read_jsonl(path)
    return read_table(path, [])


def _text(row: dict[str, Any], column: str, path: Path, line: int, faulty: bool = False) -> str:
    value = row.get(column)
    if faulty and (value is None or (isinstance(value, str) and not value.strip())):
        return ""
    if not isinstance(value, str) or not value.strip():
        raise DataError(
            f"{path}, line {line}: {column} is {value!r}. It must be a text that is not empty. Repair the row."
        )
    return value


def _id(row: dict[str, Any], line: int) -> str:
    """The `id`, else the unnamed first column, else the line."""
    return next(
        (str(row[name]) for name in ("id", "") if row.get(name) not in (None, "")), str(line)
    )


def _cat(row: dict[str, Any], path: Path, line: int, faulty: bool) -> Cat:
    task, target, domain = (_text(row, column, path, line) for column in CAT_COLUMNS[:3])
    context, *fills = (_text(row, column, path, line, faulty) for column in CAT_COLUMNS[3:])
    if task not in TASKS:
        raise DataError(
            f"{path}, line {line}: task is {task!r}. It must be one of {', '.join(TASKS)}. Repair the row."
        )
    if task == "intrasentence" and BLANK not in context and not faulty:
        raise DataError(
            f"{path}, line {line}: the context has no {BLANK}. An intrasentence context says where the candidates go. Repair the row."
        )
    number = _id(row, line)
    texts = [_filled(context, fill) for fill in fills] if task == "intrasentence" else fills
    candidates = {
        label: Candidate(f"{number}-{label}", text)
        for label, text in zip(LABELS, texts, strict=True)
    }
    return Cat(
        number,
        task,
        target,
        domain,
        context,
        candidates,
        str(row.get("note") or ""),
        read_hidden(row, path, line),
    )


def _filled(context: str, fill: str) -> str:
    """The sentence; where there is no place to fill, or nothing to fill it with, what the row has."""
    return context.replace(BLANK, fill) if fill and BLANK in context else fill


def _pair(row: dict[str, Any], path: Path, line: int, faulty: bool) -> Pair:
    more, less = (_text(row, column, path, line, faulty) for column in PAIR_COLUMNS[:2])
    bias_type = _text(row, "bias_type", path, line)
    direction = row.get("stereo_antistereo") or None
    if direction not in (None, *DIRECTIONS):
        raise DataError(
            f"{path}, line {line}: stereo_antistereo is {direction!r}. It must be one of {', '.join(DIRECTIONS)} or empty. Repair the row."
        )
    votes, note = read_votes(str(row.get("annotations") or "")), str(row.get("note") or "")
    return Pair(
        _id(row, line), more, less, bias_type, direction, votes, note, read_hidden(row, path, line)
    )


SOURCE = Source(
    "custom", read, {"cat": CAT_MEASURES, "pair": PAIR_MEASURES}, read_faulty=read_faulty
)
