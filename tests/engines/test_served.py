"""`vllm serve` on the loopback, asked through `server:`: the local numbers, one request at a time
and many, and a server that is killed in mid-run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from stereometer.core.runs.open import open_benchmark
from stereometer.core.types import CausalTokens, Generate, Options, WholeText
from tests.builders.commands import PROGRAM, call
from tests.builders.ports import free_port
from tests.builders.servers import open_server
from tests.conftest import default_model
from tests.engines.conftest import SMOLLM2, Engine

PROMPTLY = 900.0
"""Seconds in which it starts, on a busy machine."""
FLAGS = (
    *("--served-model-name", "m", "--dtype", "float32", "--max-model-len", "512"),
    *("--enforce-eager", "--max-num-seqs", "16", "--host", "127.0.0.1"),
)
SCORED = re.compile(r"POST /v1/completions HTTP/1.1\S* 200")
NEAR = 1e-3
QUESTION = "Which sentence is likelier?\nA. The cat sat.\nB. The mat sat.\nAnswer:"


@dataclass
class Vllm:
    """The server as a user starts it, which can be killed and started again."""

    folder: str
    home: Path
    port: int = field(default_factory=free_port)
    starts: int = 0
    process: Any = None

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def spec(self) -> str:
        return f"server:{self.root}/v1#m"

    @property
    def log(self) -> Path:
        return self.home / f"log-{self.starts}"

    @property
    def answered(self) -> int:
        """Prompts since it was started last."""
        return len(SCORED.findall(self.log.read_text()))

    def start(self) -> None:
        self.starts += 1
        program = str(Path(sys.executable).with_name("vllm"))
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [program, "serve", self.folder, *FLAGS, "--port", str(self.port)],
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # it starts others, which are killed with it
                env=os.environ | {"HF_HUB_OFFLINE": "1", "VLLM_LOGGING_LEVEL": "INFO"},
            )
        until = time.monotonic() + PROMPTLY
        while time.monotonic() < until and not self._listens():
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            time.sleep(1)

    def _listens(self) -> bool:
        try:
            return httpx2.get(f"{self.root}/health", timeout=5).status_code == 200
        except httpx2.HTTPError:
            return False

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@pytest.fixture(scope="module")
def smollm2() -> Engine:
    return Engine(default_model(SMOLLM2), SMOLLM2)


@pytest.fixture(scope="module")
def vllm(smollm2: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vllm]:
    server = Vllm(smollm2.folder, tmp_path_factory.mktemp("vllm"))
    server.start()
    yield server
    server.kill()


@pytest.fixture
def start_token(smollm2: Engine) -> dict[str, str]:
    return {"start_token": str(smollm2.local.checkpoint.tokenizer.bos_token)}


@pytest.mark.parametrize("in_flight", [1, 8])
def test_likelihoods_after_the_start_token(
    smollm2: Engine, vllm: Vllm, start_token: dict[str, str], in_flight: int
) -> None:
    how = {"timeout": 300.0, "in_flight": in_flight, "option": start_token}
    server = open_server(vllm.spec, 0, how)
    assert server.finding.start == start_token["start_token"]
    items = open_benchmark("starter").items("pair")[:20]
    texts = list(dict.fromkeys(text for item in items for text in item.texts.values()))
    there = dict(server.answer({text: WholeText(text) for text in texts}))
    tokens = {text: CausalTokens(smollm2.local.encode(text).ids, 1) for text in texts}
    here = dict(smollm2.local.answer(tokens))
    for text in texts:
        ours, theirs = here[text].column("logprob"), there[text].column("logprob")
        assert len(theirs) == len(ours)
        assert sum(theirs) == pytest.approx(sum(ours), abs=NEAR)


def test_without_the_start_token_the_measure_says_so(vllm: Vllm) -> None:
    server = open_server(vllm.spec, 0, {"timeout": 300.0})
    assert server.finding.start is None
    assert any("first token" in note for note in server.card.notes)


def test_graded_choices_and_words(smollm2: Engine, vllm: Vllm, start_token: dict[str, str]) -> None:
    """Raw text goes to a server as it is: here it brings the start token that a local model puts
    first. Spellings that are not among the likeliest tokens are missing from a sum."""
    server = open_server(vllm.spec, 0, {"timeout": 300.0})
    first = start_token["start_token"]
    told: dict[str, Any] = {"messages": (("system", "Be brief."), ("user", QUESTION))}
    choices = [
        (Options(QUESTION), Options(first + QUESTION)),
        (Options(**told), Options(**told)),
    ]
    for ours, theirs in choices:
        (here,) = smollm2.answers({"": ours}).values()
        (there,) = dict(server.answer({"": theirs})).values()
        assert not there.end
        assert list(there.column("logprob")) == pytest.approx(
            list(here.column("logprob")), abs=0.02
        )
        assert there.column("mass")[0] == pytest.approx(here.column("mass")[0], abs=0.01)
    texts = (("The capital of France is", ()), ("One, two, three,", ("six",)))
    for text, stop in texts:
        how: dict[str, Any] = {"temperature": 0.0, "max_tokens": 8, "stop": stop}
        (here,) = smollm2.answers({"": Generate(text, **how)}).values()
        (there,) = dict(server.answer({"": Generate(first + text, **how)})).values()
        assert there.text == here.text
    said = Generate(**told, temperature=0.0, max_tokens=12)
    (here,), (there,) = (
        smollm2.answers({"": said}).values(),
        dict(server.answer({"": said})).values(),
    )
    assert there.text == here.text


def test_killed_and_started_again_in_the_middle_of_a_run(
    vllm: Vllm, start_token: dict[str, str], tmp_path: Path
) -> None:
    """The command is given again where its patience ends first, and asks only for the rest."""
    token = f"start_token={start_token['start_token']}"
    how = ("--measure", "pair-sentence-likelihood", "--limit", 100, "--resamples", 100, "--json")
    asked = ("run", "starter", "-m", vllm.spec, *how, "--option", token, "--timeout", 120, "--out")
    words = [PROGRAM, *map(str, asked), str(tmp_path / "runs")]
    before = vllm.answered
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        while vllm.answered < before + 60:
            assert run.poll() is None, run.communicate()
            time.sleep(0.2)
        vllm.kill()
        first = vllm.answered - before
        vllm.start()
        _, err = run.communicate()
    assert run.returncode == 0 or "kept" in err, err
    again = call(*asked, tmp_path / "runs")
    assert again.code == 0, again.err
    probed, distinct = 20, 200
    assert distinct - first <= vllm.answered <= distinct - first + 2 * probed
    here = (*how, "--threads", 1, "--out", tmp_path / "local")
    local = call("run", "starter", "-m", SMOLLM2, *here)
    pairs = zip(again.json["results"], local.json["results"], strict=True)
    for ours, theirs in ((one["estimates"], other["estimates"]) for one, other in pairs):
        values = [each["value"] for each in theirs]
        assert [each["value"] for each in ours] == pytest.approx(values, abs=NEAR, nan_ok=True)
