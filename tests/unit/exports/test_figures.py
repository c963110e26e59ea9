"""Figures of a report as files: the data always, the pictures where a browser draws them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import stereometer
from stereometer.exports import browser, figures
from stereometer.exports.exporter import export


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a browser and without vl-convert."""
    monkeypatch.setattr(figures, "browser", lambda: None)
    monkeypatch.setattr(figures, "can_convert", lambda: False)


@pytest.mark.usefixtures("alone")
def test_every_chart_has_its_specification_and_data(
    runs: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = export("figures", [runs], tmp_path)
    assert "Nothing here draws charts" in caplog.text
    assert not [file for file in files if file.suffix == ".svg"]
    specs = [file for file in files if file.name.endswith(".vl.json")]
    assert len(files) == len(set(files))
    assert len(specs) > 5
    for file in specs:
        spec = json.loads(file.read_text("utf-8"))
        assert spec["width"]
        assert spec["config"]
        data = file.with_name(file.name.replace(".vl.json", ".csv"))
        with data.open(encoding="utf-8", newline="") as opened:
            rows = list(csv.DictReader(opened))
        assert rows
        assert "colour" not in rows[0]


@pytest.mark.usefixtures("alone")
def test_tables_are_written_twice_with_the_same_cells(cats: Path, tmp_path: Path) -> None:
    files = export("figures", [cats], tmp_path)
    tables = [file for file in files if file.suffix == ".md"]
    assert tables
    for file in tables:
        with file.with_suffix(".csv").open(encoding="utf-8", newline="") as opened:
            rows = list(csv.reader(opened))
        lines = [line for line in file.read_text("utf-8").splitlines() if line.startswith("|")]
        assert len(lines) == len(rows) + 1
        assert rows[-1][0] in lines[-1]
    ss = stereometer.load(cats).estimate("ss")
    written = "".join(file.read_text("utf-8") for file in tables)
    assert f"{ss.value:.1f}" in written


def test_every_chart_is_an_svg_without_a_browser(
    cats: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "browser", lambda: None)
    monkeypatch.setattr(figures, "drawn", None)
    files = export("figures", [cats], tmp_path)
    pictures = {file.name.removesuffix(".svg") for file in files if file.suffix == ".svg"}
    specs = [file for file in files if file.name.endswith(".vl.json")]
    assert pictures == {file.name.removesuffix(".vl.json") for file in specs}
    assert not [file for file in files if file.suffix in (".png", ".pdf")]
    for name in pictures:
        svg = (tmp_path / f"{name}.svg").read_text("utf-8")
        assert ElementTree.fromstring(svg).tag.endswith("svg")
        assert "var(--" not in svg


@pytest.mark.usefixtures("alone")
def test_specifications_have_colours_that_any_tool_knows(cats: Path, tmp_path: Path) -> None:
    files = export("figures", [cats], tmp_path)
    specs = [file for file in files if file.name.endswith(".vl.json")]
    assert all("var(--" not in file.read_text("utf-8") for file in specs)
    assert json.loads(specs[0].read_text("utf-8"))["background"] == "#ffffff"


@pytest.mark.browser
@pytest.mark.skipif(browser.browser() is None, reason="no chromium")
@pytest.mark.usefixtures("alone")
def test_a_browser_draws_svg_png_and_pdf(cats: Path, tmp_path: Path) -> None:
    files = export("figures", [cats], tmp_path / "data")
    spec = next(file for file in files if file.name.endswith("preference.vl.json"))
    drawn = browser.drawn(str(browser.browser()), {"one": json.loads(spec.read_text("utf-8"))})
    root = ElementTree.fromstring(drawn["one"])
    assert root.tag.endswith("svg")
    assert "var(--" not in drawn["one"]
    png, pdf = browser.printed(
        str(browser.browser()), drawn["one"], tmp_path / "one.png", tmp_path / "one.pdf"
    )
    assert png.read_bytes().startswith(b"\x89PNG")
    assert pdf.read_bytes().startswith(b"%PDF")
    assert pdf.read_bytes().count(b"/Type /Page\n") == 1
