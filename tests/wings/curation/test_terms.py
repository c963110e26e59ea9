"""Target terms from exports of the Wikidata query service."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core.errors import DataError
from stereometer.wings.curation.terms import nested, read_export, terms_in
from tests.builders.commands import assert_refused, call

ENTITY = "http://www.wikidata.org/entity/"
NAMES = {"Q1": "nurse", "Q2": "night nurse", "Q3": "zymologist"}


def as_csv(rows: list[tuple[str, str]]) -> str:
    quoted = (name.replace('"', '""') for _, name in rows)
    lines = [f'{ENTITY}{id_},"{name}"' for (id_, _), name in zip(rows, quoted, strict=True)]
    return "\n".join(["item,itemLabel", *lines]) + "\n"


def as_tsv(rows: list[tuple[str, str]]) -> str:
    lines = (f'<{ENTITY}{id_}>\t"{name}"@en' for id_, name in rows)
    return "\n".join(["?item\t?itemLabel", *lines]) + "\n"


def as_json(rows: list[tuple[str, str]]) -> str:
    return json.dumps([{"item": f"{ENTITY}{id_}", "itemLabel": name} for id_, name in rows])


def as_bindings(rows: list[tuple[str, str]]) -> str:
    bindings = [
        {
            "item": {"type": "uri", "value": f"{ENTITY}{id_}"},
            "itemLabel": {"type": "literal", "xml:lang": "en", "value": name},
        }
        for id_, name in rows
    ]
    return json.dumps({"head": {"vars": ["item"]}, "results": {"bindings": bindings}})


def frequency(term: str) -> float:
    return {"nurse": 4.5, "night nurse": 3.2}.get(term, 0.0)


WRITERS = {"csv": as_csv, "json": as_json, "bindings": as_bindings}


@pytest.mark.parametrize("name", [*WRITERS, "tsv"])
def test_every_export_gives_the_same_table(tmp_path: Path, name: str) -> None:
    rows = [("Q1", "nurse"), ("Q2", "night nurse"), ("Q3", "zymologist"), ("Q9", "Q9")]
    path = tmp_path / "query"
    path.write_text(as_tsv(rows) if name == "tsv" else WRITERS[name](rows))
    listed = terms_in(path, "profession", frequency)
    assert [(row.target, row.wikidata, row.rare, row.contains) for row in listed.terms] == [
        ("nurse", "Q1", False, ""),
        ("night nurse", "Q2", False, "nurse"),
        ("zymologist", "Q3", True, ""),
    ]
    assert listed.unlabelled == 1


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1).filter(
    lambda text: text == " ".join(text.split()) and text[0] not in "<\"'"
)


@pytest.mark.parametrize("name", list(WRITERS))
@given(labels=st.lists(TEXTS, min_size=1, max_size=6))
def test_labels_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, name: str, labels: list[str]
) -> None:
    path = tmp_path_factory.mktemp("export") / "query"
    path.write_text(
        WRITERS[name]([(f"Q{at}", label) for at, label in enumerate(labels)]), encoding="utf-8"
    )
    assert [row["itemLabel"] for row in read_export(path)] == labels


def test_people_are_counted_and_spellings_merged(tmp_path: Path) -> None:
    path = tmp_path / "query.csv"
    path.write_text("itemLabel,count\nNurse,3\nnurse,4\n")
    (row,) = terms_in(path, "profession", frequency).terms
    assert (row.target, row.people) == ("Nurse", 7)
    path.write_text("itemLabel,count\ninfirmi\u00e8re,3\ninfirmie\u0300re,4\n", encoding="utf-8")
    (row,) = terms_in(path, "profession", frequency).terms  # composed and decomposed letters
    assert (row.target, row.people) == ("infirmi\u00e8re", 7)
    path.write_text("itemLabel,count\nNurse,many\n")
    with pytest.raises(DataError, match="the count 'many'"):
        terms_in(path, "profession", frequency)


@pytest.mark.parametrize(
    ("columns", "ids"), [("person,item,itemLabel", "Q5"), ("person,x,itemLabel", "")]
)
def test_ids_of_people_are_not_those_of_their_occupation(
    tmp_path: Path, columns: str, ids: str
) -> None:
    path = tmp_path / "query.csv"
    path.write_text(f"{columns}\n{ENTITY}Q77,{ENTITY}Q5,nurse\n")
    assert [row.wikidata for row in terms_in(path, "profession", frequency).terms] == [ids]


def test_a_term_inside_another_is_found_by_whole_words() -> None:
    names = ["software engineer", "engineer", "engineering", "soft", "actor", "nurse"]
    joined = ["actor, singer", "actor-director", "nurse's aide"]
    assert nested([*names, *joined]) == {
        "software engineer": ["engineer"],
        "actor, singer": ["actor"],
        "actor-director": ["actor"],
        "nurse's aide": ["nurse"],
    }


def test_the_command_writes_the_table_a_study_starts_from(tmp_path: Path) -> None:
    pytest.importorskip("wordfreq")
    path, out = tmp_path / "query.csv", tmp_path / "terms.csv"
    path.write_text(as_csv(list(NAMES.items())))
    said = call("terms", path, "--property", "P106", "--out", out, "--json")
    assert said.code == 0, said.err
    assert {row["target"] for row in said.json["terms"]} == set(NAMES.values())
    with out.open(newline="") as file:
        written = {row["target"]: row for row in csv.DictReader(file)}
    assert written["night nurse"]["contains"] == "nurse"
    assert written["nurse"]["domain"] == "profession"
    assert_refused(call("terms", path, "--property", "P1"), 2, "P106 (profession)")
    path.write_text("a,b\n1,2\n")
    assert_refused(call("terms", path, "--domain", "x"), 4, "--column label=NAME")
