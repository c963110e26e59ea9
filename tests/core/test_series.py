"""Patterns that stand for several models: folders, and revisions on a hub."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import stereometer
from stereometer.core.errors import ModelError, UsageError
from stereometer.core.runs.execute import execute
from stereometer.core.runs.measure import jobs_for
from stereometer.core.runs.models import Member, members, names_for
from stereometer.core.runs.open import open_model
from stereometer.core.runs.store import load
from stereometer.core.types import Settings
from stereometer.core.types.names import name_of
from tests.builders.commands import call


def folders(home: Path, *names: str) -> str:
    for name in names:
        (home / name).mkdir(parents=True)
    return str(home)


def test_folders_come_in_the_order_of_their_steps(tmp_path: Path) -> None:
    home = folders(tmp_path, "step200", "step1000", "step30", "other")
    (tmp_path / "step5").write_text("a file is no checkpoint")
    series = members(f"{home}/step*")
    assert [member.step for member in series] == [30, 200, 1000]
    assert [Path(member.spec).name for member in series] == ["step30", "step200", "step1000"]
    assert {member.pattern for member in series} == {f"{home}/step*"}


def test_paths_that_end_alike_are_called_by_as_much_as_tells_them_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders(tmp_path, "a/run/final", "b/run/final", "c/best", "m", "org/name")
    (tmp_path / "m1.safetensors").touch()
    (tmp_path / "a" / "m1.safetensors").touch()
    monkeypatch.chdir(tmp_path)
    assert names_for(["a/run/final", "./c/best/", "m"]) == [None] * 3
    assert names_for(["a/run/final", "b/../b/run/final/", "c/best"]) == [
        *("a/run/final", "b/run/final", None)
    ]
    assert names_for(["./m", "m/", f"{tmp_path}/m"]) == [None] * 3
    assert names_for(["m+m1.safetensors", "m+a/m1.safetensors"])[1] == f"{tmp_path.name}/m+a/m1"
    assert names_for(["hub/name", "gpt2", "org/name"]) == [None] * 3
    assert [name_of(each) for each in (".", "m/", "./c/../m", "hub/name", "C:\\x\\y")] == [
        *(tmp_path.name, "m", "m", "hub/name", "C:\\x\\y")
    ]


def test_sizes_are_read_with_their_units(tmp_path: Path) -> None:
    home = folders(tmp_path, "m-1.4b", "m-70m", "m-160m")
    assert [member.step for member in members(f"{home}/m-*")] == [70e6, 160e6, 1.4e9]


def test_without_numbers_the_order_of_names_counts(tmp_path: Path) -> None:
    home = folders(tmp_path, "m-b", "m-a")
    assert [(Path(m.spec).name, m.step) for m in members(f"{home}/m-*")] == [("m-a", 1), ("m-b", 2)]


@pytest.mark.parametrize("spec", ["fake", "gpt2", "org/name@main", "server:http://h/[x]#m"])
def test_what_is_no_pattern_stands_for_itself(spec: str) -> None:
    (member,) = members(spec)
    assert (member.spec, member.pattern) == (spec, "")


def test_a_pattern_that_matches_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="matches nothing"):
        members(f"{tmp_path}/step*")
    said = call("run", "starter", "-m", f"{tmp_path}/step*")
    assert said.code == 2
    assert "matches nothing" in said.err


def test_a_pattern_cannot_stand_before_a_mitigation(tmp_path: Path) -> None:
    (tmp_path / "m.safetensors").write_bytes(b"")
    with pytest.raises(UsageError, match="weights of one model"):
        members(f"{tmp_path}/step*+{tmp_path / 'm.safetensors'}")


class Hub(BaseHTTPRequestHandler):
    """Lists the revisions of org/name as the hub does."""

    def do_GET(self) -> None:
        known = self.path.startswith("/api/models/org/name/refs")
        names = ("main", "step1000", "step20", "step300")
        branches = [{"name": n, "ref": f"refs/heads/{n}", "targetCommit": "0" * 40} for n in names]
        tags = [{"name": "step4", "ref": "refs/tags/step4", "targetCommit": "1" * 40}]
        refs = {"branches": branches, "tags": tags, "converts": []}
        content = json.dumps(refs if known else {"error": "Repository not found"}).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    constants = pytest.importorskip("huggingface_hub.constants")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    yield constants.ENDPOINT
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("pattern", "steps"),
    [
        ("step[0-9]*", [30, 200, 1000]),
        ("step[12]*", [200, 1000]),
        ("step[!1]*", [30, 200]),
        ("step??", [30]),
    ],
)
def test_every_wildcard_is_understood(tmp_path: Path, pattern: str, steps: list[float]) -> None:
    for step in (200, 30, 1000):
        (tmp_path / f"step{step}").mkdir()
    assert [member.step for member in members(f"{tmp_path}/{pattern}")] == steps


def test_the_step_is_the_last_number(tmp_path: Path) -> None:
    for run, step in ((1, 30), (1, 4), (2, 7)):
        (tmp_path / f"run{run}" / f"step{step}").mkdir(parents=True)
    assert [member.step for member in members(f"{tmp_path}/run*/step*")] == [4, 7, 30]


def test_revisions_of_a_hub_are_listed_in_the_order_of_their_steps(hub: str) -> None:
    series = members("org/name@step*")
    assert [member.spec for member in series] == [
        "org/name@step4",
        "org/name@step20",
        "org/name@step300",
        "org/name@step1000",
    ]
    assert [member.step for member in series] == [4, 20, 300, 1000]


def test_a_hub_without_such_revisions_or_models_says_so(hub: str) -> None:
    with pytest.raises(UsageError, match="matches nothing"):
        members("org/name@epoch*")
    with pytest.raises(ModelError, match="could not be listed"):
        members("org/other@step*")


def test_a_run_that_is_there_already_gets_its_place_in_the_series(tmp_path: Path) -> None:
    job, *_ = jobs_for(["starter"], open_model("ideal"), [], Settings(resamples=100))
    alone = execute(job, tmp_path / "run")
    assert "series" not in alone.result.settings
    later = execute(Member("a/step20", "a/step*", 20.0).job(job), tmp_path / "run")
    stored = load(tmp_path / "run")
    for result in (later.result, stored):
        assert (result.settings["series"], result.settings["step"]) == ("a/step*", 20.0)
    assert stored.scores_digest == alone.result.scores_digest


def test_the_verb_takes_a_pattern_too(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    from tests.builders.models.zoo import Zoo

    folder = Zoo(tmp_path / "zoo").folder("gpt2")
    for step in (20, 3):
        shutil.copytree(folder, tmp_path / f"step{step}")
    pattern = str(tmp_path / "step*")
    how: dict[str, Any] = {"model": pattern, "measure": "pair-sentence-likelihood", "limit": 4}
    results = stereometer.run("starter", out=tmp_path / "runs", resamples=100, **how)
    assert [result.settings["step"] for result in results] == [3.0, 20.0]
    assert {result.settings["series"] for result in results} == {pattern}
    assert len(list((tmp_path / "runs").iterdir())) == 2
    with pytest.raises(UsageError, match="1 times for 2 models"):
        stereometer.run("starter", name="mine", **how)
