"""`sweep --asked`: which ways there are for a model, and what is made of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import stereometer
from stereometer.core.asking.wordings import wordings
from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import UsageError
from stereometer.core.runs.open import open_benchmark, open_model
from stereometer.core.types import Backend, Generate, Options, Result, Settings
from stereometer.models.baselines.fake import Fake
from stereometer.report.load import groups_of
from stereometer.wings.sweep.shape import JOINT, OVER, READING, SHIFT, SPREAD, named
from stereometer.wings.sweep.sweep import Sweep
from stereometer.wings.sweep.table import jobs_of, readings
from tests.builders.commands import call
from tests.models.server.conftest import Stub, said, send

SOME: Mapping[str, Any] = {"asked": True, "resamples": 200, "limit": 40}


@pytest.fixture(scope="module")
def starter() -> Benchmark:
    return open_benchmark("starter")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sweep, Path]:
    out = tmp_path_factory.mktemp("asked")
    measures = ["pair-graded-choice", "pair-isolated-rating"]
    sweep = stereometer.sweep("starter", model="fake", measure=measures, out=out, **SOME)
    return sweep, out


def fake() -> Backend:
    model = open_model("fake", 0, {})
    assert isinstance(model, Backend)
    return model


def test_usual_sweeps_take_the_first_wording_alone(starter: Benchmark) -> None:
    planned = [job.plan["measure"] for job in jobs_of(starter, fake(), (), Settings())]
    worded = [name for name in planned if "choice" in name or "rating" in name]
    assert {name.partition("@")[0] for name in worded} == {
        "cat-forced-choice",
        "pair-forced-choice",
    }
    assert not any("+wording" in name or "+neutral" in name for name in planned)


def test_every_wording_is_asked_with_and_without_a_neutral_answer(starter: Benchmark) -> None:
    every = list(jobs_of(starter, fake(), ["pair-graded-choice"], Settings(), asked=True))
    forms = {job.plan["chat"] for job in every}
    named_ = {job.plan["measure"] for job in every}
    assert len(named_) == 2 * len(wordings("sentence"))
    assert len(every) == len(named_) * len(forms)
    assert len({job.folder for job in every} | {str(job.plan) for job in every}) >= len(every)


def test_wordings_of_both_tasks_of_a_shape_have_the_same_names() -> None:
    for question in readings().question:
        for way in question.way:
            if way.wordings:
                within = [each.id for each in wordings(way.wordings)]
                assert within == [each.id for each in wordings(f"next-{way.wordings}")]
                assert len(within) >= 6


def test_the_page_says_the_wordings_as_they_are() -> None:
    howto = Path(__file__).parents[3] / "docs" / "howto"
    page = (howto / "forced-choice.md").read_text("utf-8")
    rows = [line.split(" | ") for line in page.split("\n") if re.match(r"\| \d \|", line)]
    assert [row[0].strip("| ") for row in rows] == [each.id for each in wordings("sentence")]
    for (_, asks, labels, rates), compared, rated in zip(
        rows, wordings("sentence"), wordings("rating"), strict=True
    ):
        assert asks in compared.text
        assert labels.split(", ") == list(compared.offered())
        assert rates.strip("| ") in rated.text


def only(result: Result, name: str) -> list[Any]:
    return [row for row in named(result, name) if len(row.slice) == 2]


def test_every_way_is_counted_over_its_wordings(swept: tuple[Sweep, Path]) -> None:
    (result,) = swept[0].results
    rows = named(result, READING)
    assert {row.slice["answer"] for row in rows} == {"probabilities"}
    assert {row.slice["asking"] for row in rows} == {"compared", "rated alone"}
    assert {row.slice["items"] for row in rows} == {"all"}
    over = [row for row in named(result, OVER) if len(row.slice) > 2]
    assert {row.asked for row in over} == {6}
    (whole,), (spread,), (joint,) = (only(result, name) for name in (OVER, SPREAD, JOINT))
    assert whole.low < whole.value < whole.high
    assert spread.value >= 0
    assert {row.slice["choice"] for row in named(result, SHIFT)} >= {"asking", "neutral"}
    assert "it turns on" in joint.verdict


def test_stored_runs_of_several_wordings_are_swept_alike(
    swept: tuple[Sweep, Path], tmp_path: Path
) -> None:
    again = stereometer.sweep("starter", runs=[swept[1]], out=tmp_path, resamples=200)
    assert again.results == swept[0].results


def test_it_is_shown_and_reported_by_way_of_asking(swept: tuple[Sweep, Path]) -> None:
    (folder,) = swept[0].folders
    shown = call("show", folder)
    assert "way of asking" in shown.out
    assert "all ways" in shown.out
    ((section, group),) = groups_of([Path(folder)])
    figure = section.view(group).figures[0]
    (chart,) = figure.charts
    assert "rated alone" in chart.description
    # The runs that it reads have no section of their own.
    assert [whole.first for _, whole in groups_of([swept[1]])] == [group.first]
    layers = chart.spec["layer"]
    dots = [layer["data"]["values"] for layer in layers if layer["mark"].get("size") == 16]
    scored = [row for row in named(group.first, READING) if row.value is not None]
    assert [len(values) for values in dots] == [len(scored)]
    assert [table.caption.partition(",")[0] for table in figure.tables][:2] == [
        "Ways of asking",
        "What the choices do",
    ]


def test_a_dry_run_says_how_many_requests_there_are(tmp_path: Path) -> None:
    planned = call(
        "sweep starter -m fake --asked --measure pair-graded-choice --limit 40 --dry-run"
        f" --out {tmp_path}"
    )
    assert planned.code == 0, planned.err
    assert "pair-graded-choice@1+wording-6+neutral" in planned.out
    assert "in all: " in planned.out
    assert not list(tmp_path.iterdir())


def test_a_dry_run_asks_a_model_once_for_each_kind_of_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[set[str]] = []

    def answer(self: Fake, requests: Mapping[str, Any]) -> Iterator[Any]:
        taken.append({each.kind for each in requests.values()})
        yield from ()

    monkeypatch.setattr(Fake, "answer", answer)
    stereometer.sweep("starter", model="fake", out=tmp_path, dry_run=True, **SOME)
    assert taken == [{Generate.kind}, {Options.kind}]


def test_what_is_not_asked_in_words_is_refused() -> None:
    with pytest.raises(UsageError, match="not asked in words"):
        stereometer.sweep("starter", model="fake", measure="pair-likelihood", asked=True)


# ---------------------------------------------------------------------------------------- thinking


def options(question: str) -> tuple[str, ...]:
    """Of the wording whose own lines a question has."""
    for each in wordings("sentence"):
        for neutral in (False, True):
            lines = [line for line in each.template(neutral).split("\n") if "{" not in line]
            if all(line in question for line in lines):
                return each.options
    return ("A", "B")


@pytest.fixture
def thinker() -> Iterator[Stub]:
    """A service for conversations that thinks unless it is told not to; what it names depends on
    the text and on whether it thought."""

    def reply(handler: Any, body: Mapping[str, Any]) -> bool:
        if "messages" not in body:
            return send(handler, {"error": {"message": "This is a chat model."}}, 404)
        told = body.get("chat_template_kwargs") == {"enable_thinking": False}
        question = body["messages"][-1]["content"]
        first = sum(map(ord, question)) % 7 < (3 if told else 5)
        text = options(question)[0 if first else 1]
        return send(handler, said(body, text if told else f"<think>Well.</think>{text}"))

    server = Stub()
    server.always = server.scoring = reply
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_model_with_room_is_asked_with_and_without_thinking(
    thinker: Stub, tmp_path: Path
) -> None:
    pytest.importorskip("httpx2")
    sweep = stereometer.sweep(
        "starter", model=f"server:{thinker.url}#parrot", measure="pair-forced-choice", room=200,
        out=tmp_path, coverage=0.0, **SOME,
    )  # fmt: skip
    (result,) = sweep.results
    rows = named(result, READING)
    assert {row.slice["thinking"] for row in rows} == {"yes", "no"}
    assert not any("form" in row.slice for row in rows)  # it holds conversations only
    runs = [stereometer.load(run) for run in tmp_path.iterdir() if "no-thinking" in run.name]
    assert {run.settings["thinking"] for run in runs} == {False}
    assert len(runs) * 2 == len(rows)


def test_no_thinking_alone_is_one_way(thinker: Stub, tmp_path: Path) -> None:
    pytest.importorskip("httpx2")
    sweep = stereometer.sweep(
        "starter", model=f"server:{thinker.url}#parrot", measure="pair-forced-choice",
        thinking=False, out=tmp_path, **SOME,
    )  # fmt: skip
    (result,) = sweep.results
    assert not any("thinking" in row.slice for row in named(result, READING))
