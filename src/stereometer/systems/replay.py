"""Scores that somebody computed elsewhere, joined to the items they belong to.

Three formats: StereoSet's predictions (`{"intrasentence": [{"id", "score"}], ...}`), the CSV that the CrowS-Pairs
script writes, and JSONL of log-probabilities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import log
from pathlib import Path
from sys import float_info
from typing import Any

from stereometer.errors import DataError
from stereometer.files import finite, parse_json, read_jsonl, read_table, read_text
from stereometer.shapes.pair.items import DIRECTIONS, Pair
from stereometer.types import ModelCard, Score, Slice, Variant, digest_of

NO_SCORE = "no score in the file"
SCORED = ("stereotype", "anti-stereotype", "unrelated", "sent_more", "sent_less", "logprob")
"""What a line of JSON may give a score for."""
PAIR_COLUMNS = ("sent_more", "sent_less", "sent_more_score", "sent_less_score")


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
    scoring: str = "replayed"

    @property
    def card(self) -> ModelCard:
        return ModelCard(
            self.name,
            "replayed",
            "replay@1",
            digest_of(sorted(self.by_id.items())),
            notes=self.notes,
            settings={"file": self.path.name},
        )

    def scores(self, items: Iterable[Any], variant: Variant) -> Iterator[Score]:
        for item in items:
            values = {
                name: self._value(ids, item.slices, variant)
                for name, ids in candidate_ids(item).items()
            }
            known = {name: value for name, value in values.items() if value is not None}
            # The published code compares whatever scores there are: equal ones are a draw, and count.
            skipped = (None if variant == "paper" else item.unscorable) or (
                None if len(known) == len(values) else NO_SCORE
            )
            yield Score(item.id, item.slices, {} if skipped else known, skipped, item.texts)

    def _value(self, ids: Sequence[str], slices: Slice, variant: Variant) -> float | None:
        """`sound` compares logarithms, and log-odds across sentences: a tie of 1e-6 between probabilities would swallow every rare word."""
        value = next((self.by_id[one] for one in ids if one in self.by_id), None)
        scale = self.scale.get(slices.get("task", ""), self.scale.get("all", "log"))
        if value is None or variant == "paper" or scale == "log":
            return value
        # A next-sentence probability saturates near 1: its log-odds do not.
        odds = log(max(1 - value, float_info.min)) if slices.get("task") == "intersentence" else 0.0
        return log(max(value, float_info.min)) - odds


def candidate_ids(item: Any) -> Mapping[str, Sequence[str]]:
    """The ids a candidate may be scored under: `<item id>:<candidate>`, or its own where it has one, as StereoSet's sentences do."""
    own = getattr(item, "candidates", {})
    names = own or [name for name in item.texts if name != "context"]
    return {name: (*([own[name].id] if own else []), f"{item.id}:{name}") for name in names}


def joined(found: Replayed, items: Sequence[Any]) -> tuple[Replayed, tuple[str, ...]]:
    """The scores keyed as the items are, and notes on what is missing; raises where the file scores what the data do not have."""
    if found.pairs and items is not found.pairs:
        found = _by_text(found, items)
    known = {
        one: item.slices.get("task", "all")
        for item in items
        for ids in candidate_ids(item).values()
        for one in ids
    }
    tasks = set(known.values())
    extra = [one for one in found.by_id if one not in known]
    left_out = {
        one
        for one in extra
        if one in found.tasks and found.tasks[one] not in tasks and len(extra) < len(found.by_id)
    }
    foreign = [one for one in extra if one not in left_out]
    if foreign:
        raise DataError(
            f"{len(foreign)} of the {len(found.by_id)} ids in {found.path} are not in the data, for instance {foreign[0]!r}. "
            "The scores belong to other items or another version of them. Name the right data with --data."
        )
    notes = (
        [f"{len(extra)} scores of a task that the data do not have were left out."] if extra else []
    )
    return found, (*notes, *_missing(found, items))


def _missing(found: Replayed, items: Sequence[Any]) -> Iterator[str]:
    lacking: dict[str, list[bool]] = {}
    for item in items:
        for ids in candidate_ids(item).values():
            lacking.setdefault(item.slices.get("task", ""), []).append(
                not any(one in found.by_id for one in ids)
            )
    for task, missing in sorted(lacking.items()):
        if all(missing):
            yield f"The file has no {task} scores."
        elif any(missing):
            yield f"The file lacks {sum(missing)} of {len(missing)} {task} sentence scores.".replace(
                "  ", " "
            )


def _by_text(found: Replayed, items: Sequence[Any]) -> Replayed:
    """A table of pairs is joined by its sentences: row numbers differ between copies of the data."""
    places: dict[tuple[str, str], list[str]] = {}
    for item in items:
        places.setdefault(
            (item.texts.get("sent_more", ""), item.texts.get("sent_less", "")), []
        ).append(item.id)
    by_id: dict[str, float] = {}
    for pair in found.pairs:
        free = places.get((pair.sent_more, pair.sent_less), [])
        new = free.pop(0) if free else f"row {pair.id}"
        by_id |= {
            f"{new}:{name}": found.by_id[f"{pair.id}:{name}"] for name in ("sent_more", "sent_less")
        }
    return replace(found, by_id=by_id)


# ------------------------------------------------------------------------------------------- reading


def read_replay(path: Path, name: str | None = None) -> Replayed:
    """The format is told from the content, not from the file's name."""
    text = read_text(path)
    if not text.lstrip().startswith(("{", "[")):
        return _pair_table(path, name)
    first = text.lstrip().split("\n", 1)[0]
    if _is_line(first):
        return _jsonl(path, name)
    return _predictions(path, parse_json(text, str(path)), name)


def _is_line(first: str) -> bool:
    """One whole object with an id on the first line: JSONL."""
    try:
        value = parse_json(first, "")
    except DataError:
        return False
    return isinstance(value, dict) and "id" in value


def system_name(path: Path) -> str:
    """`predictions_<system>_<heads>.json[.gz]` as the StereoSet authors name files; otherwise the file's stem."""
    stem = path.name.removesuffix(".gz").rsplit(".", 1)[0]
    return (
        stem.removeprefix("predictions_").split("_")[0] if stem.startswith("predictions_") else stem
    )


def _predictions(path: Path, value: Any, name: str | None) -> Replayed:
    if (
        not isinstance(value, dict)
        or not value
        or not all(isinstance(rows, list) for rows in value.values())
    ):
        raise DataError(
            f"{path} is not a predictions file. It should map each task to a list of {{id, score}}. Check that it is the right file."
        )
    unknown = sorted(set(value) - {"intrasentence", "intersentence"})
    if unknown:
        raise DataError(
            f"{path} has scores for {', '.join(unknown)}. The tasks are intrasentence and intersentence. Check that it is the right file."
        )
    by_id: dict[str, float] = {}
    tasks: dict[str, str] = {}
    for task, rows in value.items():
        for number, row in enumerate(rows):
            where = f"{path}, {task}[{number}]"
            if (
                not isinstance(row, dict)
                or not isinstance(row.get("id"), str)
                or "score" not in row
            ):
                raise DataError(
                    f"{where} has no id and score. Every entry needs both. Repair or export it again."
                )
            _add(by_id, row["id"], finite_number(row["score"], where), where)
            tasks[row["id"]] = task
    if not by_id:
        raise DataError(
            f"{path} has no scores. There is nothing to replay. Check that it is the right file."
        )
    scale = {task: _scale(by_id[one] for one, of in tasks.items() if of == task) for task in value}
    return Replayed(path, name or system_name(path), by_id, scale, tasks)


def finite_number(value: object, where: str) -> float:
    if isinstance(value, str):
        raise DataError(
            f"{where}: the score {value!r} is text. Every score must be a finite number. Repair or export it again."
        )
    return finite(value, where)


def _add(by_id: dict[str, float], one: str, value: float, where: str) -> None:
    if one in by_id:
        raise DataError(
            f"{where}: id {one!r} has two scores. Scores are joined by id. Leave one of them out."
        )
    by_id[one] = value


def _scale(values: Iterable[float]) -> str:
    found = list(values)
    return "probability" if found and all(0 <= value <= 1 for value in found) else "log"


def scale_notes(found: Replayed, variant: Variant) -> tuple[str, ...]:
    """How `sound` reads probabilities; `paper` takes them as they are."""
    ways = {"intrasentence": "logarithms", "intersentence": "log-odds"}
    told = [
        f"The {task} scores are probabilities; their {ways.get(task, 'logarithms')} are compared."
        for task, kind in sorted(found.scale.items())
        if kind == "probability"
    ]
    return tuple(told) if variant == "sound" else ()


def _jsonl(path: Path, name: str | None) -> Replayed:
    """`{"id": ITEM, "stereotype": x, ...}`, `{"id": PAIR, "sent_more": x, "sent_less": y}` or `{"id": SENTENCE, "logprob": x}`."""
    by_id: dict[str, float] = {}
    others: dict[str, None] = {}
    for line, row in read_jsonl(path):
        where = f"{path}, line {line}"
        number, values = row.get("id"), {key: value for key, value in row.items() if key in SCORED}
        others |= dict.fromkeys(key for key in row if key not in (*SCORED, "id"))
        if number is None or not values:
            raise DataError(
                f"{where} has no id or no score. Scores are named {', '.join(SCORED)}. Repair or export it again."
            )
        for key, value in values.items():
            tokens = value if isinstance(value, list) else [value]
            if not tokens:
                raise DataError(
                    f"{where}: {key} is an empty list. A text has at least one token. Repair or leave out that line."
                )
            one = str(number) if key == "logprob" else f"{number}:{key}"
            _add(by_id, one, sum(finite_number(token, where) for token in tokens), where)
    notes = (
        (f"Fields of the file that hold no score were not used: {', '.join(others)}.",)
        if others
        else ()
    )
    return Replayed(path, name or system_name(path), by_id, {"all": "log"}, notes=notes)


def _pair_table(path: Path, name: str | None) -> Replayed:
    """The CSV of the CrowS-Pairs script, comma or semicolon, which carries the pairs as well as their scores."""
    by_id: dict[str, float] = {}
    pairs: list[Pair] = []
    verdicts: list[str] = []
    for line, row in read_table(path, PAIR_COLUMNS):
        pair = Pair(
            row.get("id") or row.get("") or str(len(pairs)),
            row["sent_more"],
            row["sent_less"],
            row.get("bias_type") or "all",
            row.get("stereo_antistereo") or None,
        )
        if pair.direction not in (None, *DIRECTIONS):
            raise DataError(
                f"{path}, line {line}: stereo_antistereo is {pair.direction!r}. It must be one of {', '.join(DIRECTIONS)}. Repair the row."
            )
        for candidate in ("sent_more", "sent_less"):
            _add(
                by_id,
                f"{pair.id}:{candidate}",
                finite(row[f"{candidate}_score"], f"{path}, line {line}"),
                f"{path}, line {line}",
            )
        pairs.append(pair)
        verdicts.append(row.get("score", ""))
    if not pairs:
        raise DataError(
            f"{path} has a header and no rows. There is nothing to replay. Check that it is the right file."
        )
    notes = _unswap(by_id, pairs, verdicts)
    return Replayed(path, name or system_name(path), by_id, {"all": "log"}, {}, notes, pairs)


def _unswap(
    by_id: dict[str, float], pairs: Sequence[Pair], verdicts: Sequence[str]
) -> tuple[str, ...]:
    """An early version of the script wrote the two scores of antistereo rows in each other's column.

    Its own verdict column (1: sent_more wins) shows it: right on stereo rows, upside down on antistereo ones.
    """
    against = dict.fromkeys((*DIRECTIONS, None), 0)
    decided = dict(against)
    for pair, verdict in zip(pairs, verdicts, strict=True):
        more, less = by_id[f"{pair.id}:sent_more"], by_id[f"{pair.id}:sent_less"]
        if verdict.strip() in ("0", "1", "0.0", "1.0") and more != less:
            decided[pair.direction] += 1
            against[pair.direction] += (more > less) != (float(verdict) == 1)
    if not any(against.values()):
        return ()
    if (
        decided["antistereo"]
        and against["antistereo"] == decided["antistereo"]
        and not against["stereo"]
        and not against[None]
    ):
        for pair in pairs:
            if pair.direction == "antistereo":
                left, right = f"{pair.id}:sent_more", f"{pair.id}:sent_less"
                by_id[left], by_id[right] = by_id[right], by_id[left]
        return (
            "The score columns were swapped on antistereo rows, as an early version of the CrowS-Pairs script wrote them; they were put right by its verdict column.",
        )
    return (
        f"The verdict column disagrees with the scores in {sum(against.values())} of {sum(decided.values())} rows; the scores were used.",
    )
