"""A run that stops when its bars are decided asks less, and says no more than it knows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import UsageError
from stereometer.core.gate.bars import BarRule, read_bar
from stereometer.core.gate.early_stop import BLOCK, Until, until_decided
from stereometer.core.gate.sequential import unit
from stereometer.core.runs.measure import jobs_for
from stereometer.core.runs.open import open_model
from stereometer.core.runs.stored import run_of
from stereometer.core.types import Asking, Job, Score, Settings, Slice
from stereometer.kinds.pairs.items import Pair
from stereometer.kinds.pairs.metrics import summarize
from stereometer.report.load import groups_of
from tests.builders.commands import Said, call
from tests.builders.little import pick
from tests.builders.sure import sure

CATS, PAIRS = "cat-pseudo-likelihood", "pair-likelihood"


def decided(folder: Path, *more: object, model: str = "fake", bar: str = "ss<=85") -> Said:
    bars = ("--require", bar, "--until-decided", "--out", folder)
    return call("run", "starter", "-m", model, *bars, *more)


def stored(folder: Path) -> stereometer.Result:
    return stereometer.load(next(folder.glob("*/result.json")))


def job_of(measure: str, variant: str = "sound", model: str = "fake") -> Job:
    settings = Settings(variant="paper" if variant == "paper" else "sound")
    (job,) = jobs_for(["starter"], open_model(model, 0), [measure], settings)
    return job


def rules(*bars: str, slice_: Slice | None = None) -> list[BarRule]:
    return [BarRule(read_bar(bar), slice=slice_ or {}) for bar in bars]


def until(measure: str, *bars: str) -> Until:
    stopping = until_decided(job_of(measure), rules(*bars)).stopping
    assert isinstance(stopping, Until)
    return stopping


# ------------------------------------------------------------------------------------------- asking


def test_a_bar_that_is_far_away_is_decided_by_some_of_the_items(tmp_path: Path) -> None:
    said = decided(tmp_path, "--measure", CATS)
    assert said.code == 0
    result = stored(tmp_path)
    assert result.stopped is not None
    asked = result.stopped["asked"]
    assert BLOCK <= asked < result.stopped["of"] == 480
    assert result.stopped["decided"] is True
    lines = next(tmp_path.glob("*/scores.jsonl")).read_text("utf-8").splitlines()
    assert len(lines) == asked
    assert f"Asked {asked} of 480 items ({asked / 480:.0%})" in said.err


def test_the_whole_run_afterwards_takes_the_answers_from_the_cache(tmp_path: Path) -> None:
    decided(tmp_path / "part", "--measure", CATS)
    asked = _record(tmp_path / "part")["distinct"]
    call("run", "starter", "-m", "fake", "--measure", CATS, "--out", tmp_path / "whole")
    assert _record(tmp_path / "whole")["from_cache"] >= asked


def _record(folder: Path) -> dict[str, int]:
    record = json.loads(next(folder.glob("*/run.json")).read_text("utf-8"))
    counts: dict[str, int] = record["asked"]
    return counts


def test_the_same_plan_gives_the_same_bytes_and_another_bar_another_folder(tmp_path: Path) -> None:
    first, again, other = (tmp_path / name for name in ("first", "again", "other"))
    for folder, bar in ((first, "ss<=85"), (again, "ss<=85"), (other, "ss<=80")):
        decided(folder, "--measure", CATS, bar=bar)
    names = [next(folder.iterdir()).name for folder in (first, again, other)]
    assert names[0] == names[1] != names[2]
    one, two = (next(each.glob("*/scores.jsonl")).read_bytes() for each in (first, again))
    assert one == two


def test_the_verb_stops_as_the_command_does(tmp_path: Path) -> None:
    decided(tmp_path / "command", "--measure", CATS)
    how: dict[str, Any] = {"model": "fake", "measure": CATS, "out": tmp_path / "verb"}
    stop: dict[str, Any] = {"require": "ss<=85", "until_decided": True}
    results = stereometer.run("starter", **stop, **how)
    assert results == [stored(tmp_path / "command")]
    assert results.gate is not None
    with pytest.raises(UsageError, match="--limit and --until-decided were both given"):
        stereometer.run("starter", limit=5, **stop, **how)
    with pytest.raises(UsageError, match="--until-decided needs bars"):
        stereometer.run("starter", until_decided=True, **how)
    with pytest.raises(UsageError, match="names 'pair_preference', which is not measured here"):
        stereometer.run("starter", **{**stop, "require": "pair_preference<=60"}, **how)


def test_terms_are_never_torn_and_the_order_is_the_seeds_not_the_files() -> None:
    stopping = until(CATS, "ss<=85")
    order = [item.id for block in stopping.blocks() for item in block]
    assert sorted(order) == sorted(item.id for item in stopping.items)
    again = until(CATS, "ss<=85")
    again.items = list(reversed(again.items))
    assert [item.id for block in again.blocks() for item in block] == order
    for block in until(CATS, "ss<=85").blocks():
        terms = {item.slices["target"] for item in block}
        whole = [item for item in stopping.items if item.slices["target"] in terms]
        assert len(whole) == len(block)


def test_a_job_that_no_bar_is_about_asks_everything(tmp_path: Path) -> None:
    decided(tmp_path)
    pairs = next(tmp_path.glob(f"*{PAIRS}*/result.json"))
    assert stereometer.load(pairs).stopped is None


# ------------------------------------------------------------------------------------ what it says


def test_the_result_has_only_what_holds_at_every_look(tmp_path: Path) -> None:
    decided(tmp_path, "--measure", CATS)
    result = stored(tmp_path)
    ss = result.estimate("ss")
    assert ss.interval == "t e-process over target terms, holds at every look"
    assert all(each.p is None and each.published is None for each in result.estimates)
    assert result.estimate("icat").value is None
    assert {tuple(each.slice) for each in result.estimates} == {()}
    shown = call("show", tmp_path)
    assert "of 480 items" in shown.out.splitlines()[1]
    assert "hold at every look" in shown.out


def test_gate_agrees_with_the_stop_and_trusts_no_value_alone(tmp_path: Path) -> None:
    decided(tmp_path / "runs", "--measure", CATS)
    ss = stored(tmp_path / "runs").estimate("ss")
    assert ss.value is not None
    assert ss.high is not None
    between = (ss.value + ss.high) / 2
    file = tmp_path / "bars.toml"
    bars = ("ss<=85", f"point(ss)<={between:.2f}", "icat>=10", "point(icat)>=10")
    file.write_text("\n".join(f'[[bars]]\nrequire = "{bar}"' for bar in bars))
    outcomes = [each.outcome for each in stereometer.gate(tmp_path / "runs", bars=file).judged]
    assert outcomes == ["met", "undecided", "undecided", "undecided"]


def test_compare_refuses_it(tmp_path: Path) -> None:
    for model in ("fake", "random"):
        decided(tmp_path / model, "--measure", CATS, model=model)
    folders = [next((tmp_path / model).iterdir()) for model in ("fake", "random")]
    with pytest.raises(UsageError, match="until its bars were decided"):
        stereometer.compare(*folders)


@pytest.mark.long
def test_the_report_sets_it_apart_from_whole_runs(tmp_path: Path) -> None:
    decided(tmp_path / "runs", "--measure", CATS)
    call("run", "starter", "-m", "fake", "--measure", CATS, "--out", tmp_path / "runs")
    groups = [group for _, group in groups_of([tmp_path / "runs"])]
    assert sorted(bool(group.first.stopped) for group in groups) == [False, True]
    assert call("report", tmp_path / "runs", "-o", tmp_path / "page.html").code == 0
    assert "hold at every look" in (tmp_path / "page.html").read_text("utf-8")


def test_exports_say_how_much_was_asked(tmp_path: Path) -> None:
    decided(tmp_path / "runs", "--measure", CATS)
    call("export", "model-card", tmp_path / "runs", "-o", tmp_path / "card")
    card = next((tmp_path / "card").glob("*.md")).read_text("utf-8")
    assert "until every bar was decided" in card
    assert "--require 'ss<=85' --until-decided" in card
    call("export", "hub", tmp_path / "runs", "-o", tmp_path / "hub")
    assert not any((tmp_path / "hub" / ".eval_results").glob("*"))


def test_items_that_run_out_leave_it_undecided_and_name_a_larger_set(tmp_path: Path) -> None:
    said = decided(tmp_path, "--measure", CATS, bar="|ss-50|<=1")
    assert said.code == 7
    assert "480 of 480 items" in said.err
    assert "more items would decide it" in said.err
    near = decided(tmp_path, "--measure", CATS, bar="|ss-50|<=5", model="random")
    assert near.code == 7
    assert "stereoset has 4,229." in near.err


def test_items_that_run_out_say_what_a_whole_run_says_with_half_of_the_error(
    tmp_path: Path,
) -> None:
    """Knowing every item of a set is not knowing others like them."""
    whole = stereometer.run("starter", model="fake", measure=PAIRS, out=tmp_path / "whole")[0]
    one = whole.estimate("pair_preference")
    scores = run_of(sure(whole.folder)).scores
    careful = pick(summarize(scores, Settings(level=0.975)), "pair_preference")
    assert (
        decided(tmp_path / "near", "--measure", PAIRS, bar=f"preference<={one.value:.2f}").code == 7
    )
    last = stored(tmp_path / "near").estimate("pair_preference")
    assert (last.value, last.low, last.high) == (one.value, careful.low, careful.high)
    assert (last.verdict, last.p) == (careful.verdict, one.p)
    assert "at 97.5 %" in str(last.interval)
    assert "97.5 % intervals" in call("show", tmp_path / "near").out


@pytest.mark.parametrize(("above", "code"), [(0.01, 0), (-0.01, 5)])
def test_a_bar_on_the_point_is_decided_by_it_and_says_nothing_else(
    above: float, code: int, tmp_path: Path
) -> None:
    whole = stereometer.run("starter", model="fake", measure=PAIRS, out=tmp_path / "whole")[0]
    bar = f"point(pair_preference)<={sure(whole.estimate('pair_preference').value) + above:.3f}"
    said = decided(tmp_path / "point", "--measure", PAIRS, bar=bar)
    assert said.code == code, said.err
    row = stored(tmp_path / "point").estimate("pair_preference")
    assert (row.low, row.high, row.verdict, row.beyond_noise) == (None, None, None, None)


def test_terms_and_identical_texts_are_drawn_as_wholes() -> None:
    stopping = until(PAIRS, "pair_preference<=59")
    first, second, *_ = stopping.items
    assert isinstance(first, Pair)
    assert isinstance(second, Pair)
    twin = replace(first, id="twin", target="")
    named = [replace(second, id=f"named{at}", target="nurse", sent_more=f"{at}") for at in range(3)]
    shape, alone = stopping.shape, replace(first, target="")
    assert unit(shape, twin) == unit(shape, alone) != unit(shape, replace(second, target=""))
    assert {unit(shape, item) for item in named} == {("nurse",)}


def test_a_point_bar_on_cats_draws_items_and_agrees_with_the_whole_run(tmp_path: Path) -> None:
    stopping = until(CATS, "point(ss)<=99")
    first = next(iter(stopping.blocks()))
    assert len({item.slices["target"] for item in first}) > BLOCK // 6 + 1
    said = decided(tmp_path, "--measure", CATS, bar="point(ss)<=85")
    assert said.code == 0
    ss = stored(tmp_path).estimate("ss")
    assert ss.scope == "the value of all 480 items"
    assert ss.low is not None
    assert ss.high is not None
    whole = stereometer.run("starter", model="fake", measure=CATS, out=tmp_path / "all")[0]
    value = whole.estimate("ss").value
    assert value is not None
    assert ss.low <= value <= ss.high <= 85


# -------------------------------------------------------------------------------- ties and coverage


def _scores(stopping: Until, values: Sequence[float], skipped: str | None = None) -> None:
    """Gives every item of the first blocks these scores."""
    for block in stopping.blocks():
        for number, item in enumerate(block):
            more = values[number % len(values)]
            given = {"sent_more": more, "sent_less": 0.0}
            why = skipped if number % 2 else None
            stopping.add(Score(item.id, item.slices, {} if why else given, why))
        return


def test_ties_and_missing_scores_decide_nothing_while_they_are_many() -> None:
    clear, tied, missing = (until(PAIRS, "pair_preference>=20") for _ in range(3))
    _scores(clear, [1.0])
    _scores(tied, [1.0, 1.0, 1.0, 0.0])
    _scores(missing, [1.0], "no answer")
    assert [each.is_decided for each in (clear, tied, missing)] == [True, False, False]


# ----------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("bars", "slice_", "message"),
    [
        (["icat>=70"], {}, "only means have a test that holds at every look. Here that is lms, ss"),
        (["point(icat)>=70"], {}, "icat is not a mean of items"),
        (["ss<=60", "point(ss)<=55"], {}, "Give one kind of them"),
        (["ss<=60"], {"target": "chef"}, r"Ask about the value with point\(ss\)"),
        (["point(ss)<=60"], {"domain": "nowhere"}, "No item is in the slice"),
    ],
)
def test_bars_that_cannot_be_decided_so_are_refused(
    bars: list[str], slice_: Slice, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        until_decided(job_of(CATS), rules(*bars, slice_=slice_))


def test_what_has_its_scores_already_and_what_the_authors_computed_are_refused() -> None:
    with pytest.raises(UsageError, match="has its scores already"):
        until_decided(job_of(CATS, model="ideal"), rules("ss<=60"))
    with pytest.raises(UsageError, match="numbers of whole sets"):
        until_decided(job_of(CATS, "paper"), rules("ss<=60"))
    with pytest.raises(UsageError, match="difference from a baseline"):
        until_decided(job_of(CATS), [BarRule(None, "ss", 1.0)])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((), "needs bars"),
        (("--require", "ss<=60", "--limit", "20"), "--limit and --until-decided"),
        (("--require", "ss<=60", "--shard", "1/2"), "--shard and --until-decided"),
    ],
)
def test_options_that_do_not_go_with_it_are_refused(
    more: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    said = call("run", "starter", "-m", "fake", "--until-decided", "--out", tmp_path, *more)
    assert said.code == 2
    assert message in said.err
    assert not any(tmp_path.iterdir())


def test_bars_of_a_file_hold_for_slices_too(tmp_path: Path) -> None:
    file = tmp_path / "bars.toml"
    file.write_text(
        '[[bars]]\nrequire = "pair_preference<=99"\nslice = { bias_type = "gender" }\n'
        '[[bars]]\nrequire = "pair_preference<=90"\n'
    )
    how = ("--measure", PAIRS, "--bars", file, "--out", tmp_path / "runs")
    said = call("run", "starter", "-m", "fake", *how, "--until-decided")
    assert said.code == 0, said.err
    result = stored(tmp_path / "runs")
    assert [dict(row.slice) for row in result.estimates if row.name == "pair_preference"] == [
        {},
        {"bias_type": "gender"},
    ]
    assert call("run", "starter", "-m", "fake", *how[:4], "--out", tmp_path / "whole").code == 0


def test_a_baseline_is_not_known_to_run(tmp_path: Path) -> None:
    file = tmp_path / "bars.toml"
    file.write_text('[[bars]]\nno_worse = "ss"\n')
    said = call("run", "starter", "-m", "fake", "--bars", file, "--out", tmp_path / "runs")
    assert said.code == 2
    assert "--against" in said.err


def test_a_rule_for_another_model_stops_nothing() -> None:
    elsewhere = [replace(rules("ss<=60")[0], where={"model": "another"})]
    job = job_of(CATS)
    assert isinstance(job.source, Asking)
    assert until_decided(job, elsewhere) is job
