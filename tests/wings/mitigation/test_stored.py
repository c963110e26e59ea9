"""Stored runs before and after a mitigation: the verb, the command and the page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import stereometer
from stereometer.core.errors import UsageError
from stereometer.core.runs.store import folder_name
from stereometer.report import write_report
from stereometer.report.load import groups_of
from tests.builders.commands import call
from tests.builders.little import QUICK
from tests.builders.mitigated import card, stamped, stored

PAIRS = "id,sent_more,sent_less,bias_type\n" + "".join(
    f"p{at},The woman {at} napped.,The man {at} napped.,{('gender', 'age')[at % 2]}\n"
    for at in range(60)
)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("mitigated")


@pytest.fixture(scope="module")
def runs(home: Path) -> dict[str, Path]:
    return stored(home)


@pytest.fixture(scope="module")
def beside(home: Path, runs: dict[str, Path]) -> list[Path]:
    """Pairs and facts of the same two models, in the folder of their CATs."""
    (home / "pairs.csv").write_text(PAIRS, "utf-8")
    folders = []
    for seed, (name, of) in enumerate({"small": None, "small+leace": card()}.items()):
        for benchmark in (str(home / "pairs.csv"), "definitional"):
            out = {"seed": seed, "name": name, "out": home / "runs", **QUICK}
            (result,) = stereometer.run(benchmark, model="random", **out)
            tail = f"-{folder_name(name)}-{result.measure.partition('@')[0]}"
            (folder,) = (home / "runs").glob(f"*{tail}")
            folders.append(stamped(folder, of))
    return folders


def test_the_verb_judges_a_mitigation_by_its_control(runs: dict[str, Path]) -> None:
    base, after, control = runs.values()
    comparison = stereometer.compare(base, after, control=control, resamples=100)
    assert comparison.systems == ("small", "small+leace")
    (judged,) = comparison.mitigations
    assert (judged.before, judged.after, judged.control) == (*comparison.systems, "small+control")
    assert judged.verdict == "damage not excluded"
    (targeted,) = judged.targeted
    assert targeted.verdict(True) == "improved"
    (row,) = [
        row
        for row in comparison.pairs[0].differences
        if row.name == "ss" and row.slice == {"domain": "gender"}
    ]
    assert (row.tests, row.p_closer_adjusted) == (1, targeted.from_base.p)
    assert stereometer.compare(base, after, resamples=100).mitigations[0].control is None


def test_cards_say_what_is_before_and_after_and_what_is_neither(runs: dict[str, Path]) -> None:
    base, after, control = runs.values()
    (judged,) = stereometer.compare(after, base, resamples=100).mitigations
    assert (judged.before, judged.after) == ("small", "small+leace")
    assert stereometer.compare(base, control, resamples=100).mitigations == ()
    comparison = stereometer.compare(control, after, resamples=100)
    assert comparison.mitigations == ()
    assert "no verdict" in comparison.notes[-1]
    with pytest.raises(UsageError, match="is not the control"):
        stereometer.compare(base, after, control=after, resamples=100)


def test_a_control_on_other_items_is_refused(
    runs: dict[str, Path], beside: list[Path], tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="not measured alike"):
        stereometer.compare(*list(runs.values())[:2], control=beside[0])


def test_pairs_take_lms_and_facts_from_the_runs_beside_them(
    runs: dict[str, Path], beside: list[Path], tmp_path: Path
) -> None:
    pairs = [beside[0], beside[2]]
    (judged,) = stereometer.compare(*pairs, resamples=100).mitigations
    assert judged.lms is not None
    assert (judged.lms.difference.name, judged.lms.difference.n) == ("lms", 288)
    assert judged.definitional is not None
    assert judged.definitional.benchmark == "definitional"
    assert judged.definitional.difference.n == 100
    alone = [Path(shutil.copytree(pair, tmp_path / pair.name)) for pair in pairs]
    (judged,) = stereometer.compare(*alone, resamples=100).mitigations
    assert judged.lms is None
    assert judged.verdict == "not beyond noise"
    assert any("have no lms" in note for note in judged.notes)


def test_facts_of_another_attribute_say_nothing(beside: list[Path], tmp_path: Path) -> None:
    copies = [Path(shutil.copytree(folder, tmp_path / folder.name)) for folder in beside]
    for folder in copies[2:]:
        stamped(folder, card(attribute="race"))
    (judged,) = stereometer.compare(copies[0], copies[2], resamples=100).mitigations
    assert judged.definitional is None


def test_the_command_prints_the_verdict_first(runs: dict[str, Path]) -> None:
    base, after, control = map(str, runs.values())
    printed = call("compare", base, after, "--control", control, "--resamples", "100").out
    lines = [line for line in printed.splitlines() if line]
    verdict = next(
        at for at, line in enumerate(lines) if "damage not excluded: ss in gender" in line
    )
    table = next(at for at, line in enumerate(lines) if line.startswith("small -> small+leace"))
    assert verdict < table
    assert "without a list word" in printed
    value = call("compare", base, after, "--resamples", "100", "--json").json
    assert value["mitigations"][0]["targeted"][0]["slice"] == {"domain": "gender"}


def test_the_page_shows_before_after_and_control(runs: dict[str, Path], tmp_path: Path) -> None:
    folders = list(runs.values())
    ((section, group),) = groups_of(folders)
    shown = {figure.id: figure for figure in section.view(group).figures}
    figure = shown[f"{group.id}-mitigation"]
    plane, changes = figure.charts
    assert "small to small+control (control, dashed)" in plane.description
    rules = [layer for layer in plane.spec["layer"] if "lms_to" in layer["data"]["values"][0]]
    assert [layer["mark"].get("strokeDash") for layer in rules] == [None, [6, 4]]
    assert any(layer.get("name", "").endswith("-head") for layer in plane.spec["layer"])
    assert "nearer" in changes.description
    assert [table.caption for table in figure.tables] == [
        "small → small+leace, by domain",
        "small → small+leace, by whether items have a word of the lists",
    ]
    html = write_report(folders, tmp_path / "report.html").read_text("utf-8")
    assert "Mitigation small+leace: damage not excluded" in html


def test_a_page_without_mitigations_has_no_such_figure(runs: dict[str, Path]) -> None:
    ((section, group),) = groups_of([runs["small"], runs["small+control"]])
    shown = [figure.id for figure in section.view(group).figures]
    assert f"{group.id}-mitigation" not in shown
