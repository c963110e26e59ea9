"""What every exporter says of every result, whatever its format."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any, cast

import pytest

import stereometer
from stereometer.core import catalog
from stereometer.report import write_report
from stereometer.wings.exports import figures
from stereometer.wings.exports.exporter import export_runs as export
from tests.builders.stored import only, sealed

MARK = "<i>[x](y)</i>\u202e `|` "
FACTS = {"limit": "7919", "of": "104729", "n": "3571", "asked": "4001", "variant": "paper"}
NOTE = "Weights were cut to 4 bits."


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that says what no other run says."""
    folder = tmp_path_factory.mktemp("run")
    how: dict[str, Any] = {"measure": "cat-sum-likelihood", "resamples": 100, "cache": False}
    stereometer.run("starter", model="fake", limit=40, out=folder, **how)

    def plant(value: dict[str, Any]) -> None:
        value["settings"]["limit"], value["variant"] = int(FACTS["limit"]), FACTS["variant"]
        value["data"] |= {"of": int(FACTS["of"]), "publishable": True}
        value["notes"] += [NOTE, MARK]
        value["model"] = f"{MARK}fake; $(touch x)"
        for row in value["estimates"]:
            row |= {"n": int(FACTS["n"]), "asked": int(FACTS["asked"])}

    return sealed(folder, plant)


@pytest.fixture
def written(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(figures, "can_convert", lambda: False)  # pictures say what tables say

    def texts(name: str, *runs: Path) -> str:
        files = export(name, runs or [run], tmp_path / name)
        return "\n".join(file.read_text("utf-8") for file in files)

    return texts


@pytest.mark.parametrize("name", catalog.names("exporter"))
def test_every_export_says_how_and_on_what(name: str, run: Path, written: Any) -> None:
    result, text = stereometer.load(run), written(name).replace(",", "")
    stated = {**FACTS, "measure": "cat-sum-likelihood", "note": NOTE.replace(",", "")}
    stated["digest"] = str(result.data["digest"])[:12]
    assert [key for key, value in stated.items() if value not in text] == []


@pytest.mark.parametrize("name", ["model-card", "figures", "lm-eval"])
def test_names_mean_nothing_in_markdown(name: str, written: Any, tmp_path: Path) -> None:
    written(name)
    text = "".join(file.read_text("utf-8") for file in (tmp_path / name).rglob("*.md"))
    assert "\\<i>" in text
    outside = text.split("```")[0] + text.split("```")[-1]
    assert "<i>" not in outside.replace("\\<i>", "")
    assert "](y)" not in outside.replace("\\](y)", "")
    assert "\u202e" not in text
    commands = re.findall(r"^stereometer run .*", text, re.MULTILINE)
    assert all("fake; $(touch x)" in shlex.split(line)[4] for line in commands)


CATS = stereometer.open_benchmark("starter").items("cat")[:60]
TERMS = sorted({cat.slices["target"] for cat in CATS})


@pytest.fixture(scope="module")
def hidden(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two runs on CATs whose texts are held back."""
    folder, shape = tmp_path_factory.mktemp("hidden"), cast("Any", catalog.shape("cat"))
    file = shape.write(folder / "held.json", CATS, hidden=True)
    how: dict[str, Any] = {"data": file, "resamples": 100, "cache": False}
    for model in ("fake", "random"):
        stereometer.run("custom", model=model, out=folder / model, **how)
    return [only(folder / model) for model in ("fake", "random")]


@pytest.mark.parametrize("name", [name for name in catalog.names("exporter") if name != "lm-eval"])
def test_terms_of_hidden_items_stay(name: str, written: Any, hidden: list[Path]) -> None:
    """`lm-eval` refuses such a run."""
    text = written(name, *hidden)
    assert [term for term in TERMS if re.search(rf"\b{term}\b", text)] == []
    assert "rows of single terms are left out" in text


def test_terms_of_hidden_items_stay_out_of_the_report(tmp_path: Path, hidden: list[Path]) -> None:
    text = write_report(hidden, tmp_path / "report.html").read_text("utf-8")
    own = re.sub(r"<script>.*?</script>|<style>.*?</style>", "", text, flags=re.DOTALL)
    assert [term for term in TERMS if re.search(rf"\b{term}\b", own)] == []
    assert "rows of single terms are left out" in own
