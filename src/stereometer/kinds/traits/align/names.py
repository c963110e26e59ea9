"""What names and columns in a file of ratings stand for: groups, traits, and the questions of wide
tables, with one row per participant, as survey programs export them.

Qualtrics writes three header rows: names of variables, texts of questions, and import ids as JSON.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stereometer.core.errors import DataError, did_you_mean
from stereometer.core.tables import read_table
from stereometer.kinds.traits.abc.files import SocialGroup, Trait

EVERYBODY = "average people"
"""Rated as a yardstick: no template speaks of them."""
BETWEEN = ("to", "or", "vs", "versus")
"""What may stand between two poles."""
PLAIN = re.compile(r"\b(how|are|is|the|a|an|people)\b ?")

Scales = dict[str, tuple[str, bool]]
"""By spelling: a trait, and whether its scale is turned, so that 100 is its left pole."""


class Names:
    """Every name that a group or trait goes by. Those of a run come first: it knows its groups and
    traits without the tables they came from."""

    def __init__(
        self,
        groups: Iterable[SocialGroup],
        traits: Iterable[Trait],
        run_groups: Iterable[str] = (),
        run_traits: Iterable[str] = (),
    ) -> None:
        named = {spelling(name): group.name for group in groups for name in group.names}
        self.groups = {EVERYBODY: EVERYBODY} | named | {spelling(name): name for name in run_groups}
        known = {trait.name: trait for trait in traits}
        asked = {name: Trait(name, "", *name.partition(" - ")[::2]) for name in run_traits}
        self.traits = _scales(known.values()) | _scales(asked.values())
        self.poles = _poles((asked | known).values())
        self._in_text = _any_of(self.groups), _any_of(self.traits), _any_of(self.poles)

    def group(self, name: str, where: str) -> str:
        return self.groups[_spelled("group", name, self.groups, where)]

    def trait(self, name: str, where: str) -> tuple[str, bool]:
        """The trait, and whether its scale is turned; one pole stands for the scale towards it."""
        scales = self.poles | self.traits
        known = {key: trait for key, (trait, _) in scales.items()}
        return scales[_spelled("trait", name, known, where)]

    def asked(self, question: str) -> tuple[set[str], str]:
        """The groups that a question names, and the scale of which it names both poles or one. One
        pole is enough only where nothing is said of it that could turn it: "warm", "... are warm",
        "How warm are ...?"."""
        groups, scales, _ = self._in_text
        text, item = spelling(question), spelling(re.split(r"\s-\s|[_:]", question)[-1])
        # the last one: "wealthy_poor:wealthy" is about the wealthy
        both = re.match(f".*{scales.pattern}", text)
        pole = item if item in self.poles else PLAIN.sub("", groups.sub("", item)).strip()
        scale = both[1] if both else pole if pole in self.poles else ""
        rest = text.replace(scale, "|") if scale else text
        return {self.groups[match[1]] for match in groups.finditer(rest)}, scale

    def pole(self, question: str) -> str:
        """A pole that a question names, however it does."""
        found = self._in_text[2].search(spelling(question))
        return found[1] if found else ""


def spelling(name: str) -> str:
    """Only the words, in lower case, without what stands between two poles."""
    return " ".join(word for word in re.findall(r"[^\W_]+", name.casefold()) if word not in BETWEEN)


def _scales(traits: Collection[Trait]) -> Scales:
    turned = {spelling(f"{trait.right} {trait.left}"): (trait.name, True) for trait in traits}
    return turned | {
        spelling(name): (trait.name, False)
        for trait in traits
        for name in (trait.name, f"{trait.left} {trait.right}", *trait.also)
    }


def _poles(traits: Iterable[Trait]) -> Scales:
    """Of single poles, those that belong to one trait only."""
    every = [
        (spelling(pole), (trait.name, turned))
        for trait in traits
        for pole, turned in ((trait.left, True), (trait.right, False))
    ]
    counts = Counter(pole for pole, _ in every)
    return {pole: scale for pole, scale in every if pole and counts[pole] == 1}


def _any_of(spellings: Iterable[str]) -> re.Pattern[str]:
    """Any of them as whole words, the longest first; an English plural may end them."""
    longest = sorted(filter(None, spellings), key=len, reverse=True)
    return re.compile(rf"\b({'|'.join(map(re.escape, longest))})(?:e?s)?\b")


def _spelled(kind: str, name: str, known: Mapping[str, str], where: str) -> str:
    """Its spelling; raises where there is none of that name."""
    if spelling(name) in known:
        return spelling(name)
    hint = did_you_mean(spelling(name), known)
    raise DataError(
        f"{where}: there is no {kind} called '{name}'. {hint}{' ' if hint else ''}"
        f"The run's {kind}s are known, and those that `stereometer show abc` lists; a table that "
        f"you give with --{kind}s brings other names, in its column `also`."
    )


PERSON = "ResponseId"
UNWANTED = {
    "Status": {"survey preview", "survey test", "spam", "1", "2", "8", "9", "17"},
    "Finished": {"false", "0"},
    "DistributionChannel": {"preview", "test"},
}
"""Rows that Qualtrics itself marks as trials, as spam or as not finished, in words or in codes."""
ORDER = re.compile(r"_DO(_|$)")
"""Columns of Qualtrics that hold the order in which items were shown."""
SHOWN = 16
"""Columns that a note names."""
QUESTION = ("column", "group", "trait")
WAY_OUT = (
    "Say what columns ask in a table of column, group, trait, and give that with --questions; for "
    "a column that is not a rating leave group and trait empty."
)

Table = Sequence[tuple[int, Mapping[str, Any]]]
Row = tuple[str, str, str, str, object]
"""Where it stands, participant, group, trait, rating."""
Asked = Mapping[str, tuple[str, str]]
"""By column, the group and the trait that it asks about; empty where that is not known."""


def wide_rows(
    path: Path, table: Table, names: Names, questions: Path | None
) -> tuple[list[Row], list[str]]:
    """Every answer, and notes on what was read and what was left out."""
    texts, people, notes = _without_trials(table)
    given = _given(questions, texts, names) if questions else {}
    guessed = _guessed(path, {name: texts[name] for name in texts if name not in given}, names)
    columns = {name: cell for name, cell in {**guessed, **given}.items() if all(cell)}
    if not columns:
        raise DataError(
            f"{path} has no column that can be recognised as ratings. Its columns are "
            f"{', '.join(texts)[:300]}. If it has one row per rating, name the columns: --column "
            f"participant=NAME,group=NAME,trait=NAME,rating=NAME. {WAY_OUT}"
        )
    read = []
    for name, (group, scale) in columns.items():
        trait, turned = names.trait(scale, name)
        read.append(f"{name} ({group}, {trait}{', turned' if turned else ''})")
    more = [f"and {len(read) - SHOWN} more"] if read[SHOWN:] else []
    notes.append(f"Columns read as ratings: {'; '.join([*read[:SHOWN], *more])}.")
    rows: list[Row] = []
    for line, row in people:
        person = str(row.get("participant") or row.get(PERSON) or f"line {line}")
        for name, cell in columns.items():
            rows.append((f"{path}, line {line}, {name}", person, *cell, row[name]))
    return rows, notes


def _without_trials(table: Table) -> tuple[Mapping[str, str], Table, list[str]]:
    """What each column asks, the rows of participants, and how many rows were left out."""
    headers = 0  # rows that hold the texts of questions or the import ids
    for at, (_, row) in enumerate(table[:2], 1):
        ids = any(str(cell).startswith('{"ImportId"') for cell in row.values())
        headers = at if ids or row.get(PERSON) == "Response ID" else headers
    texts = {name: str(text) if headers else name for name, text in table[0][1].items()}
    kept, left_out = [], Counter[str]()
    for line, row in table[headers:]:
        marks = [name for name in UNWANTED if spelling(str(row.get(name, ""))) in UNWANTED[name]]
        if marks and (headers or PERSON in row):
            left_out[f"{marks[0]} {row[marks[0]]}"] += 1
        else:
            kept.append((line, row))
    counts = ", ".join(f"{count} ({mark})" for mark, count in left_out.items())
    return texts, kept, [f"Rows of the export that were left out: {counts}."] if counts else []


def _guessed(path: Path, texts: Mapping[str, str], names: Names) -> Asked:
    """From the text of a question, then from the name of its variable. A group that every question
    names is part of the wording: "How do most Americans see ...?"
    """
    found = {}
    for name, text in texts.items():
        groups, trait = names.asked(text) if not ORDER.search(name) else (set(), "")
        of_variable = names.asked(name)
        found[name] = groups or of_variable[0], trait or of_variable[1]
    rated = [groups for groups, trait in found.values() if groups and trait]
    wording = set.intersection(*rated) if len(set(map(frozenset, rated))) > 1 else set()
    columns = {name: (groups - wording, trait) for name, (groups, trait) in found.items()}
    for name, (groups, trait) in columns.items():
        pole = names.pole(texts[name])
        if (trait and len(groups) != 1) or (pole and len(groups) == 1 and not trait):
            missing = f"a trait, only {pole!r}" if pole and groups else "one group"
            raise DataError(
                f"{path}: the column {name} ({texts[name][-200:]!r}) does not name {missing}. It "
                f"cannot be told what it asks. {WAY_OUT}"
            )
    return {name: (min(groups, default=""), trait) for name, (groups, trait) in columns.items()}


def _given(path: Path, texts: Mapping[str, str], names: Names) -> Asked:
    """From a table of column, group, trait."""
    found = {}
    for line, row in read_table(path, QUESTION):
        name, group, trait = (row[key].strip() for key in QUESTION)
        where = f"{path}, line {line}"
        if name not in texts:
            hint = did_you_mean(name, {known: known for known in texts})
            raise DataError(
                f"{where}: the ratings have no column '{name}'. {hint or 'So it cannot be read.'} "
                "Write it as in the first row of the ratings."
            )
        if group or trait:
            names.trait(trait, where)
        found[name] = group and names.group(group, where), trait
    return found
