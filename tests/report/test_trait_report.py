"""Groups and traits in the report: pictures, words and tables, alone and beside other runs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.kinds.traits.section import coloured
from stereometer.report import write_report
from stereometer.report.load import groups_of
from tests.builders.ratings import DEFAULT, TRAITS, two_sided
from tests.builders.stored import only, sealed
from tests.builders.trait_pages import trait_runs
from tests.builders.trait_runs import GROUPS, TEMPLATES, stored_run, synthetic_ratings


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return trait_runs(tmp_path_factory.mktemp("runs"))


def charts_of(page: str) -> dict[str, list[dict[str, object]]]:
    found = re.search(
        r'<script type="application/json" id="report-data">(.*?)</script>', page, re.DOTALL
    )
    assert found
    return dict(json.loads(found[1])["charts"])


@pytest.mark.long
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
    assert "The verdict" not in page
    tested = [row.beyond_noise for row in stereometer.load(runs["trait"]).estimates]
    known = [row for row in tested if row is not None]
    assert f"<b>{sum(known)} of {len(known)}</b>" in page
    assert "doctor" in page


def test_what_a_paper_printed_stands_beside_agreement(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "aligned"
    shutil.copytree(only(runs["alignment"]), folder)

    def publish(result: dict[str, Any]) -> None:
        for row in result["estimates"]:
            if row["name"] == "tau" and not row["slice"]:
                row["published"] = {"value": 0.199, "source": "A paper, table 6"}

    sealed(folder, publish)
    page = write_report([folder], tmp_path / "report.html").read_text()
    assert "0.199" in page
    assert "Published values: A paper, table 6." in page


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


def test_a_dimension_keeps_its_colour() -> None:
    """Whatever the order in which a file of ratings names the traits."""
    first = coloured({"a - b": "Agency", "c - d": "Beliefs", "e - f": "Communion"})
    other = coloured({"e - f": "Communion", "c - d": "Beliefs", "a - b": "Agency"})
    assert {name: trait.colour for name, trait in first.items()} == {
        name: trait.colour for name, trait in other.items()
    }


FEW = ("man", "teenager", "elderly", "doctor", "blind")
SURE = {("doctor", TRAITS[0]), ("doctor", TRAITS[9]), ("teenager", TRAITS[15])}


def partly_sure(template: str, group: str, trait: str) -> float:
    """Far from 0 whatever the template in three cells, about 0 in all others."""
    place = TEMPLATES.index(template) - 1
    return 5 + place / 1000 if (group, trait) in SURE else place + TRAITS.index(trait) / 100


@pytest.fixture(scope="module")
def partly(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, object]]]:
    """The charts of a profile and of people beside it, who were asked for the traits backwards."""
    home = tmp_path_factory.mktemp("partly")
    run = stored_run(home / "run", partly_sure, FEW)
    backwards = {cell: mean for cell, mean in reversed(two_sided().items()) if cell[0] in FEW}
    rated = synthetic_ratings(home / "ratings.json", backwards)
    stereometer.align(run, ratings=rated, out=home / "aligned", resamples=200)
    return charts_of(write_report([run, home / "aligned"], home / "report.html").read_text())


@pytest.mark.parametrize("figure", ["s1-profile", "s2-people"])
def test_a_mark_is_filled_in_the_cells_beyond_noise_and_in_no_other(
    partly: dict[str, list[dict[str, object]]], figure: str
) -> None:
    tips = {True: set[str](), False: set[str]()}
    for chart in partly[figure]:
        for row in points_of(chart):
            if str(row["tip"]).startswith("synthetic, "):
                cell = str(row["tip"]).removeprefix("synthetic, ").split(":")[0]
                tips[row["fill"] == row["colour"]].add(cell)
    assert tips[True] == {f"{group}\n{trait}" for group, trait in SURE}
    assert len(tips[False]) == len(FEW) * len(TRAITS) - len(SURE)


def test_a_dimension_has_one_colour_in_all_figures(
    partly: dict[str, list[dict[str, object]]],
) -> None:
    dimension_of = {trait.name: trait.dimension for trait in DEFAULT.traits}
    colours: dict[str, set[str]] = {}
    for chart in partly["s1-profile"] + partly["s2-people"]:
        for axis in chart["spec"]["layer"][1]["data"]["values"]:  # type: ignore[index]
            dimension = dimension_of[f"{axis['left']} - {axis['right']}"]
            colours.setdefault(dimension, set()).add(axis["colour"])
    assert [len(seen) for seen in colours.values()] == [1, 1, 1]
    assert len(set.union(*colours.values())) == 3


def test_meetings_have_a_graph_and_a_table(runs: dict[str, Path], tmp_path: Path) -> None:
    page = write_report([runs["intersection"]], tmp_path / "report.html").read_text()
    assert "s1-domination-0-0" in charts_of(page)
    assert "race/ethnicity" in page
    assert page.count("<td>above</td>") == 50
    assert page.count("<td>below</td>") == 50


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
