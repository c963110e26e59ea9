"""The rows of a file of answers, on disk while they are read: a file may have millions."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import overload
from weakref import finalize

from stereometer.kinds.comments.items import Comment

KIND = ("category", "label", "example_set")
"""Columns that decide, besides the comment, which question a row answers and what is right."""
Row = Mapping[str, str]
Sorted = Callable[[Row], tuple[str, str, str]]
"""Of a row: the category it is asked about, the number of its example set, and the gold label."""


@dataclass(frozen=True)
class AnsweredQuestion:
    """The rows that answer one question, by the gold label they give."""

    comment: str
    text: str
    category: str
    example_set: str
    by_gold: Mapping[str, Sequence[Row]]


class AnswerRows:
    """Rows in the order of the file."""

    def __init__(self, rows: Iterable[Row]) -> None:
        every = iter(rows)
        first = next(every, None)
        self.columns = tuple(first or ("comment",))
        self._names = ", ".join(self.columns)
        self.database = sqlite3.connect("")  # a file without a name, gone when it is closed
        finalize(self, self.database.close)
        self.database.execute(f"create table rows (at integer primary key, {self._names})")
        self.database.executemany(
            f"insert into rows ({self._names}) values ({_places(self.columns)})",
            (_bytes(row.values()) for row in chain(filter(None, [first]), every)),
        )
        self.database.execute("create table comments (id integer primary key, text unique)")
        self.database.execute(
            "insert or ignore into comments (text) select comment from rows order by at"
        )

    def __len__(self) -> int:
        return int(self.database.execute("select count(*) from rows").fetchone()[0])

    def __iter__(self) -> Iterator[Row]:
        rows = self.database.execute(f"select {self._names} from rows order by at")
        return (dict(zip(self.columns, _texts(row), strict=True)) for row in rows)

    def distinct(self, *columns: str) -> Iterator[Row]:
        """What stands in columns, in the order in which it first does."""
        names = ", ".join(columns)
        rows = self.database.execute(f"select {names} from rows group by {names} order by min(at)")
        return (dict(zip(columns, _texts(row), strict=True)) for row in rows.fetchall())

    def sort(self, sorted_: Sorted) -> None:
        """Rows of the same question are put together."""
        kind = [name for name in KIND if name in self.columns]
        names = ", ".join(kind)
        self.database.executescript(
            f"create table kinds ({names}, asked, number, gold, primary key ({names}));"
            "create table questions (id integer primary key, about integer, asked, number,"
            " unique (about, asked, number));"
        )
        self.database.executemany(
            f"insert into kinds values ({_places(kind)}, ?, ?, ?)",
            ([*_bytes(row.values()), *sorted_(row)] for row in self.distinct(*kind)),
        )
        # cross: sqlite keeps this order, in which every table has an index
        self._joined = (
            f"from rows cross join kinds using ({names})"
            " cross join comments on comments.text = rows.comment"
        )
        self.database.execute(
            "insert or ignore into questions (about, asked, number)"
            f" select comments.id, kinds.asked, kinds.number {self._joined} order by rows.at"
        )

    def questions(self) -> Iterator[AnsweredQuestion]:
        """In the order of their first rows, after `sort`."""
        rows = self.database.execute(
            "select questions.id, comments.id, kinds.asked, kinds.number, kinds.gold,"
            f" {self._names} {self._joined} cross join questions on about = comments.id"
            " and questions.asked = kinds.asked and questions.number = kinds.number"
            " order by questions.id, rows.at"
        )
        for (_, comment, category, number), part in groupby(rows, key=itemgetter(0, 1, 2, 3)):
            by_gold: dict[str, list[Row]] = {}
            for row in part:
                texts = dict(zip(self.columns, _texts(row[5:]), strict=True))
                by_gold.setdefault(row[4], []).append(texts)
            yield AnsweredQuestion(f"text-{comment}", texts["comment"], category, number, by_gold)


class AnsweredComments(Sequence[Comment]):
    """The comments of the rows, read when they are needed."""

    def __init__(self, rows: AnswerRows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return int(self._rows.database.execute("select count(*) from comments").fetchone()[0])

    @overload
    def __getitem__(self, at: int) -> Comment: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Comment]: ...
    def __getitem__(self, at: int | slice) -> Comment | Sequence[Comment]:
        if isinstance(at, slice):
            return [self[place] for place in range(len(self))[at]]
        row = self._rows.database.execute(
            "select id, text from comments where id = ?", (at + 1,)
        ).fetchone()
        if row is None:
            raise IndexError(at)
        (text,) = _texts(row[1:])
        return Comment(f"text-{row[0]}", text, {}, row[0])


def _places(columns: Sequence[str]) -> str:
    return ", ".join("?" * len(columns))


def _bytes(values: Iterable[str]) -> list[bytes]:
    """As they were written, whatever they hold."""
    return [value.encode("utf-8", "surrogatepass") for value in values]


def _texts(values: Iterable[bytes]) -> list[str]:
    return [value.decode("utf-8", "surrogatepass") for value in values]
