"""The report as a file: what is in it, whatever the runs hold."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
from dataclasses import asdict
from html.parser import HTMLParser
from importlib import resources
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import stereometer
from stereometer.core import catalog
from stereometer.core.compare import compare
from stereometer.core.errors import DataError, StereometerError, UsageError
from stereometer.core.runs import store
from stereometer.core.shapes.shape import Shape
from stereometer.core.show import numbers
from stereometer.core.show.figure import FILLS, Figure, fill_of
from stereometer.core.show.slices import named
from stereometer.core.show.table import Table, number, text
from stereometer.core.types import Estimate, Score, Settings, Variant
from stereometer.report import tables, write_report
from stereometer.report.charts.frame import mark
from stereometer.report.charts.plane import contour
from stereometer.report.load import groups_of
from stereometer.report.page import coded, safe_json, script
from stereometer.report.sections.section import Section
from stereometer.report.systems import Group
from tests.builders.commands import call
from tests.builders.stored import only, sealed

ATTACK = "</script><script>alert(1)</script>"


MEASURES = {"cat": "cat-pseudo-likelihood", "pair": "pair-likelihood"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two systems under `sound`, one of them also under `paper`: folders such as fake-sound/cat."""
    home = tmp_path_factory.mktemp("runs")
    systems: list[tuple[str, Variant]] = [
        ("fake", "sound"),
        ("stereotyped", "sound"),
        ("fake", "paper"),
    ]
    for model, variant in systems:
        for shape, measure in MEASURES.items():
            place = home / f"{model}-{variant}" / shape
            stereometer.run(
                "starter",
                model=model,
                variant=variant,
                measure=[measure],
                resamples=100,
                out=home / "made",
                cache=False,
            )
            place.parent.mkdir(exist_ok=True)
            only(home / "made").rename(place)
    (home / "made").rmdir()
    return home


@pytest.fixture
def copied(runs: Path, tmp_path: Path) -> Path:
    """A CAT run that a test may spoil."""
    return Path(shutil.copytree(runs / "fake-sound" / "cat", tmp_path / "run"))


class Elements(HTMLParser):
    """Start tags with their attributes, and the text that a reader sees."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.shown: list[str] = []
        self._hidden = 0
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.shown.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.shown))


def page(paths: list[Path], tmp_path: Path) -> tuple[str, Elements]:
    html = write_report(paths, tmp_path / "report.html").read_text("utf-8")
    return html, Elements(html)


def data_of(html: str) -> Any:
    """What the scripts of a page read, with the items of its sections under `items`."""
    found = re.findall(r'<script type="application/json" id="([^"]*)">(.*?)</script>', html, re.S)
    data = {id_: json.loads(text) for id_, text in found}
    items = {id_.removesuffix("-items-data"): one for id_, one in data.items() if "-items" in id_}
    return data["report-data"] | {"items": items}


def layers_of(html: str) -> list[Any]:
    return [
        layer
        for charts in data_of(html)["charts"].values()
        for chart in charts
        for layer in chart["spec"]["layer"]
    ]


# ----------------------------------------------------------------------------------- two at a time


@pytest.mark.long
@pytest.mark.parametrize("shape", MEASURES)
def test_two_systems_are_compared_on_the_same_items_as_by_the_command(
    runs: Path, tmp_path: Path, shape: str
) -> None:
    places = [runs / f"{model}-sound" / shape for model in ("fake", "stereotyped")]
    html, found = page(places, tmp_path)
    (pair,) = compare(*places, resamples=100).pairs
    overall = [one for one in pair.differences if not one.slice]
    assert overall
    for one in overall:
        name = one.name.removeprefix("pair_")
        assert f"{name} {numbers.signed(one.difference)} [" in found.text
        assert (
            f"{one.verdict} ({numbers.p_value(one.p_adjusted)})".replace(numbers.NO_BREAK, " ")
            in found.text
        )
    assert f"{len(pair.flips)} items changed preference" in found.text
    (chart,) = data_of(html)["charts"]["s1-differences-0"]
    values = [
        row["value"]
        for layer in chart["spec"]["layer"]
        for row in layer["data"]["values"]
        if "fill" in row
    ]
    assert sorted(set(values)) == pytest.approx(sorted({one.difference for one in overall}))


def test_several_systems_say_what_chance_gives_and_correct_in_a_column(
    runs: Path, tmp_path: Path
) -> None:
    places = [runs / f"{model}-sound" / "cat" for model in ("fake", "stereotyped")]
    _, found = page(places, tmp_path)
    tested = sum(
        row.p_adjusted is not None for place in places for row in stereometer.load(place).estimates
    )
    assert f"{tested} rows of 2 runs were tested, in" in found.text
    assert "ss over systems Holm over 2" in found.text
    _, alone = page(places[:1], tmp_path)
    assert "rows of" not in alone.text
    assert "over systems" not in alone.text


def test_small_slices_stand_beside_their_partly_pooled_values(runs: Path, tmp_path: Path) -> None:
    group = groups_of([runs / "fake-sound" / "cat"])[0][1]
    slices = group.slices("ss")
    table = tables.estimates(group, "ss", slices, "ss by slice")
    assert table.columns[-1].text == "partly pooled"
    assert "No verdict rests on it" in table.foot
    cells = {row[0].text: row[-1].text for row in table.rows}
    assert not cells["overall"]
    raw = [row.value for _, row in group.placed("ss", slices) if [*row.slice] == ["domain"]]
    drawn = [
        float(cells[named(row.slice)].split()[0])
        for _, row in group.placed("ss", slices)
        if [*row.slice] == ["domain"]
    ]
    assert max(drawn) - min(drawn) < np.ptp(np.array(raw, dtype=float))


def test_one_system_and_runs_without_items_are_not_compared(
    runs: Path, copied: Path, tmp_path: Path
) -> None:
    assert (
        "Two systems on the same items" not in page([runs / "fake-sound" / "cat"], tmp_path)[1].text
    )
    (copied / "scores.jsonl").unlink()
    assert (
        "Two systems on the same items"
        not in page([copied, runs / "stereotyped-sound" / "cat"], tmp_path)[1].text
    )


# ---------------------------------------------------------------------------------------- escaping


def test_names_and_texts_cannot_leave_their_place(copied: Path, tmp_path: Path) -> None:
    def attack(value: dict[str, Any]) -> None:
        value["model"] = value["data"]["title"] = value["notes"][0] = ATTACK
        for one in value["estimates"]:
            if "target" in one["slice"]:
                one["slice"]["target"] = f"\"'{ATTACK}"

    lines = (copied / "scores.jsonl").read_text("utf-8").splitlines()
    first = json.loads(lines[0])
    first["texts"]["context"] = f"{ATTACK}<!--\u2028"
    (copied / "scores.jsonl").write_text("\n".join([json.dumps(first), *lines[1:]]), "utf-8")
    html, found = page([sealed(copied, attack)], tmp_path)
    assert "<script>alert(1)" not in html
    assert [attributes for tag, attributes in found.tags if tag == "script"] == [
        {"type": "application/json", "id": "s1-items-data"},
        {"type": "application/json", "id": "report-data"},
        {},
        {},
    ]
    assert data_of(html)["items"]["s1"]["items"][0][2] == f"{ATTACK}<!--\u2028"


def test_embedded_json_escapes_what_could_end_a_script() -> None:
    text = "</script>&<!--\u2028\u2029"
    assert not set("<>&\u2028\u2029") & set(safe_json([text]))
    assert json.loads(safe_json([text])) == [text]


def test_embedded_json_refuses_nan() -> None:
    with pytest.raises(ValueError):
        safe_json(float("nan"))


def test_backticks_become_code_and_nothing_else_becomes_markup() -> None:
    assert coded("`<b>` & <i>") == "<code>&lt;b&gt;</code> &amp; &lt;i&gt;"
    assert coded("one ` alone") == "one ` alone"


def test_a_script_that_would_end_early_is_refused() -> None:
    with pytest.raises(ValueError):
        script("x = '</SCRIPT>'")


def test_the_page_allows_no_network_and_no_foreign_script(copied: Path, tmp_path: Path) -> None:
    html, found = page([copied], tmp_path)
    policy = next(
        attributes["content"]
        for tag, attributes in found.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert policy.count("'sha256-") == 2
    assert "script-src 'sha256-" in policy
    assert "unsafe-eval" not in policy
    assert not [
        attributes
        for _, attributes in found.tags
        if (attributes.get("src") or attributes.get("href") or "#")[0] not in "#d"
    ]
    assert "sourceMappingURL" not in html


# ------------------------------------------------------------------------------------ what it says


def test_it_opens_with_systems_by_what_was_measured(runs: Path, tmp_path: Path) -> None:
    html, found = page([runs / "fake-sound", runs / "stereotyped-sound" / "cat"], tmp_path)
    table = html[html.index('<table class="matrix"') : html.index("</table>")]
    heads = re.findall(r'<th scope="col"><span class="sort">(.*?)</span>', table)
    assert heads == ["System", "Starter set", "Starter set"]
    rows = [re.findall(r"<t[hd].*?</t[hd]>", row, re.S) for row in table.split("<tr>")[2:]]
    assert [len(row) for row in rows] == [3, 3]
    ss = stereometer.load(runs / "fake-sound" / "cat").estimate("ss")
    assert f'data-order="{ss.value}"><a href="#s1"><b>{numbers.number(ss.value)}</b>' in rows[0][1]
    assert numbers.interval(ss) in rows[0][1]
    assert f"</svg>{numbers.short(ss)}</small>" in rows[0][1]
    assert 'class="mark pale"' in rows[0][0]
    assert 'class="mark filled"' in rows[1][1]
    assert "not measured" in rows[1][2]
    folds = [one for tag, one in found.tags if tag == "details" and one.get("class") == "fold"]
    assert len(folds) == 6  # notes, two sections, method, meaning, citations
    assert not any("open" in one for one in folds)


def test_a_note_is_said_once_and_numbered_where_it_belongs(runs: Path, tmp_path: Path) -> None:
    _, found = page([runs / "fake-sound", runs / "stereotyped-sound"], tmp_path)
    notice = "must not be published as a measurement of a model"
    assert found.text.count(notice) == 1
    assert found.text.index(notice) < found.text.index("fake: undecided.")
    results = [stereometer.load(place.parent) for place in runs.glob("*-sound/*/result.json")]
    assert all(found.text.count(note) == 1 for result in results for note in result.notes)


@pytest.mark.parametrize(
    ("beyond", "near", "fill"),
    [
        (True, False, "filled"),
        (True, True, "filled"),
        (False, False, "hollow"),
        (False, True, "dotted"),
        (None, None, "pale"),
    ],
)
def test_the_inside_of_a_mark_has_one_meaning(
    beyond: bool | None, near: bool | None, fill: str
) -> None:
    row = Estimate("ss", {}, 51.0, 50.0, 52.0, 9, 9, 0, 50.0, beyond_noise=beyond, equivalent=near)
    assert fill_of(row) == fill
    drawn = mark("red", "M0,0", row)
    assert drawn["fill"] == ("red" if fill in ("filled", "pale") else "var(--paper)")
    assert ("dot" in drawn, drawn["tint"] < 1) == (fill == "dotted", fill == "pale")
    assert [key.fill for key in FILLS] == ["filled", "hollow", "dotted", "pale"]


def test_a_missing_value_shows_why_and_never_nan(runs: Path, tmp_path: Path) -> None:
    html, found = page([runs / "stereotyped-sound"], tmp_path)
    lms = stereometer.load(runs / "stereotyped-sound" / "cat").estimate("lms")
    confidence = stereometer.load(runs / "stereotyped-sound" / "pair").estimate(
        "confidence_median_difference"
    )
    assert f"No lms is given: {lms.why}." in found.text
    assert f"No difference of confidence is given: {confidence.why}." in found.text
    assert not re.search(r"\bnan\b|\bNaN\b|\bNone\b|\bundefined\b", found.text)
    assert not any("null" in json.dumps(layer["data"]) for layer in layers_of(html))


def test_coverage_below_the_floor_is_explained(copied: Path, tmp_path: Path) -> None:
    why = "only 10 of 480 items were answered, below the coverage floor of 90%"

    def cover(value: dict[str, Any]) -> None:
        for one in value["estimates"]:
            one.update(
                value=None, low=None, high=None, p=None, p_adjusted=None, verdict=None, why=why
            )

    _, found = page([sealed(copied, cover)], tmp_path)
    assert f"fake: {why}." in found.text
    assert f"No ss is given: {why}." in found.text


def test_published_values_stand_beside_ours_with_their_source(copied: Path, tmp_path: Path) -> None:
    def publish(value: dict[str, Any]) -> None:
        for one in value["estimates"]:
            if one["name"] == "ss" and not one["slice"]:
                one["published"] = {"value": 12.34, "source": "A paper, table 9"}

    _, found = page([sealed(copied, publish)], tmp_path)
    assert "Published: ss 12.3 (A paper, table 9)." in found.text
    assert "published 12.3" in found.text


def test_every_number_of_a_table_has_interval_ideal_verdict_and_denominator(
    copied: Path, tmp_path: Path
) -> None:
    _, found = page([copied], tmp_path)
    for words in (
        "interval",
        "ideal",
        "from ideal",
        "used of asked",
        "verdict",
        "p, adjusted",
        "480 of 480",
    ):
        assert words in found.text


def test_how_it_was_measured_and_what_to_cite(copied: Path, tmp_path: Path) -> None:
    result = stereometer.load(copied)
    _, found = page([copied], tmp_path)
    for words in (
        result.data["digest"],
        result.data["licence"],
        result.data["population"],
        result.versions["numpy"],
        result.data["citation"],
        *{row.test for row in result.estimates if row.test},
    ):
        assert words in found.text
    assert "What it does not mean" in found.text
    assert "A score near 50 is not proof of fairness" in found.text


# ---------------------------------------------------------------------------------------- sections


def test_variants_and_measures_never_share_a_section(runs: Path, tmp_path: Path) -> None:
    html, found = page(
        [runs / "fake-sound", runs / "fake-paper", runs / "stereotyped-sound"], tmp_path
    )
    ids = [
        attributes["id"]
        for tag, attributes in found.tags
        if tag == "section" and re.fullmatch(r"s\d+", attributes.get("id") or "")
    ]
    assert len(ids) == 4  # cat and pair, sound and paper
    labels = {
        id_: [system["label"] for system in items["systems"]]
        for id_, items in data_of(html)["items"].items()
    }
    assert sorted(map(len, labels.values())) == [1, 1, 2, 2]


def test_other_items_are_another_section(runs: Path, copied: Path, tmp_path: Path) -> None:
    other = sealed(copied, lambda value: value["data"].update(digest="0" * 64))
    html, _ = page([runs / "fake-sound" / "cat", other], tmp_path)
    assert list(data_of(html)["items"]) == ["s1", "s2"]


def test_the_same_model_twice_is_told_apart_and_the_same_run_is_shown_once(
    runs: Path, copied: Path, tmp_path: Path
) -> None:
    one = runs / "fake-sound" / "cat"
    html, _ = page([one, one / "result.json", copied], tmp_path)
    assert [system["label"] for system in data_of(html)["items"]["s1"]["systems"]] == [
        "fake (cat)",
        "fake (run)",
    ]


def test_ids_are_unique_and_headings_are_in_order(runs: Path, tmp_path: Path) -> None:
    _, found = page([runs / "fake-sound", runs / "fake-paper"], tmp_path)
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    levels = [int(tag[1]) for tag, _ in found.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.long
def test_a_report_of_many_systems_stays_small(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four times the systems that are shown: a row more for each, and nothing else."""
    for copy in range(16):
        shutil.copytree(runs / "fake-sound" / "cat", tmp_path / "many" / f"{copy:02}")
    for module, name, most in (("systems", "MOST_SYSTEMS", 4), ("items", "MOST_ITEMS", 100)):
        monkeypatch.setattr(f"stereometer.report.{module}.{name}", most)
    many, found = page([tmp_path / "many"], tmp_path)
    few, _ = page([tmp_path / "many" / f"{copy:02}" for copy in range(4)], tmp_path)
    assert len(many) - len(few) < 12 * 3000
    assert "of the first 4 of 16 systems" in found.text
    assert all(f"fake ({copy:02})" in found.text for copy in range(16))
    items = data_of(many)["items"]["s1"]
    assert (len(items["items"]), len(items["systems"]), items["left_out"]) == (100, 4, 380)
    assert "380 more items are not in this page." in found.text


@pytest.mark.long
def test_what_a_page_leaves_out_is_in_files_beside_it(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for copy in range(6):
        shutil.copytree(runs / "fake-sound" / "cat", tmp_path / "many" / f"{copy}")
    whole = stereometer.write_report([tmp_path / "many"], tmp_path / "page.html")
    assert not (tmp_path / "page-items").exists()
    monkeypatch.setattr("stereometer.report.systems.MOST_SYSTEMS", 2)
    written = stereometer.write_report([tmp_path / "many"], whole).read_text("utf-8")
    links = re.findall(r'href="(page-items/[^"]+)"', written)
    texts = [(tmp_path / link).read_text("utf-8") for link in links]
    items, scores = ([*csv.DictReader(text.splitlines())] for text in texts)
    assert (len(items), len(scores)) == (480, 6 * 480)
    assert items[0]["context"] not in written.partition("<script")[0]
    by_system = {row["system"] for row in scores}
    assert by_system == {f"fake ({copy})" for copy in range(6)}
    assert all(float(row["stereotype"]) <= 0 for row in scores if not row["skipped"])
    monkeypatch.undo()
    stereometer.write_report([tmp_path / "many"], whole)
    assert not (tmp_path / "page-items").exists()


def test_a_result_without_scores_still_has_a_report(copied: Path, tmp_path: Path) -> None:
    (copied / "scores.jsonl").unlink()
    html, found = page([copied], tmp_path)
    assert data_of(html)["items"] == {}
    assert "there are no items to show" in found.text


# ------------------------------------------------------------------------------------------- files


def test_the_path_is_returned_and_nothing_else_is_left(copied: Path, tmp_path: Path) -> None:
    place = tmp_path / "deep" / "report.html"
    assert write_report([copied], str(place)) == place
    assert [one.name for one in place.parent.iterdir()] == ["report.html"]


def test_without_a_run_the_command_takes_those_kept_here(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(copied, tmp_path / "stereometer-runs" / "one")
    monkeypatch.chdir(tmp_path)
    assert "Written to stereometer-report.html" in call("report").err
    assert "Stereotypes in fake" in Path("stereometer-report.html").read_text("utf-8")


def test_the_same_runs_give_the_same_bytes(copied: Path, tmp_path: Path) -> None:
    first, second = (
        write_report([copied], tmp_path / name).read_bytes() for name in ("a.html", "b.html")
    )
    assert first == second


def test_a_failure_leaves_the_old_report(copied: Path, tmp_path: Path) -> None:
    place = tmp_path / "report.html"
    place.write_text("old")
    with pytest.raises(DataError):
        write_report([copied, tmp_path / "nothing"], place)
    assert place.read_text() == "old"


def test_a_wrong_path_is_refused_in_three_sentences(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no result\.json\. .*\. .*\."):
        write_report([tmp_path], tmp_path / "report.html")


def test_no_run_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        write_report([], tmp_path / "report.html")


def test_a_result_without_a_number_is_refused(copied: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no estimate\. .*\. .*\."):
        write_report(
            [sealed(copied, lambda value: value.update(estimates=[]))], tmp_path / "report.html"
        )


def test_a_place_that_cannot_be_written_is_explained(copied: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StereometerError, match="cannot be written"):
        write_report([copied], tmp_path / "file" / "report.html")


# --------------------------------------------------------------------------------------- the parts


@pytest.mark.parametrize("level", [10, 50, 90])
def test_contours_are_where_icat_is_constant(level: int) -> None:
    for lms, ss in contour(level):
        assert lms * min(ss, 100 - ss) / 50 == pytest.approx(level)


@pytest.mark.parametrize("name", ["vega.min.js", "vega-lite.min.js", "vega-interpreter.js"])
def test_vendored_files_are_those_of_the_readme(name: str) -> None:
    folder = resources.files("stereometer.report").joinpath("vendor")
    digest = hashlib.sha256(folder.joinpath(name).read_bytes()).hexdigest()
    assert f"| {name} |" in folder.joinpath("README.md").read_text("utf-8")
    assert digest in folder.joinpath("README.md").read_text("utf-8")


# ------------------------------------------------------------------------------ any kind of result


@pytest.fixture
def unknown(runs: Path, tmp_path: Path) -> list[Path]:
    """Two runs of a kind that nobody declared, with a metric of its own."""
    places = []
    for model in ("fake", "stereotyped"):
        source, place = runs / f"{model}-sound" / "pair", tmp_path / model
        place.mkdir()
        lines = (source / "scores.jsonl").read_text("utf-8").splitlines()
        scores = [json.loads(line) for line in lines]
        for index, score in enumerate(scores):
            score["values"] = {"surprise": float(index % 7) + (model == "fake") * (index % 3)}
        (place / "scores.jsonl").write_text("\n".join(map(json.dumps, scores)), "utf-8")
        counted = Shape().summarize(map(Score.from_json, scores), Settings(resamples=100))
        stored = json.loads((source / "result.json").read_text("utf-8"))
        stored |= {"kind": "surprise", "estimates": [asdict(estimate) for estimate in counted]}
        (place / "result.json").write_text(json.dumps(stored), "utf-8")
        places.append(sealed(place))
    return places


def test_an_unknown_kind_gets_a_table_a_forest_and_a_comparison(
    unknown: list[Path], runs: Path, tmp_path: Path
) -> None:
    html, elements = page([*unknown, runs / "fake-sound" / "cat"], tmp_path)
    charts = data_of(html)["charts"]
    assert {"s1-surprise", "s1-differences-0", "s2-ss"} <= charts.keys()
    assert "Forest plot of surprise for 2 systems" in charts["s1-surprise"][0]["description"]
    assert "fake to stereotyped: surprise" in elements.text
    assert "changed preference" not in elements.text
    overall = stereometer.load(unknown[0]).estimate("surprise")
    assert f"{overall.value:.1f} [" in elements.text


@pytest.mark.parametrize("alone", [True, False])
def test_a_metric_of_its_own_in_a_known_kind_is_shown(
    copied: Path, tmp_path: Path, alone: bool
) -> None:
    def change(stored: dict[str, Any]) -> None:
        own = [row | {"name": "mine"} for row in stored["estimates"] if row["name"] == "ss"]
        stored["estimates"] = own if alone else [*stored["estimates"], *own]

    charts = data_of(page([sealed(copied, change)], tmp_path)[0])["charts"]
    assert {"s1-mine"} <= charts.keys()
    assert ("s1-ss" in charts) != alone


def test_each_result_and_its_scores_are_loaded_once(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[tuple[str, Path]] = []
    for name in ("load_result", "read_scores"):
        real = getattr(store, name)

        def counted(path: Path, *known: Any, name: str = name, real: Any = real) -> Any:
            loaded.append((name, path))
            return real(path, *known)

        monkeypatch.setattr(store, name, counted)
    page([runs / "fake-sound", runs / "stereotyped-sound"], tmp_path)
    assert len(loaded) == len(set(loaded)) == 8


def test_a_section_and_a_figure_are_one_entry_each(
    unknown: list[Path], runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Surprises(Section):
        title = "Surprises"

        def lead(self, group: Group) -> list[str]:
            return [f"{len(group.systems)} systems were surprised."]

    def counts(group: Group) -> list[Figure]:
        rows = tuple((system.cell, number(str(len(system.scores)))) for system in group.systems)
        table = Table((text("System"), number("items")), rows, "How many items")
        return [Figure(f"{group.id}-counts", "Counted", tables=(table,))]

    entries = {"surprise": Surprises(), "cat/counts": counts}
    monkeypatch.setattr(catalog, "_plugins", lambda kind: _points(entries, kind))
    html, elements = page([*unknown, runs / "fake-sound" / "cat"], tmp_path)
    assert "2 systems were surprised." in elements.text
    assert "s1-surprise" in data_of(html)["charts"]
    assert "Surprises" in elements.text
    assert "How many items" in elements.text
    assert ("section", {"id": "s2-counts-figure"}) in elements.tags


def _points(entries: dict[str, Any], kind: str) -> dict[str, Any]:
    """As installed packages offer sections."""
    if kind != "section":
        return {}
    return {
        name: SimpleNamespace(load=lambda entry=entry: entry) for name, entry in entries.items()
    }


def test_one_colour_means_one_thing() -> None:
    """Systems, sides and readings share no colour, in the light and in the dark."""
    css = resources.files("stereometer.report").joinpath("assets", "report.css").read_text("utf-8")
    meaning = r"--(?:system-\d|more|less|read|unread|refused): (#[0-9a-f]{6})"
    light, dark = (re.findall(meaning, block) for block in css.split("@media screen")[:2])
    assert len(light) == len(set(light)) == len(dark) == len(set(dark)) == 12


def test_a_section_is_named_by_its_file_and_limit(copied: Path, tmp_path: Path) -> None:
    def own(value: Any) -> None:
        value["data"].update(source="/somewhere/my items.csv", as_released=False)
        value["settings"]["limit"] = 1200

    _, found = page([sealed(copied, own)], tmp_path)
    assert "my items.csv, limit 1,200, cat-pseudo-likelihood" in found.text
