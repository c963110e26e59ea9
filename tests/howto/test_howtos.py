"""The pages for contributors, done as they say: their files written, their commands given."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stereometer.core import catalog

PAGES = Path(__file__).parents[2] / "docs" / "howto"
SOURCE = Path(__file__).parents[2] / "src"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
WITH_DATA = "with the released data"


def _plain(environment: Mapping[str, str]) -> dict[str, str]:
    """Without what tells the pytest of a how-to to count the lines that this one runs."""
    return {name: value for name, value in environment.items() if "SLIPCOVER" not in name}


@dataclass(frozen=True)
class Block:
    language: str
    title: str
    text: str


def blocks(page: str) -> Iterator[Block]:
    for language, title, text in BLOCK.findall((PAGES / page).read_text("utf-8")):
        yield Block(language, title, text)


class Package:
    """A contributor's folder, installed as far as entry points go."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.printed: list[str] = []

    def write(self, page: str) -> None:
        for block in blocks(page):
            if block.title and block.language != "shell":
                path = self.folder / block.title
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(block.text, "utf-8")
        if not (self.folder / "pyproject.toml").exists():
            return
        (self.folder / "mine").mkdir(exist_ok=True)
        for folder in {file.parent for file in (self.folder / "mine").rglob("*.py")}:
            (folder / "__init__.py").touch()
        (self.folder / "mine" / "__init__.py").touch()
        self._install(tomllib.loads((self.folder / "pyproject.toml").read_text("utf-8")))

    def _install(self, project: dict[str, Any]) -> None:
        name, version = project["project"]["name"], project["project"]["version"]
        info = self.folder / f"{name}-{version}.dist-info"
        info.mkdir(exist_ok=True)
        (info / "METADATA").write_text(f"Name: {name}\nVersion: {version}\n", "utf-8")
        lines = [
            line
            for group, points in project["project"]["entry-points"].items()
            for line in (f"[{group}]", *(f"{point} = {place}" for point, place in points.items()))
        ]
        (info / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")

    def follow(self, page: str, title: str = "") -> str:
        """Gives the page's commands; what the last one printed."""
        commands = [
            line
            for block in blocks(page)
            if block.language == "shell" and block.title == title
            for line in block.text.splitlines()
        ]
        assert commands
        for command in commands:
            program, *arguments = shlex.split(command)
            assert program == "stereometer"
            self.printed.append(self.python("-m", "stereometer", *arguments))
        return self.printed[-1]

    def python(self, *arguments: str, fails: int = 0) -> str:
        path = os.pathsep.join((str(self.folder), str(SOURCE)))
        own = {"PYTHONPATH": path, "STEREOMETER_CACHE": str(self.folder / "cache")}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**_plain(os.environ), **own},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == fails, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def result(self, run: str) -> Any:
        (path,) = (self.folder / run).rglob("result.json")
        return json.loads(path.read_text("utf-8"))

    def report(self) -> str:
        return (self.folder / "report.html").read_text("utf-8")


@pytest.fixture
def mine(tmp_path: Path) -> Callable[..., Package]:
    def written(*pages: str) -> Package:
        package = Package(tmp_path)
        for page in pages:
            package.write(page)
        return package

    return written


def overall(result: Any, name: str) -> Any:
    (estimate,) = [row for row in result["estimates"] if row["name"] == name and not row["slice"]]
    return estimate


def test_a_benchmark(mine: Callable[..., Package]) -> None:
    package = mine("add-benchmark.md")
    assert "Winogender as pairs" in package.follow("add-benchmark.md")
    result = package.result("runs/trial")
    slices = [row["slice"] for row in result["estimates"]]
    assert {"occupation": "nurse"} in slices
    assert {"bias_type": "pronoun of the occupation"} in slices
    assert overall(result, "pair_preference")["asked"] == 4
    assert "nurse" in package.printed[0]
    for command in (("analyze", "--data", "trial"), ("audit", "--data", "trial")):
        package.python("-m", "stereometer", command[0], "winogender", *command[1:])
    package.python("-m", "stereometer", "report", "runs/trial", "-o", "report.html")
    assert "Occupation" in package.report()


def test_a_benchmark_with_its_released_data(mine: Callable[..., Package]) -> None:
    data = os.environ.get("STEREOMETER_DATA", "")
    if not data or not (Path(data) / "winogender" / "all_sentences.tsv").exists():
        pytest.skip("Winogender is not on this machine")
    package = mine("add-benchmark.md")
    package.follow("add-benchmark.md", WITH_DATA)
    result = package.result("runs/released")
    card = tomllib.loads((package.folder / "mine/cards/winogender.toml").read_text("utf-8"))
    assert overall(result, "pair_preference")["asked"] == card["counts"]["pair"]
    occupations = {row["slice"].get("occupation") for row in result["estimates"]} - {None}
    assert len(occupations) == 60


def test_packs(mine: Callable[..., Package]) -> None:
    package = mine("packs.md")
    assert "Parejas de ejemplo (2026, Spanish, Spain, native" in package.follow("packs.md")
    assert "counts = { pair = 4 }" in package.printed[0]
    pairs, traits = package.result("runs/parejas"), package.result("runs/rasgos")
    assert {row["slice"].get("bias_type") for row in pairs["estimates"]} == {
        None,
        "age",
        "socioeconomic",
    }
    assert "never tried" in " ".join(pairs["notes"])
    assert traits["data"]["items"] == 3 * 4 * 2
    (scores,) = (package.folder / "runs/rasgos").rglob("scores.jsonl")
    assert "Las abuelas son generosas." in scores.read_text("utf-8")


def test_ratings(mine: Callable[..., Package]) -> None:
    package = mine("ratings.md")
    assert "files in figures" in package.follow("ratings.md")
    _, aligned, mapped, *_ = package.printed
    page = (PAGES / "ratings.md").read_text("utf-8").replace(" ...\n", "\n")
    notes = package.result("aligned")["notes"]
    for note in [
        note for note in page.splitlines() if note.startswith(("Rows of", "Columns read"))
    ]:
        assert any(told.startswith(note) for told in notes), note
    assert "Q5_1 (doctor, powerless - powerful, turned)" in " ".join(mapped.split())
    assert "Q6_3" not in mapped
    assert "1 is 0, 4 is 50, 7 is 100" in aligned
    assert {row["value"] for row in package.result("long")["estimates"]} >= {50.0 + 25 / 3}
    assert "People" in package.report()


def test_a_method(mine: Callable[..., Package]) -> None:
    package = mine("add-method.md")
    package.follow("add-method.md")
    result = package.result("runs/fake")
    assert result["measure"] == "pair-per-word@1"
    assert result["kind"] == "pair"
    assert overall(result, "pair_preference")["value"] is not None
    assert "pair-per-word@1" in package.report()


def test_a_metric(mine: Callable[..., Package]) -> None:
    package = mine("add-metric.md")
    package.follow("add-metric.md")
    result = package.result("runs/fake")
    assert result["kind"] == "gap"
    assert overall(result, "gap")["ideal"] == 0
    ran, _, compared, _ = package.printed
    assert "gap of log-probabilities (ideal 0)" in ran
    assert "gap" in compared
    assert "gap of log-probabilities" in package.report()
    missed = ("run", "starter", "--model", "fake", "--measure", "pair-gap", "--resamples", "200")
    package.python("-m", "stereometer", *missed, "--require", "gap>1000", fails=5)
    package.python("-m", "stereometer", *missed, "--require", "gapp>0", fails=2)


def test_a_kind(mine: Callable[..., Package]) -> None:
    package = mine("add-kind.md")
    package.follow("add-kind.md")
    ran, _, compared, gated, *_ = package.printed
    assert "usual order (ideal 50)" in ran
    assert "Each sentence is read in both orders." in ran
    assert "usual order" in compared
    assert "usual_order" in gated
    result = package.result("runs/other")
    assert (result["kind"], overall(result, "usual_order")["asked"]) == ("mirror", 4)
    with (package.folder / "tables/estimates.csv").open(encoding="utf-8", newline="") as file:
        assert {row["name"] for row in csv.DictReader(file)} == {"usual_order"}
    assert "usual order" in package.report()
    assert "usual order" in (package.folder / "site/index.html").read_text("utf-8")
    for name in [name for name in catalog.names("exporter") if name != "lm-eval"]:  # of CATs alone
        package.python("-m", "stereometer", "export", name, "runs/other", "-o", f"as-{name}")
    assert "usual order" in next((package.folder / "as-model-card").glob("*.md")).read_text("utf-8")
    metrics = (package.folder / "as-metrics/metrics.json").read_text("utf-8")
    assert "mirrors/mirror-likelihood/sound/usual_order" in metrics
    code = [file.read_text("utf-8") for file in (package.folder / "mine/mirrors").glob("*.py")]
    assert sum(len(text.splitlines()) for text in code) <= 150


def test_a_command(mine: Callable[..., Package]) -> None:
    package = mine("add-command.md")
    assert "How far apart the values of stored runs are." in package.follow("add-command.md")
    shown, document = package.printed[-3:-1]
    assert "Spread of values" in shown
    assert json.loads(document)["widths"]["pair_preference"] > 0
    own_help = package.python("-m", "stereometer", "spread", "--help")
    assert "spread runs/random runs/other" in own_help


def test_a_backend(mine: Callable[..., Package]) -> None:
    package = mine("add-backend.md")
    package.follow("add-backend.md")
    for run, weight in (("words", 2.5), ("wrapped", 4.0)):
        for path in (package.folder / "runs" / run).rglob("result.json"):
            card = json.loads(path.read_text("utf-8"))["model_card"]
            assert card["name"] == "mine:words"
            assert card["settings"] == {"weight": weight}
    bare = ("run", "starter", "--model", "fake+four.weight")
    assert "no weights" in package.python("-m", "stereometer", *bare, fails=2)
    package.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_backend.py")
    wrong = ("run", "starter", "--model", "mine:words", "--option")
    assert "It has weight." in package.python("-m", "stereometer", *wrong, "wait=1", fails=2)
    wrong_model = ("run", "starter", "--model", "fake", "--option", "weight=1")
    assert "no options" in package.python("-m", "stereometer", *wrong_model, fails=2)
    assert "weight=x" in package.python("-m", "stereometer", *wrong, "weight=x", fails=2)


def test_a_figure(mine: Callable[..., Package]) -> None:
    package = mine("add-figure.md")
    package.follow("add-figure.md")
    page = package.report()
    assert "Spread of the differences" in page
    assert "Quartiles of the differences" in page


def test_a_section(mine: Callable[..., Package]) -> None:
    package = mine("add-metric.md", "add-section.md")
    package.follow("add-section.md")
    page = package.report()
    assert "Gaps between paired sentences" in page
    assert "The widest gap" in page
    assert "lms" in page


def test_an_exporter(mine: Callable[..., Package]) -> None:
    package = mine("add-exporter.md")
    package.follow("add-exporter.md")
    with (package.folder / "tables/estimates.csv").open(encoding="utf-8", newline="") as file:
        assert {"ss", "pair_preference"} <= {row["name"] for row in csv.DictReader(file)}
    written = (package.folder / "tables/results.md").read_text("utf-8")
    assert "| random | starter | pair_preference | " in written


def test_every_page_about_adding_something_is_followed() -> None:
    followed = set(re.findall(r'"(add-\w+\.md)"', Path(__file__).read_text("utf-8")))
    assert followed == {page.name for page in PAGES.glob("add-*.md")}
