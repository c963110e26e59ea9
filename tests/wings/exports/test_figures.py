"""Figures of a report as files: the data always, the pictures where vl-convert is installed."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import stereometer
from stereometer.core.errors import UsageError
from stereometer.wings.exports import figures
from stereometer.wings.exports.exporter import export_runs as export


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without vl-convert."""
    monkeypatch.setattr(figures, "can_convert", lambda: False)


@pytest.mark.usefixtures("alone")
def test_every_chart_has_its_specification_and_data(
    runs: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = export("figures", [runs], tmp_path)
    assert "From a clone: `pip install '.[figures]'`." in caplog.text
    assert not [file for file in files if file.suffix == ".svg"]
    specs = [file for file in files if file.name.endswith(".vl.json")]
    assert len(files) == len(set(files))
    names = {file.name.removesuffix(".vl.json") for file in specs}
    measured = "starter-cat-pseudo-likelihood-"
    assert any(name.startswith(measured) and "fake" in name for name in names)
    index = (tmp_path / "index.md").read_text("utf-8")
    assert all(f"| {name} |" in index for name in names)
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
        assert ("-table" not in file.stem) or ", data " in file.read_text("utf-8")
        assert rows[-1][0] in lines[-1]
    ss = stereometer.load(cats).estimate("ss")
    written = "".join(file.read_text("utf-8") for file in tables)
    assert f"{ss.value:.1f}" in written


@pytest.mark.usefixtures("alone")
def test_an_export_takes_the_place_of_the_one_before(
    cats: Path, pairs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "figures"
    first = export("figures", [cats], folder)
    with monkeypatch.context() as patched:
        patched.setattr(figures, "_pictures", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            export("figures", [pairs], folder)
    assert sorted(folder.iterdir()) == sorted(first)
    assert sorted(export("figures", [pairs], folder)) == sorted(folder.iterdir())
    assert [path.name for path in tmp_path.iterdir()] == ["figures"]
    (folder / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="holds other files"):
        export("figures", [cats], folder)
    assert (folder / "mine.txt").exists()


@pytest.mark.long
def test_every_chart_is_a_picture_in_three_formats(cats: Path, tmp_path: Path) -> None:
    files = export("figures", [cats], tmp_path)
    known = {file.name: file.read_bytes() for file in files}
    again = export("figures", [cats], tmp_path)
    assert {file.name: file.read_bytes() for file in again} == known
    pictures = {file.name.removesuffix(".svg") for file in files if file.suffix == ".svg"}
    specs = [file for file in files if file.name.endswith(".vl.json")]
    assert pictures == {file.name.removesuffix(".vl.json") for file in specs}
    for name in pictures:
        svg = (tmp_path / f"{name}.svg").read_text("utf-8")
        assert ElementTree.fromstring(svg).tag.endswith("svg")
        assert "var(--" not in svg
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (tmp_path / f"{name}.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.usefixtures("alone")
def test_specifications_have_colours_that_any_tool_knows(cats: Path, tmp_path: Path) -> None:
    files = export("figures", [cats], tmp_path)
    specs = [file for file in files if file.name.endswith(".vl.json")]
    assert all("var(--" not in file.read_text("utf-8") for file in specs)
    assert json.loads(specs[0].read_text("utf-8"))["background"] == "#ffffff"
