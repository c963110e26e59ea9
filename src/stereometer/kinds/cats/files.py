"""CATs in files: StereoSet's layout, read and written, and rows of a table.

A row has `task, target, domain, context, stereotype, anti_stereotype, unrelated` and, where known,
`id`, `note` and `hidden`. In an intrasentence row the context holds BLANK and the columns what
fills it; in an intersentence row they are the sentences that follow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ValidationError

from stereometer.core.errors import DataError
from stereometer.core.files import UTF8, read_json, write_json
from stereometer.core.shapes.sentences import Row, mean, row_hidden, row_id, row_text, unique
from stereometer.core.tables import SHOWN_FAULTS, gathered, is_parquet, parquet_rows
from stereometer.kinds.cats.items import BLANK, LABELS, TASKS, Candidate, Cat, agreement_of, words

COLUMNS = ("task", "target", "domain", "context", "stereotype", "anti_stereotype", "unrelated")
NUMBERED = dict(enumerate(("anti-stereotype", "stereotype", "unrelated", "related")))
"""As a hub writes labels."""


def _named(label: Any) -> Any:
    return NUMBERED.get(label, label) if isinstance(label, int) else label


def _records(value: Any) -> Any:
    """A hub keeps a list of records as a record of lists."""
    if not isinstance(value, dict):
        return value
    return [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]


_Gold = Annotated[str, BeforeValidator(_named)]


class _Label(BaseModel):
    label: _Gold


class _Sentence(BaseModel):
    id: str
    sentence: str
    gold_label: _Gold
    labels: Annotated[list[_Label], BeforeValidator(_records)] = []


class _Item(BaseModel):
    id: str
    target: str
    bias_type: str
    context: str
    sentences: Annotated[list[_Sentence], BeforeValidator(_records)]
    note: str = ""
    hidden: bool = False


class _File(BaseModel):
    data: dict[str, list[_Item]]


def read_cats(path: Path, encoding: str = UTF8) -> list[Cat]:
    """A file like StereoSet's dev.json, or a list of its items without their tasks, as a hub keeps
    them too."""
    rows = [row for _, row in parquet_rows(path)] if is_parquet(path) else None
    value = read_json(path, encoding) if rows is None else rows
    try:
        bare = isinstance(value, list) and value
        parsed = _File.model_validate(_by_task(value) if bare else value)
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, fault['loc'])) or 'top level'}: {fault['msg']}"
            for fault in error.errors()
        ]
        more = f" ({len(faults) - SHOWN_FAULTS} more)" if len(faults) > SHOWN_FAULTS else ""
        raise DataError(
            f"{path} is not a StereoSet file: {'; '.join(faults[:SHOWN_FAULTS])}{more}. It should "
            "look like dev.json. Check that it is the right file."
        ) from None
    foreign = sorted(set(parsed.data) - set(TASKS))
    if foreign or not parsed.data:
        raise DataError(
            f"{path} has the task(s) {', '.join(foreign) or 'none'}. StereoSet has "
            f"{' and '.join(TASKS)}. Check that it is the right file."
        )
    items = (
        (at, (item, task)) for task in TASKS for at, item in enumerate(parsed.data.get(task, []))
    )
    cats = gathered(path, items, lambda _, placed: _cat(*placed, path))
    if not cats:
        raise DataError(
            f"{path} has no items. There is nothing to measure in it. Check that it is the right "
            "file."
        )
    unique((cat.id for cat in cats), f"{path}: item")
    sentences = (candidate.id for cat in cats for candidate in cat.candidates.values())
    unique(sentences, f"{path}: sentence")
    return cats


def _by_task(items: list[Any]) -> dict[str, Any]:
    """A bare list of items: those whose context has a blank are intrasentence items."""
    tasks: dict[str, list[Any]] = {task: [] for task in TASKS}
    for item in items:
        context = item.get("context") if isinstance(item, dict) else ""
        tasks[TASKS[0] if BLANK in str(context) else TASKS[1]].append(item)
    return {"data": tasks}


def _cat(item: _Item, task: str, path: Path) -> Cat:
    candidates = {
        sentence.gold_label: Candidate(
            sentence.id, sentence.sentence, tuple(vote.label for vote in sentence.labels)
        )
        for sentence in item.sentences
    }
    if len(candidates) != len(item.sentences) or not set(candidates) <= set(LABELS):
        labels = ", ".join(sentence.gold_label for sentence in item.sentences)
        raise DataError(
            f"{path}: item {item.id} has the gold labels {labels}. Each of {', '.join(LABELS)} "
            "may occur once. Fix the item."
        )
    ordered = {label: candidates[label] for label in LABELS if label in candidates}
    return Cat(
        item.id, task, item.target, item.bias_type, item.context, ordered, item.note, item.hidden
    )


def read_row(row: Row, path: Path, line: int, faulty: bool = False) -> Cat:
    task, target, domain = (row_text(row, column, path, line) for column in COLUMNS[:3])
    context, *fills = (row_text(row, column, path, line, faulty) for column in COLUMNS[3:])
    if task not in TASKS:
        raise DataError(
            f"{path}, line {line}: task is {task!r}. It must be one of {', '.join(TASKS)}. "
            "Fix the row."
        )
    if task == "intrasentence" and BLANK not in context and not faulty:
        raise DataError(
            f"{path}, line {line}: the context has no {BLANK}. An intrasentence context says "
            "where the candidates go. Fix the row."
        )
    id_ = row_id(row, line)
    if task == "intrasentence" and BLANK in context:
        fills = [fill and context.replace(BLANK, fill) for fill in fills]
    candidates = {
        label: Candidate(f"{id_}-{label}", text) for label, text in zip(LABELS, fills, strict=True)
    }
    note, hidden = str(row.get("note") or ""), row_hidden(row, path, line)
    return Cat(id_, task, target, domain, context, candidates, note, hidden)


def write(
    path: Path,
    items: Sequence[Cat],
    hidden: bool = False,
    people: Mapping[str, Sequence[str]] | None = None,
) -> Path:
    """`people` are the ids of a candidate's validators, in the order of its votes."""
    tasks = {
        task: [_written(cat, hidden, people or {}) for cat in items if cat.task == task]
        for task in TASKS
    }
    write_json(path, {"version": "1.0", "data": tasks})
    return path


def _written(cat: Cat, hidden: bool, people: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "id": cat.id,
        "target": cat.target,
        "bias_type": cat.domain,
        "context": cat.context,
        "sentences": [
            {
                "id": candidate.id,
                "sentence": candidate.text,
                "gold_label": label,
                "labels": _labels(candidate, people.get(candidate.id, ())),
            }
            for label, candidate in cat.candidates.items()
        ],
    }
    fields |= {"note": cat.note} if cat.note else {}
    return fields | ({"hidden": True} if hidden or cat.hidden else {})


def _labels(candidate: Candidate, people: Sequence[str]) -> list[dict[str, str]]:
    """One label a validator; who gave it where that is known, under the released name."""
    known = len(people) == len(candidate.votes)
    ids = [{"human_id": id_} for id_ in people] if known else [{}] * len(candidate.votes)
    return [{"label": vote, **id_} for vote, id_ in zip(candidate.votes, ids, strict=True)]


# --------------------------------------------------------------------------------------- statistics


def statistics(items: Sequence[Cat]) -> list[dict[str, Any]]:
    """StereoSet's Table 1 with annotator agreement: by task and domain, by task, and overall."""
    domains = sorted({cat.domain for cat in items})
    rows = []
    for task in [task for task in TASKS if any(cat.task == task for cat in items)]:
        of_task = [cat for cat in items if cat.task == task]
        rows += [
            _counts(task, domain, [cat for cat in of_task if cat.domain == domain])
            for domain in domains
        ]
        rows.append(_counts(task, "all", of_task))
    return [*rows, _counts("both", "all", items)]


def _counts(task: str, domain: str, cats: Sequence[Cat]) -> dict[str, Any]:
    shares = [agreement_of(cat, label) for cat in cats for label in cat.candidates]
    return {
        "task": task,
        "domain": domain,
        "terms": len({cat.target for cat in cats}),
        "items": len(cats),
        "words": mean([words(cat, label) for cat in cats for label in cat.candidates]),
        "agreement": mean([share for share in shares if share is not None]),
    }


def _alike(cat: Cat) -> list[float]:
    """Of the pairs among the validators of a stereotype and its writer, the share that gave it the
    same label."""
    stereotype = LABELS[0]
    votes = cat.candidates[stereotype].votes if stereotype in cat.candidates else ()
    pairs = list(combinations((*votes, stereotype), 2))
    return [sum(first == second for first, second in pairs) / len(pairs)] if pairs else []


def term_agreement(items: Sequence[Cat]) -> list[dict[str, Any]]:
    """Agreement on the stereotypes of each target term (StereoSet's Table 10), lowest first; only
    terms with votes."""
    by_term: dict[tuple[str, str], list[float]] = {}
    for cat in items:
        by_term.setdefault((cat.domain, cat.target), []).extend(_alike(cat))
    rows: list[dict[str, Any]] = [
        {
            "domain": domain,
            "target": target,
            "sentences": len(shares),
            "agreement": sum(shares) / len(shares),
        }
        for (domain, target), shares in by_term.items()
        if shares
    ]
    return sorted(rows, key=lambda row: (row["agreement"], row["target"]))
