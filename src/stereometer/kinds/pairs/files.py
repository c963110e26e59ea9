"""Tables of pairs: `sent_more, sent_less, bias_type` and, where known, `id`, `stereo_antistereo`,
`annotations`, `note`, `hidden` and `target`."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from stereometer.core.files import replacing
from stereometer.core.shapes.sentences import Row, mean, row_choice, row_hidden, row_id, row_text
from stereometer.core.tables import PLAIN, Layout, empty_file, gathered, read_table
from stereometer.kinds.pairs.items import DIRECTIONS, Pair

COLUMNS = ("sent_more", "sent_less", "bias_type")
ANONYMOUS = ("anon_writer", "anon_annotators")
NUMBERED = {str(at): name for at, name in enumerate(DIRECTIONS)}
"""As a hub writes directions."""
WRITTEN = "id sent_more sent_less stereo_antistereo bias_type annotations note hidden"


def read_pairs(path: Path, layout: Layout = PLAIN) -> list[Pair]:
    """A released table, with pairs that cannot be scored; rows without an id are counted from 0."""
    number = count()
    pairs = gathered(
        path,
        read_table(path, COLUMNS, layout=layout),
        lambda line, row: _pair(
            {**row, "id": row_id(row, next(number))}, path, line, row["sent_more"], row["sent_less"]
        ),
    )
    if not pairs:
        raise empty_file(path)
    return pairs


def read_row(row: Row, path: Path, line: int, faulty: bool = False) -> Pair:
    """A row of a file of one's own, which says what it is about."""
    more, less = (row_text(row, column, path, line, faulty) for column in COLUMNS[:2])
    row_text(row, "bias_type", path, line)
    return _pair(row, path, line, more, less)


def _pair(row: Row, path: Path, line: int, more: str, less: str) -> Pair:
    direction = row_choice(row, "stereo_antistereo", (*DIRECTIONS, *NUMBERED), path, line) or ""
    return Pair(
        row_id(row, line),
        more,
        less,
        str(row.get("bias_type") or "").strip(),
        NUMBERED.get(direction, direction) or None,
        read_votes(str(row.get("annotations") or "")),
        str(row.get("note") or ""),
        row_hidden(row, path, line),
        str(row.get("target") or "").strip(),
    )


def read_votes(text: str) -> tuple[tuple[str, ...], ...]:
    """From a Python list of lists of names, as CrowS-Pairs writes the bias types of each
    validator."""
    inner = text.strip().removeprefix("[").removesuffix("]")
    validators = [part.split("]")[0] for part in inner.split("[")[1:]]
    return tuple(
        tuple(name.strip(" '\"") for name in names.split(",") if name.strip(" '\""))
        for names in validators
    )


def write(
    path: Path,
    items: Sequence[Pair],
    hidden: bool = False,
    people: Mapping[str, tuple[str, Sequence[str]]] | None = None,
) -> Path:
    """`people` are the writer and the annotators of each pair, in numbers that say no more."""
    columns = WRITTEN.split() + (list(ANONYMOUS) if people is not None else [])
    with replacing(path) as file:
        terms = ["target"] if any(pair.target for pair in items) else []
        table = csv.DictWriter(file, [*columns, *terms], lineterminator="\n", extrasaction="ignore")
        table.writeheader()
        for pair in items:
            writer, annotators = people[pair.id] if people is not None else ("", ())
            named = zip(ANONYMOUS, (writer, repr(list(annotators))), strict=True)
            table.writerow(_written(pair, hidden) | dict(named))
    return path


def _written(pair: Pair, hidden: bool) -> dict[str, str]:
    return {
        "id": pair.id,
        "sent_more": pair.sent_more,
        "sent_less": pair.sent_less,
        "stereo_antistereo": pair.direction or "",
        "bias_type": pair.bias_type,
        "annotations": repr([list(vote) for vote in pair.votes]) if pair.votes else "",
        "note": pair.note,
        "hidden": "yes" if hidden or pair.hidden else "",
        "target": pair.target,
    }


# --------------------------------------------------------------------------------------- statistics


def statistics(items: Sequence[Pair]) -> list[dict[str, Any]]:
    """Counts of CrowS-Pairs' Table 2 by bias type and direction, with words and agreement."""
    types: dict[str, list[Pair]] = {}
    for pair in items:
        types.setdefault(pair.domain, []).append(pair)
    ordered = sorted(types.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    return [_counts(bias_type, of_type) for bias_type, of_type in [*ordered, ("all", items)]]


def _counts(bias_type: str, pairs: Sequence[Pair]) -> dict[str, Any]:
    shares = [agreement_of(pair) for pair in pairs if pair.votes]
    directions = [pair.direction for pair in pairs]
    return {
        "bias_type": bias_type,
        "pairs": len(pairs),
        **{direction: directions.count(direction) for direction in DIRECTIONS},
        "words": mean([len(text.split()) for pair in pairs for text in pair.texts.values()]),
        "agreement": mean(shares),
        "contested": sum(share < 0.5 for share in shares) if shares else None,
    }


def agreement_of(pair: Pair) -> float:
    """The share of validators who named the pair's own bias type."""
    return sum(pair.bias_type in vote for vote in pair.votes) / len(pair.votes)
