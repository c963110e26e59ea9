"""Target terms from Wikidata: what a study of stereotypes starts from (Nadeem et al. 2021, 4.1).

The query service exports CSV, TSV and two kinds of JSON. People have an occupation (P106), an
ethnic group (P172) and a religion (P140); a query lists those with their labels, once for each
person or once with a count. Terms that are hardly used, and terms that are inside others, are
flagged: a person decides.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from stereometer.core.errors import DataError, UsageError
from stereometer.core.files import begins_with, read_json, read_lines
from stereometer.core.options import Option, pairs_in, verb
from stereometer.core.show.view import View, line, records
from stereometer.core.tables import read_table, write_csv
from stereometer.core.types.document import UNSTORED, Document
from stereometer.core.types.packages import check_packages
from stereometer.core.types.shown import Shown

DOMAINS = {"P106": "profession", "P172": "race", "P140": "religion"}
"""What each property of a person gives terms for."""
RARE = 3.0
"""On the Zipf scale: once in a million words."""
UNLABELLED = re.compile(r"Q\d+")
"""What the service writes where a thing has no label in the language asked for."""
ENTITY = re.compile(r"(?:^|/)(Q\d+)>?$")
LITERAL = re.compile(r'"(.*)"(?:@[\w-]+|\^\^\S+)?', re.DOTALL)
"""A value in the service's TSV: `"nurse"@en`."""
COUNTS = ("count", "people", "n")
MOST_TERMS = 20
"""Of a list that is shown from its start."""
Zipf = Callable[[str], float]
"""How common a word is: the logarithm of its frequency per thousand million."""
Row = Mapping[str, str]


@dataclass(frozen=True)
class TargetTerm:
    """A row of the table."""

    target: str
    domain: str
    wikidata: str
    """The ids of what goes by this label."""
    people: int
    """Rows of the export, or what its column of counts says."""
    zipf: float
    rare: bool
    contains: str
    """Other terms of the table inside this one."""


@dataclass(frozen=True, repr=False)
class Terms(Shown, Document):
    """The table, and where it was written."""

    unlabelled: int
    """Rows without a label, left out."""
    terms: tuple[TargetTerm, ...]
    file: Path | None = field(default=None, metadata=UNSTORED)
    schema: str = "terms@1"

    def view(self) -> View:
        rows = [
            {
                "term": row.target,
                "people": row.people,
                "frequency (Zipf)": row.zipf,
                "rare": "rare" if row.rare else "",
                "contains": row.contains,
            }
            for row in self.terms[:MOST_TERMS]
        ]
        rare = sum(row.rare for row in self.terms)
        inside = sum(bool(row.contains) for row in self.terms)
        more = f" The first {MOST_TERMS} are shown." if len(self.terms) > MOST_TERMS else ""
        counts = (
            f"{len(self.terms)} terms: {rare} rare, {inside} with another term inside; "
            f"{self.unlabelled} rows without a label left out.{more}"
        )
        return View(parts=(*records(rows), line(counts)))

    @property
    def remarks(self) -> list[str]:
        return [f"Written to {self.file}."] if self.file else []


@verb
def terms(
    file: Annotated[str | Path, "What the Wikidata query service exported: CSV, TSV or JSON."],
    *,
    property_: Annotated[
        str | None,
        Option("P106 (profession), P172 (race) or P140 (religion).", flags=("--property",)),
    ] = None,
    domain: Annotated[str | None, "The domain of the terms, in place of --property."] = None,
    language: Annotated[str, "Language whose word frequencies are taken."] = "en",
    column: Annotated[
        Mapping[str, str] | None,
        Option("The column of labels: label=NAME.", words=list[str], read=pairs_in),
    ] = None,
    out: Annotated[str | Path | None, "Write the table to this CSV file."] = None,
) -> Terms:
    """Turn an export of Wikidata into a table of target terms; rare and nested ones are flagged."""
    of = domain_of(property_, domain)
    listed = terms_in(Path(file), of, zipf_in(language), (column or {}).get("label"))
    return listed if out is None else replace(listed, file=write(Path(out), listed.terms))


def terms_in(path: Path, domain: str, zipf: Zipf, label: str | None = None) -> Terms:
    """The terms of an export, the commonest word first."""
    people: Counter[str] = Counter()
    spelt: dict[str, str] = {}
    ids: dict[str, dict[str, None]] = {}
    unlabelled = 0
    for row in read_export(path):
        column = _label(row, label, path)
        name = " ".join(unicodedata.normalize("NFC", row[column]).split())
        if not name or UNLABELLED.fullmatch(name):
            unlabelled += 1
            continue
        key = name.lower()
        spelt.setdefault(key, name)
        people[key] += _people(row, path)
        ids.setdefault(key, {}).update(dict.fromkeys(_ids(row, column)))
    inside = nested(people)
    rows = [
        TargetTerm(
            spelt[key],
            domain,
            " ".join(ids[key]),
            count,
            round(zipf(spelt[key]), 2),
            zipf(spelt[key]) < RARE,
            "; ".join(spelt[other] for other in inside.get(key, ())),
        )
        for key, count in people.items()
    ]
    if not rows:
        raise DataError(
            f"{path} has no labelled term. Ask the query service for labels, with "
            "`SERVICE wikibase:label`. Export it again."
        )
    return Terms(unlabelled, tuple(sorted(rows, key=lambda row: (-row.zipf, row.target))))


def domain_of(property_: str | None, domain: str | None) -> str:
    """The domain that a user names, or that of a property."""
    if domain:
        return domain
    if property_ not in DOMAINS:
        known = ", ".join(f"{name} ({of})" for name, of in DOMAINS.items())
        raise UsageError(
            f"There is no domain for {property_ or 'the terms'}. The properties that are known are "
            f"{known}. Name one with --property, or the domain itself with --domain."
        )
    return DOMAINS[property_]


def zipf_in(language: str) -> Zipf:
    """How common a term is on the Zipf scale, by wordfreq."""
    check_packages("Frequencies of terms", ["wordfreq"], "lexicon")
    from wordfreq import zipf_frequency

    return lambda term: float(zipf_frequency(term, language))


def nested(names: Iterable[str]) -> dict[str, list[str]]:
    """By term, the other terms that stand in it as whole words, the longest first."""
    spelt = {name: tuple(re.findall(r"\w+", name)) for name in names}
    known = {words: name for name, words in spelt.items()}
    inside: dict[str, list[str]] = {}
    for name, words in spelt.items():
        parts = (
            words[start : start + length]
            for length in range(len(words) - 1, 0, -1)
            for start in range(len(words) - length + 1)
        )
        others = list(dict.fromkeys(known[part] for part in parts if part in known))
        if others:
            inside[name] = others
    return inside


def read_export(path: Path) -> Iterator[Row]:
    """Rows of an export, as plain values."""
    if begins_with(path) in ("{", "["):
        yield from _json_rows(path, read_json(path))
        return
    with closing(read_lines(path)) as lines:
        header = next(row for row in lines if row.strip()).rstrip("\n").split("\t")
        if len(header) > 1 or header[0].startswith("?"):
            yield from _tsv_rows(path, [name.lstrip("?") for name in header], lines)
            return
    yield from (row for _, row in read_table(path, []))


def _tsv_rows(path: Path, header: Sequence[str], lines: Iterable[str]) -> Iterator[Row]:
    """Values are marked as in SPARQL, not quoted as in CSV."""
    for row in lines:
        values = row.rstrip("\n").split("\t")
        if row.strip() and len(values) != len(header):
            raise DataError(
                f"{path} has a row without {len(header)} fields. It is cut off or was edited. "
                "Download it again."
            )
        if row.strip():
            yield dict(zip(header, map(_plain, values), strict=True))


def _plain(value: str) -> str:
    """A value of the service's TSV without its marks."""
    literal = LITERAL.fullmatch(value)
    if literal:
        return literal[1].replace('\\"', '"')
    return value[1:-1] if value[:1] == "<" and value[-1:] == ">" else value


def _json_rows(path: Path, value: Any) -> Iterator[Row]:
    """Both kinds: a list of objects, or the bindings of the SPARQL protocol."""
    if isinstance(value, dict):
        results = value.get("results")
        value = results.get("bindings") if isinstance(results, dict) else None
    if not isinstance(value, list) or not all(isinstance(row, dict) for row in value):
        raise DataError(
            f"{path} is not an export of the Wikidata query service. It has no list of rows. "
            "Download the result as CSV, TSV or JSON."
        )
    for row in value:
        yield {
            str(name): str(cell.get("value", "") if isinstance(cell, dict) else cell)
            for name, cell in row.items()
        }


def _label(row: Row, label: str | None, path: Path) -> str:
    """The column of labels: the one named, the first that ends in `Label`, or the only one."""
    columns = [label] if label else [name for name in row if name.endswith("Label")]
    columns = columns or (list(row) if len(row) == 1 else [])
    if not columns or columns[0] not in row:
        raise DataError(
            f"{path} has no column of labels among {', '.join(row)[:300]}. The query service calls "
            "it itemLabel. Name yours with --column label=NAME."
        )
    return columns[0]


def _people(row: Row, path: Path) -> int:
    text = next((row[name] for name in row if name.lower() in COUNTS), "1").strip()
    if not re.fullmatch(r"\d{1,18}", text):
        raise DataError(
            f"{path} has the count {text[:40]!r}. It is a number of people. Fix the row."
        )
    return int(text)


def _ids(row: Row, label: str) -> Iterator[str]:
    """What has the label: the column it is named after, or the only one with ids. Others hold the
    people who have an occupation or a religion: their ids are not the term's."""
    found = {name: match[1] for name, value in row.items() if (match := ENTITY.search(value))}
    named = label.removesuffix("Label")
    if named == label:  # a column of the user's own
        named = next(iter(found), "") if len(found) == 1 and "person" not in found else ""
    return iter([found[named]] if named in found else ())


def write(path: Path, rows: Sequence[TargetTerm]) -> Path:
    values = (asdict(row) | {"rare": "yes" if row.rare else ""} for row in rows)
    return write_csv(path, [TargetTerm.__annotations__, *(row.values() for row in values)])
