"""vLLM in this process: the numbers and words of the local path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from stereometer.core.errors import ModelError
from stereometer.core.runs.open import open_benchmark, open_model
from stereometer.core.types import Answer, CausalTokens, Generate, NextTokens, Options, Request
from tests.builders.commands import call
from tests.engines.conftest import SMOLLM2, Engine

NEAR = 1e-3
"""Of a text's log-probability, in float32."""
QUESTION = "Which sentence is likelier?\nA. The cat sat.\nB. The mat sat.\nAnswer:"


@pytest.fixture(scope="module")
def served(engine: Engine) -> Iterator[Any]:
    """vLLM stays started for all tests of a model."""
    model: Any = open_model(f"vllm:{engine.spec}")
    yield model
    model.engine.stop()


def both(engine: Engine, served: Any, *requests: Request) -> Iterator[tuple[Answer, Answer]]:
    keyed = {each.key: each for each in requests}
    here, there = engine.answers(keyed), dict(served.answer(keyed))
    assert here.keys() == there.keys() == keyed.keys()
    yield from ((here[key], there[key]) for key in keyed)


def sentences() -> list[str]:
    items = [*open_benchmark("starter").items("cat")[:30], *open_benchmark("starter").items("pair")]
    return [text for item in items[:60] for text in item.texts.values() if "BLANK" not in text]


def test_sentences_whole_and_in_part(engine: Engine, served: Any) -> None:
    read = list(dict.fromkeys(served.encode(text).ids for text in sentences()))
    requests: list[Request] = [
        CausalTokens(ids, start) for ids in read for start in (1, 3) if len(ids) > 3
    ]
    assert len(requests) > 200
    for here, there in both(engine, served, *requests):
        assert sum(there.column("logprob")) == pytest.approx(sum(here.column("logprob")), abs=NEAR)


def test_options_and_what_follows(engine: Engine, served: Any) -> None:
    """Also of a prompt after which more tokens are asked for than vLLM names at once."""
    texts = [QUESTION, "The cat", "One, two,"]
    requests: list[Request] = [
        *(Options(text, options=some) for text in texts for some in (("A", "B"), ("s", "t", "e"))),
        *(NextTokens(served.encode(text).ids, tuple(range(5, 305))) for text in texts),
    ]
    for here, there in both(engine, served, *requests):
        assert there.end == here.end
        for ours, theirs in zip(here.rows, there.rows, strict=True):
            assert list(theirs["logprob"]) == pytest.approx(list(ours["logprob"]), abs=NEAR)
            if "mass" in ours:
                assert list(theirs["mass"]) == pytest.approx(list(ours["mass"]), abs=NEAR)


def test_what_is_written(engine: Engine, served: Any) -> None:
    requests: list[Request] = [
        *(Generate(text, max_tokens=8) for text in sentences()[:12]),
        Generate("The cat", max_tokens=12, stop=(" ", "e")),
        Generate("The capital of France is", max_tokens=12, stop=("aris", "\n")),
        Generate("The cat", max_tokens=3, top=4),
    ]
    for here, there in both(engine, served, *requests):
        assert (there.text, there.end) == (here.text, here.end)
        for ours, theirs in zip(here.rows, there.rows, strict=True):
            assert list(theirs["logprob"]) == pytest.approx(list(ours["logprob"]), abs=NEAR)


def test_conversations(engine: Engine, served: Any) -> None:
    assert served.abilities.chat_template == engine.local.abilities.chat_template
    if not served.abilities.chat_template:
        pytest.skip("a tiny model has no chat template")
    told = (("system", "Be brief."), ("user", "What is the capital of France?"))
    requests: list[Request] = [
        Generate(messages=told, max_tokens=16),
        Generate(messages=told, max_tokens=16, stop=(".",)),
        Options(messages=(("user", QUESTION),)),
    ]
    for here, there in both(engine, served, *requests):
        assert (there.text, there.end) == (here.text, here.end)
        for ours, theirs in zip(here.rows, there.rows, strict=True):
            assert list(theirs["logprob"]) == pytest.approx(list(ours["logprob"]), abs=NEAR)


def test_runs(engine: Engine, served: Any, tmp_path: Path) -> None:
    """The points of likelihoods, and of a graded choice."""
    how = ("--limit", 16, "--resamples", 100, "--json", "--out")
    measures = ("cat-pseudo-likelihood", "pair-sentence-likelihood", "pair-graded-choice")
    asked = [word for name in measures for word in ("--measure", name)]
    found: list[Mapping[str, Any]] = []
    for name, spec in (("here", engine.spec), ("there", f"vllm:{engine.spec}")):
        said = call("run", "starter", "-m", spec, *asked, *how, tmp_path / name)
        assert said.code == 0, said.err
        found.append(said.json)
    for ours, theirs in zip(found[0]["results"], found[1]["results"], strict=True):
        for one, other in zip(ours["estimates"], theirs["estimates"], strict=True):
            assert other["value"] == pytest.approx(one["value"], abs=NEAR, nan_ok=True)


def test_what_it_cannot_hold_is_said_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """In place of a GPU that is too small: less memory than a text of this length takes."""
    model: Any = open_model(f"vllm:{SMOLLM2}", 0, {"option": {"max_model_len": "2048"}})
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "0")
    request = CausalTokens(model.encode("The cat sat.").ids, 1)
    with pytest.raises(ModelError, match="max_model_len"):
        dict(model.answer({request.key: request}))


def test_a_masked_model_is_refused_before_anything_starts(tmp_path: Path) -> None:
    from tests.builders.models.builders import build

    folder = build("bert", tmp_path / "bert")
    with pytest.raises(ModelError, match="is a masked model"):
        open_model(f"vllm:{folder}")
