"""What a study leaves behind loads everywhere, and says of itself what really happened."""

from __future__ import annotations

import ast
import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stereometer.core.errors import UsageError
from stereometer.wings.people import export
from stereometer.wings.people.database import open_database
from stereometer.wings.people.export import export_study, payment_rows, write_payments
from stereometer.wings.people.new import new_study
from stereometer.wings.people.rehearsal import MANNERS, rehearse
from stereometer.wings.people.study import Study
from tests.builders.commands import call
from tests.builders.studies import set_toml, small_survey

FIELDS = (
    "A. Curation rationale", "B. Language variety", "C. Speaker demographic",
    "D. Annotator demographic", "E. Speech situation", "F. Text characteristics",
    "G. Recording quality", "H. Other", "I. Provenance appendix",
)  # fmt: skip
"""Of a data statement (Bender and Friedman 2018, section 5)."""
KINDS = ("survey", "write-cats", "validate-cats", "write-pairs", "validate-pairs")


@dataclass(frozen=True)
class Exported:
    study: Study
    out: Path
    document: dict[str, Any]

    def table(self, name: str) -> list[dict[str, str]]:
        with (self.out / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))


@pytest.fixture(scope="module", params=KINDS)
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """A small study of each kind, filled by simulated people, once for all tests."""
    folder, kind = tmp_path_factory.mktemp("export"), request.param
    if kind == "survey":
        small_survey(folder / "s")
    else:
        new_study(kind, folder / "s", sample=6 if kind.startswith("validate") else None)
    shares = {"careful": 1.0} if kind.startswith("validate") else MANNERS  # or items stay open
    study, _ = rehearse(folder / "s", 8, seed=5, shares=shares)
    return Exported(study, folder / "out", export_study(study, folder / "out"))


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_croissant_is_valid_and_its_records_can_be_read(exported: Exported) -> None:
    import mlcroissant  # type: ignore[import-untyped]

    dataset = mlcroissant.Dataset(jsonld=exported.out / "croissant.json")
    assert not dataset.metadata.issues.errors
    for record_set in dataset.metadata.record_sets:
        rows = exported.table(f"{record_set.name}.csv")
        assert len(list(dataset.records(record_set.id))) == len(rows)


def test_croissant_says_only_what_the_authors_have_said(tmp_path: Path) -> None:
    study, _ = rehearse(small_survey(tmp_path / "s").folder, 2)
    export_study(study, tmp_path / "out")
    document = json.loads((tmp_path / "out" / "croissant.json").read_text(encoding="utf-8"))
    assert not {"license", "url"} & set(document)
    licence = "https://spdx.org/licenses/CC-BY-4.0.html"
    export_study(set_toml(study.folder, licence=licence), tmp_path / "again")
    document = json.loads((tmp_path / "again" / "croissant.json").read_text(encoding="utf-8"))
    assert document["license"] == licence


@pytest.mark.long
def test_the_data_statement_has_every_field_filled(exported: Exported) -> None:
    document = exported.document
    text = (exported.out / "data-statement.md").read_text(encoding="utf-8")
    sections = dict(part.split("\n", 1) for part in text.split("\n## ")[1:])
    assert tuple(sections) == FIELDS
    assert all(section.strip() for section in sections.values())
    assert f"{document['participants']} people gave consent" in text
    assert all(fact in sections["A. Curation rationale"] for fact in document["facts"])
    assert all(f"`{name}`" in text for name in document["files"][:-2])


@pytest.mark.parametrize("exported", ["write-pairs", "validate-pairs"], indirect=True)
def test_pairs_have_the_released_columns(exported: Exported) -> None:
    rows = exported.table("pairs.csv")
    released = {"sent_more", "sent_less", "stereo_antistereo", "bias_type", "annotations"}
    assert released | {"anon_writer", "anon_annotators"} <= set(rows[0])


@pytest.mark.parametrize("exported", ["validate-cats"], indirect=True)
def test_every_label_of_an_item_says_which_validator_gave_it(exported: Exported) -> None:
    document = json.loads((exported.out / "items.json").read_text(encoding="utf-8"))
    labels = {
        (sentence["id"], label["human_id"], label["label"])
        for items in document["data"].values()
        for item in items
        for sentence in item["sentences"]
        for label in sentence["labels"]
    }
    rows = exported.table("labels.csv")
    assert labels
    assert labels <= {(row["candidate"], row["person"], row["label"]) for row in rows}


@pytest.mark.parametrize("exported", KINDS[1:], indirect=True)
def test_who_left_midway_and_still_counts_is_not_called_excluded(exported: Exported) -> None:
    counted, everybody = exported.document["counted"], exported.document["participants"]
    assert len(exported.table("excluded.csv")) == everybody - counted


@pytest.mark.parametrize("exported", ["survey"], indirect=True)
def test_rehearsed_people_say_who_they_are(exported: Exported) -> None:
    assert any(row["gender"] for row in exported.table("demographics.csv"))


@pytest.mark.parametrize("exported", KINDS[1:], indirect=True)
def test_items_load_with_run_audit_split_and_show(exported: Exported, tmp_path: Path) -> None:
    kind = exported.study.kind.name
    items = exported.out / ("items.json" if kind.endswith("cats") else "pairs.csv")
    document = call("run", items, "--model", "random", "--out", tmp_path / "run", "--json").json
    assert document["results"][0]["estimates"][0]["n"] > 0
    for command in (("audit", items), ("show", items)):
        said = call(*command)
        assert said.code == 0, said.err
    said = call("split", items, "--out", tmp_path / "split")
    assert said.code == 0, said.err


@pytest.mark.parametrize("kind", ["validate-cats", "validate-pairs"])
def test_what_nobody_judged_is_not_exported_as_validated(tmp_path: Path, kind: str) -> None:
    study = new_study(kind, tmp_path / "v", sample=4)
    open_database(study.folder).close()
    (fact, *_) = export_study(study, tmp_path / "out")["facts"]
    assert "0 of 4 items are kept" in fact
    removed = (tmp_path / "out" / "removed.csv").read_text(encoding="utf-8")
    assert removed.count("fewer than 5 people judged it") == 4


def test_an_export_that_was_killed_is_not_in_the_way_of_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, _ = rehearse(small_survey(tmp_path / "s").folder, 2)
    out = tmp_path / "out"
    with monkeypatch.context() as killed:
        killed.setattr(export, "croissant", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            export_study(study, out)
    assert not out.exists()
    assert not list(tmp_path.glob(".out*"))
    (tmp_path / ".out.part").mkdir()
    (tmp_path / ".out.part" / "left.csv").touch()  # as a kill leaves it, which nobody can clear
    export_study(study, out)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "s"]
    with pytest.raises(UsageError, match="not empty"):
        export_study(study, out)


def test_a_whole_validation_of_pairs_swaps_counts_and_names_people_by_number(
    tmp_path: Path,
) -> None:
    writing, _ = rehearse(new_study("write-pairs", tmp_path / "w").folder, 3, seed=2)
    judging = new_study("validate-pairs", tmp_path / "v", str(writing.folder))
    judged, _ = rehearse(judging.folder, 8, seed=2, shares={"careful": 1.0})
    facts = export_study(judged, tmp_path / "out")["facts"]
    assert "items are kept" in facts[0]
    assert not facts[0].startswith("0 of")
    assert "mean majority: 100.0 %" in facts[1]
    with (tmp_path / "out" / "pairs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["anon_writer"] for row in rows} <= {"w0001", "w0002", "w0003"}
    assert all(len(ast.literal_eval(row["anon_annotators"])) == 5 for row in rows)
    assert not (tmp_path / "out" / "bonuses.csv").exists()
    write_payments(judged, tmp_path / "pay.csv")
    bonuses = tmp_path / "pay-bonuses.csv"
    assert bonuses.stat().st_mode & 0o077 == 0
    with bonuses.open(encoding="utf-8", newline="") as file:
        earned = list(csv.DictReader(file))
    assert {row["hash"] for row in earned} <= {row["hash"] for row in payment_rows(writing)}
    assert sum(int(row["valid"]) for row in earned) == len(rows)
