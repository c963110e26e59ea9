"""Groups and traits in the report: pictures, words and tables, alone and beside other runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import stereometer
from stereometer.report import write_report
from stereometer.report.load import groups_of
from stereometer.report.sections.trait import coloured
from tests.builders.stored import only
from tests.builders.trait_pages import trait_runs
from tests.builders.trait_runs import GROUPS


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return trait_runs(tmp_path_factory.mktemp("runs"))


def charts_of(page: str) -> dict[str, list[dict[str, object]]]:
    found = re.search(
        r'<script type="application/json" id="report-data">(.*?)</script>', page, re.DOTALL
    )
    assert found
    return dict(json.loads(found[1])["charts"])


def test_each_kind_of_run_is_a_section(runs: dict[str, Path]) -> None:
    sections = groups_of(list(runs.values()))
    assert [group.first.kind for _, group in sections] == ["trait", "alignment", "intersection"]
    titles = [section.title for section, _ in sections]
    assert titles == ["Profiles of groups", "Agreement with people", "Where groups meet"]


def test_every_group_has_a_profile_of_sixteen_axes(runs: dict[str, Path], tmp_path: Path) -> None:
    page = write_report([runs["trait"]], tmp_path / "report.html").read_text()
    pictures = charts_of(page)["s1-profile"]
    assert len(pictures) == len(GROUPS)
    poles = json.dumps(pictures[0]["spec"])
    assert all(
        word in poles for word in ("powerless", "powerful", "science-oriented", "altruistic")
    )
    assert "does not say that it is true" in page.replace("\n", " ")
    assert "doctor" in page


def test_people_stand_beside_models(runs: dict[str, Path], tmp_path: Path) -> None:
    page = write_report([runs["alignment"]], tmp_path / "report.html").read_text()
    charts = charts_of(page)
    assert {"s1-tau-0", "s1-people"} <= charts.keys()
    assert "people, man" in json.dumps(charts["s1-people"])
    assert "best possible" in json.dumps(charts["s1-tau-0"])
    assert "it is no merit" in page


def points_of(chart: dict[str, object]) -> list[dict[str, object]]:
    layers = chart["spec"]["layer"]  # type: ignore[index]
    return [row for layer in layers for row in layer["data"]["values"] if "shape" in row]


def test_marks_of_models_beside_people_are_filled_as_in_the_profile(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    """Sixteen of a group: filled only where the run's own test finds something."""
    page = write_report([runs["trait"], runs["alignment"]], tmp_path / "report.html").read_text()
    charts = charts_of(page)
    for alone, beside in zip(charts["s1-profile"], charts["s2-people"], strict=True):
        profile = {row["y"]: str(row["fill"]) for row in points_of(alone)}
        models = {
            row["y"]: str(row["fill"])
            for row in points_of(beside)
            if "people," not in str(row["tip"])
        }
        assert len(models) == 16
        assert sorted(profile.values()) == sorted(models.values())


def test_a_dimension_keeps_its_colour() -> None:
    """Whatever the order in which a file of ratings names the traits."""
    first = coloured({"a - b": "Agency", "c - d": "Beliefs", "e - f": "Communion"})
    other = coloured({"e - f": "Communion", "c - d": "Beliefs", "a - b": "Agency"})
    assert {name: trait.colour for name, trait in first.items()} == {
        name: trait.colour for name, trait in other.items()
    }


def test_meetings_have_a_graph_and_a_table(runs: dict[str, Path], tmp_path: Path) -> None:
    page = write_report([runs["intersection"]], tmp_path / "report.html").read_text()
    assert "s1-domination-0-0" in charts_of(page)
    assert "race/ethnicity" in page
    assert page.count("<td>above</td>") == 50
    assert page.count("<td>below</td>") == 50


def test_they_stand_beside_other_runs(runs: dict[str, Path], tmp_path: Path) -> None:
    starter = tmp_path / "starter"
    stereometer.run("starter", model="random", out=starter, resamples=200, cache=False)
    page = write_report(
        [tmp_path / "starter", *runs.values()], tmp_path / "report.html"
    ).read_text()
    assert "Profiles of groups" in page
    assert "Preference for stereotypes" in page


def test_halves_of_people_stand_beside_every_tau(runs: dict[str, Path], tmp_path: Path) -> None:
    page = write_report([runs["alignment"]], tmp_path / "report.html").read_text()
    result = json.loads((only(runs["alignment"]) / "result.json").read_text())
    halves = [
        one
        for one in result["estimates"]
        if one["name"] == "human_split_half_tau" and one["value"] is not None
    ]
    assert {tuple(one["slice"]) for one in halves} == {(), ("dimension",), ("group",)}
    rows = re.findall(r"<tr>.*?</tr>", page, re.DOTALL)
    for one in halves:
        place = " / ".join(one["slice"].values()) or "overall"
        (row,) = [row for row in rows if ">tau<" in row and f">{place}<" in row]
        assert f"{one['value']:.3f} [" in row


def test_the_command(runs: dict[str, Path], tmp_path: Path) -> None:
    from tests.builders.commands import call

    said = call("report", *runs.values(), "-o", tmp_path / "report.html", "--json")
    assert said.json["schema"] == "report@1"
