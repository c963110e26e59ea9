"""Scores that somebody computed elsewhere, joined to the items they belong to.

Three formats: StereoSet's predictions (`{"intrasentence": [{"id", "score"}], ...}`), the CSV that
the CrowS-Pairs script writes, and JSONL of log-probabilities.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import log
from pathlib import Path
from sys import float_info
from typing import Any

from stereometer.core.errors import DataError
from stereometer.core.files import finite, parse_json, read_text
from stereometer.core.shapes.sentences import SentenceItem, row_choice, row_id
from stereometer.core.tables import PLAIN, Layout, empty_file, read_rows, read_table
from stereometer.core.types import ModelCard, Score, Slice, Variant, digest_of
from stereometer.kinds.cats.items import TASKS
from stereometer.kinds.pairs.items import DIRECTIONS, Pair
from stereometer.kinds.pairs.metrics import CANDIDATES

NO_SCORE = "no score in the file"
SCORED = ("stereotype", "anti-stereotype", "unrelated", "sent_more", "sent_less", "logprob")
"""What a line of JSON may give a score for."""
HEADS = re.compile(r"(_[A-Z][^\W_]*?(NSP|NextSentence|LM))+$")
"""Names of heads at the end of a file's stem: `_ModelNSP_GPT2LM`, none of two words."""
PAIR_COLUMNS = (*CANDIDATES, *(f"{name}_score" for name in CANDIDATES))
MORE_COLUMNS = ("id", "score", "stereo_antistereo", "bias_type", "target")


@dataclass(frozen=True)
class Replayed:
    """Scores by candidate id, and what was noticed while reading them."""

    path: Path
    name: str
    by_id: Mapping[str, float]
    scale: Mapping[str, str]
    """By task (or `all`): `log` or `probability`."""
    tasks: Mapping[str, str] = field(default_factory=dict)
    """The task each id was listed under, where the file says."""
    notes: tuple[str, ...] = ()
    pairs: Sequence[Pair] = ()
    """The pairs themselves, where the file carries them."""
    method: str = "replay@1"
    """What the scores are, after the name of the shape."""

    @property
    def card(self) -> ModelCard:
        identity = (self.name, "replayed", "replay@1", digest_of(sorted(self.by_id.items())))
        return ModelCard(*identity, notes=self.notes, settings={"file": self.path.name})

    def scores(self, items: Iterable[Any], variant: Variant) -> Iterator[Score]:
        item: SentenceItem
        for item in items:
            found = {
                name: self._value(ids, item.slices, variant)
                for name, ids in item.candidate_ids.items()
            }
            known = {name: value for name, value in found.items() if value is not None}
            # The published code compares whatever scores there are: equal ones count as a draw.
            skipped = None if variant == "paper" else item.unscorable
            skipped = skipped or (None if len(known) == len(found) else NO_SCORE)
            values, silent = {} if skipped else known, skipped == NO_SCORE
            yield Score(item.id, item.slices, values, skipped, item.texts, unanswered=silent)

    def _value(self, ids: Sequence[str], slices: Slice, variant: Variant) -> float | None:
        """`sound` compares logarithms, and log-odds across sentences: a tie of 1e-6 between
        probabilities would swallow every rare word."""
        value = next((self.by_id[id_] for id_ in ids if id_ in self.by_id), None)
        task = slices.get("task", "all")
        scale = self.scale.get(task, self.scale.get("all", "log"))
        if value is None or variant == "paper" or scale == "log":
            return value
        # A next-sentence probability saturates near 1: its log-odds do not.
        odds = log(max(1 - value, float_info.min)) if task == "intersentence" else 0.0
        return log(max(value, float_info.min)) - odds


def joined(replayed: Replayed, items: Sequence[Any]) -> tuple[Replayed, tuple[str, ...]]:
    """Scores under ids of items, and what is left out; raises for ids that the data do not have."""
    if replayed.pairs and items is not replayed.pairs:
        replayed = _by_text(replayed, items)
    known = {
        id_: item.slices.get("task", "all")
        for item in items
        for ids in item.candidate_ids.values()
        for id_ in ids
    }
    tasks = set(known.values())
    extra = [id_ for id_ in replayed.by_id if id_ not in known]
    foreign = [
        id_
        for id_ in extra
        if replayed.tasks.get(id_, "all") in {"all", *tasks} or len(extra) == len(replayed.by_id)
    ]
    if foreign:
        raise DataError(
            f"{len(foreign)} of the {len(replayed.by_id)} ids in {replayed.path} are not in the "
            f"data, for instance {foreign[0]!r}. The scores belong to other items or another "
            "version of them. Name the right data with --data."
        )
    note = f"{len(extra)} scores of a task that the data do not have were left out."
    return replayed, (note,) if extra else ()


def missing(replayed: Replayed, items: Sequence[Any]) -> Iterator[str]:
    """What of the items the file does not score."""
    by_task: dict[str, list[bool]] = {}
    for item in items:
        by_task.setdefault(item.slices.get("task", ""), []).extend(
            replayed.by_id.keys().isdisjoint(ids) for ids in item.candidate_ids.values()
        )
    for task, lacking in sorted(by_task.items()):
        named = f"{task} " if task else ""
        if all(lacking):
            yield f"The file has no {named}scores."
        elif any(lacking):
            yield f"The file lacks {sum(lacking)} of {len(lacking)} {named}sentence scores."


def _by_text(replayed: Replayed, items: Sequence[Any]) -> Replayed:
    """A table of pairs is joined by its sentences: row numbers differ between copies."""
    places: dict[tuple[str, ...], list[str]] = {}
    for item in items:
        places.setdefault(tuple(map(item.texts.get, CANDIDATES)), []).append(item.id)
    by_id: dict[str, float] = {}
    for pair in replayed.pairs:
        free = places.get((pair.sent_more, pair.sent_less), [])
        id_ = free.pop(0) if free else f"row {pair.id}"
        by_id |= {f"{id_}:{name}": replayed.by_id[f"{pair.id}:{name}"] for name in CANDIDATES}
    return replace(replayed, by_id=by_id)


# ------------------------------------------------------------------------------------------ reading


def read_replay(path: Path, name: str | None = None, layout: Layout = PLAIN) -> Replayed:
    """The content shows the format, whatever the file's name."""
    text = read_text(path, layout.encoding)
    start = text.lstrip()
    if not start.startswith(("{", "[")):
        layout.check((*PAIR_COLUMNS, *MORE_COLUMNS), "A table of scores")
        # The CSV of the CrowS-Pairs script, comma or semicolon, which carries the pairs as well as
        # their scores.
        rows = read_table(path, PAIR_COLUMNS, "Name yours with --column.", layout)
        return read_pair_rows(path, rows, name, "replay@1")
    line: Any = None
    with suppress(DataError):
        line = parse_json(start.partition("\n")[0], "")
    # One whole object with an id on the first line: JSONL.
    if isinstance(line, dict) and layout.columns.get("id", "id") in line:
        layout.check(("id", *SCORED), "A file of scores")
        return _jsonl(path, name, layout)
    layout.check((), "A JSON file")
    return _predictions(path, parse_json(text, str(path)), name)


def system_name(path: Path) -> str:
    """From `predictions_<system>_<heads>.json[.gz]`, as the StereoSet authors name files, or the
    stem. What is not the name of a head belongs to the system."""
    stem = path.name.removesuffix(".gz").rsplit(".", 1)[0]
    prefix, _, name = stem.partition("predictions_")
    return stem if prefix or not name else HEADS.sub("", name)


def _predictions(path: Path, value: Any, name: str | None) -> Replayed:
    is_lists = isinstance(value, dict) and all(isinstance(rows, list) for rows in value.values())
    if not value or not is_lists:
        raise DataError(
            f"{path} is not a predictions file, which maps tasks to lists of {{id, score}}. Fix it."
        )
    unknown = sorted(set(value) - set(TASKS))
    if unknown:
        raise DataError(
            f"{path} has scores for {', '.join(unknown)}. Tasks are {' and '.join(TASKS)}. Fix it."
        )
    by_id: dict[str, float] = {}
    tasks: dict[str, str] = {}
    for task, rows in value.items():
        for number, row in enumerate(rows):
            where = f"{path}, {task}[{number}]"
            is_row = isinstance(row, dict) and isinstance(row.get("id"), str)
            if not is_row or "score" not in row:
                raise DataError(
                    f"{where} has no id and score. Every entry needs both. Fix or export it again."
                )
            add(by_id, row["id"], finite_number(row["score"], where), where)
            tasks[row["id"]] = task
    if not by_id:
        raise DataError(f"{path} has no scores. There is nothing to replay. Is it the right file?")
    scale = {}
    for task in value:
        known = [by_id[id_] for id_, of in tasks.items() if of == task]
        is_share = known and all(0 <= score <= 1 for score in known)
        scale[task] = "probability" if is_share else "log"
    return Replayed(path, name or system_name(path), by_id, scale, tasks)


def finite_number(value: object, where: str) -> float:
    if isinstance(value, str):
        raise DataError(
            f"{where}: the score {value!r} is text. Every score must be a finite number. Fix it."
        )
    return finite(value, where)


def add(by_id: dict[str, float], id_: str, value: float, where: str) -> None:
    if id_ in by_id:
        raise DataError(
            f"{where}: id {id_!r} has two scores. Scores are joined by id. Leave one of them out."
        )
    by_id[id_] = value


def scale_notes(replayed: Replayed, variant: Variant) -> tuple[str, ...]:
    """How `sound` reads probabilities; `paper` compares them directly."""
    ways = {"intersentence": "log-odds"}
    return tuple(
        f"The {task} scores are probabilities; their {ways.get(task, 'logarithms')} are compared."
        for task, scale in sorted(replayed.scale.items())
        if scale == "probability" and variant == "sound"
    )


def _jsonl(path: Path, name: str | None, layout: Layout) -> Replayed:
    """Lines of `{"id": ITEM, "stereotype": x, ...}`, `{"id": PAIR, "sent_more": x, "sent_less": y}`
    or `{"id": SENTENCE, "logprob": x}`."""
    by_id: dict[str, float] = {}
    others: dict[str, None] = {}
    for line, row in read_rows(path, (), "", layout):
        where = f"{path}, line {line}"
        number, values = row.get("id"), {key: value for key, value in row.items() if key in SCORED}
        others |= dict.fromkeys(key for key in row if key not in (*SCORED, "id"))
        if number is None or not values:
            raise DataError(
                f"{where} has no id or no score. Scores are {', '.join(SCORED)}. Fix the row."
            )
        for key, value in values.items():
            tokens = value if isinstance(value, list) else [value]
            if not tokens:
                raise DataError(
                    f"{where}: {key} is an empty list. A text has a token. Leave out that line."
                )
            id_ = str(number) if key == "logprob" else f"{number}:{key}"
            add(by_id, id_, sum(finite_number(token, where) for token in tokens), where)
    note = f"Fields of the file that hold no score were not used: {', '.join(others)}."
    notes = (note,) if others else ()
    return Replayed(path, name or system_name(path), by_id, {"all": "log"}, notes=notes)


def read_pair_rows(
    path: Path, rows: Iterable[tuple[int, Mapping[str, str]]], name: str | None, method: str
) -> Replayed:
    """Rows that hold two sentences and their scores."""
    by_id: dict[str, float] = {}
    pairs: list[Pair] = []
    verdicts: list[str] = []
    for line, row in rows:
        texts = row["sent_more"], row["sent_less"], row.get("bias_type", "all")
        direction = row_choice(row, "stereo_antistereo", DIRECTIONS, path, line)
        target = row.get("target") or ""
        pair = Pair(row_id(row, len(pairs)), *texts, direction, target=target)
        where = f"{path}, line {line}"
        for candidate in CANDIDATES:
            score = finite(row[f"{candidate}_score"], where)
            add(by_id, f"{pair.id}:{candidate}", score, where)
        pairs.append(pair)
        verdicts.append(row.get("score", ""))
    if not pairs:
        raise empty_file(path)
    notes = _unswap(by_id, pairs, verdicts)
    system = name or system_name(path)
    return Replayed(path, system, by_id, {"all": "log"}, {}, notes, pairs, method=method)


def _unswap(
    by_id: dict[str, float], pairs: Sequence[Pair], verdicts: Sequence[str]
) -> tuple[str, ...]:
    """An early version of the script wrote the scores of antistereo rows in each other's column.

    Its verdict column (1: sent_more wins) shows it: right on stereo rows, upside down on others.
    """
    against, decided = Counter[str | None](), Counter[str | None]()
    for pair, verdict in zip(pairs, verdicts, strict=True):
        more, less = by_id[f"{pair.id}:sent_more"], by_id[f"{pair.id}:sent_less"]
        if verdict.strip() in ("0", "1", "0.0", "1.0") and more != less:
            decided[pair.direction] += 1
            against[pair.direction] += (more > less) != (float(verdict) == 1)
    if not against.total():
        return ()
    if against["antistereo"] == decided["antistereo"] == against.total():
        for pair in pairs:
            if pair.direction == "antistereo":
                left, right = f"{pair.id}:sent_more", f"{pair.id}:sent_less"
                by_id[left], by_id[right] = by_id[right], by_id[left]
        return (
            "The score columns were swapped on antistereo rows, as an early version of the "
            "CrowS-Pairs script wrote them; they were put right by its verdict column.",
        )
    return (
        f"The verdict column disagrees with the scores in {against.total()} of {decided.total()} "
        "rows; the scores were used.",
    )
