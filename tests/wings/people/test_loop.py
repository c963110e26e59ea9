"""From people to a measured model: whole studies, by simulated people through the real pages."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import stereometer
from stereometer.core.errors import StereometerError
from stereometer.kinds.cats.files import read_cats
from stereometer.wings.people.export import export_study
from stereometer.wings.people.kinds.survey import read_groups, read_traits
from stereometer.wings.people.new import new_study
from stereometer.wings.people.rehearsal import Careful, rehearse
from tests.builders.commands import call
from tests.builders.studies import set_toml
from tests.builders.trait_runs import stored_run
from tests.conftest import default_model

CAREFUL = {"careful": 1.0}


def validated(tmp_path: Path) -> Path:
    """40 CATs that ten people wrote and twenty others validated, exported."""
    writing = new_study("write-cats", tmp_path / "writing").folder
    set_toml(writing, judgements=2)
    written, _ = rehearse(writing, 10, seed=1, shares=CAREFUL)
    judging = new_study("validate-cats", tmp_path / "judging", str(written.folder))
    assert len(judging.units) == 40
    judged, _ = rehearse(judging.folder, 20, seed=2, shares=CAREFUL)
    document = export_study(judged, tmp_path / "data")
    assert "40 of 40 items are kept" in document["facts"][0]
    return tmp_path / "data" / "items.json"


@pytest.mark.long
def test_written_and_validated_items_are_measured_and_reported(tmp_path: Path) -> None:
    default_model("minilm-mlm")
    items = validated(tmp_path)
    cats = read_cats(items)
    assert {len(each.votes) for cat in cats for each in cat.candidates.values()} == {5}
    options = ("--model", "minilm-mlm", "--resamples", 200)
    said = call("run", items, *options, "--out", tmp_path / "run")
    assert said.code == 0, said.err
    report = call("report", tmp_path / "run", "-o", tmp_path / "report.html")
    assert report.code == 0, report.err
    assert "minilm-mlm" in (tmp_path / "report.html").read_text(encoding="utf-8")
    (path,) = (tmp_path / "run").rglob("result.json")
    result = json.loads(path.read_text(encoding="utf-8"))
    overall = next(each for each in result["estimates"] if each["name"] == "ss")
    assert overall["asked"] == 40


@pytest.mark.long
def test_a_survey_comes_out_of_align_with_the_structure_that_people_have(tmp_path: Path) -> None:
    folder = new_study("survey", tmp_path / "survey").folder
    lines = (folder / "groups.csv").read_text(encoding="utf-8").splitlines()[:7]
    (folder / "groups.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    study = set_toml(folder, judgements=8)
    labels = {label: name for name, label in study.cached(read_groups).items()}
    traits = {trait.right: trait.name for trait in study.cached(read_traits)}
    groups, names = list(labels.values()), list(traits.values())

    def mean(group: str, trait: str) -> float:
        return 20 + 4 * ((7 * groups.index(group) + 5 * names.index(trait)) % 16)

    def seen(label: str, pole: str) -> float:
        return mean(labels[label], traits[pole])

    filled, _ = rehearse(folder, 14, seed=4, careful=Careful(seen), shares=CAREFUL)
    export_study(filled, tmp_path / "data")
    run = stored_run(
        tmp_path / "run", lambda _, group, trait: mean(group, trait), groups=tuple(groups)
    )
    result = stereometer.align(run, ratings=tmp_path / "data" / "ratings.csv", resamples=200).result
    assert (result.estimate("tau").value or 0) > 0.8
    cells = [each for each in result.estimates if each.name == "human_mean"]
    assert len(cells) == 6 * 16
    away = [(each.value or 0) - mean(each.slice["group"], each.slice["trait"]) for each in cells]
    assert abs(np.mean(away)) < 2
    assert np.std(away) < 8
    with pytest.raises(StereometerError, match="disjoint on purpose"):
        stereometer.align(run, ratings=tmp_path / "data" / "ratings.csv", by=["gender"])
