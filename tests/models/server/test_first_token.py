"""The first token of a text behind a server that puts nothing before it: scored after the model's
own start token, or left out under another name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from stereometer.core.errors import ModelError
from stereometer.core.methods.declared import OTHER_FIRST
from stereometer.core.runs.cache import Cache
from stereometer.core.runs.open import open_benchmark, open_model
from stereometer.core.runs.runner import Serial, Tally, computed
from stereometer.core.types import Asking, CausalTokens, WholeText
from tests.builders.by_hand import bound
from tests.builders.servers import opened
from tests.models.server.conftest import Reply, Stub, send

pytest.importorskip("torch")
Start = Callable[..., Stub]
TEXTS = ("The nurse is kind.", "A nurse is kind.", " The nurse was late again today.")
MARK = "<|endoftext|>"
BENCHMARKS = {"pair": "starter", "cat": "starter", "fact": "definitional"}
SEED = 5
"""Of weights that happen to find the known sentence likelier than its words shuffled."""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Any:
    from tests.builders.models.builders import build

    return open_model(str(build("gpt2", tmp_path_factory.mktemp("tiny"), SEED)))


def bare(
    local: Any,
    way: str = "echo",
    knows_mark: bool = True,
    first: str = "",
    drops_space: bool = False,
) -> Reply:
    """Scores a prompt as it is: nothing stands before it, and its first token has no number."""
    tokenizer = local.checkpoint.tokenizer

    def reply(handler: Any, body: Any) -> bool:
        if way not in body:
            return False
        sent, split = body["prompt"], not knows_mark
        if drops_space and isinstance(sent, str):
            sent = sent.replace(f"{MARK} ", MARK)
        if isinstance(sent, str):
            sent = tokenizer(first + sent, split_special_tokens=split).input_ids
        ids = sent
        (answer,) = dict(local.answer({"": CausalTokens(tuple(ids), 1)})).values()
        tokens, values = [tokenizer.decode([one]) for one in ids], [None, *answer.column("logprob")]
        listed = [
            value and {"1": {"decoded_token": token, "logprob": value}}
            for token, value in zip(tokens, values, strict=True)
        ]
        logprobs = {"tokens": tokens, "token_logprobs": values}
        return send(handler, {"choices": [{"logprobs": logprobs, "prompt_logprobs": listed}]})

    return reply


def tokenizing(local: Any) -> Reply:
    """As vLLM does."""

    def reply(handler: Any, body: Any) -> bool:
        ids = local.checkpoint.tokenizer(body["prompt"], add_special_tokens=False).input_ids
        return handler.path == "/tokenize" and send(handler, {"count": len(ids), "tokens": ids})

    return reply


def scored(model: Any, measure: str, shape: str) -> list[Any]:
    items = open_benchmark(BENCHMARKS[shape]).items(shape)[:12]
    with Cache() as cache:
        asking = Asking(items, bound(measure, model), model)
        return list(computed(asking, Serial(model), cache, Tally()))


@pytest.mark.parametrize("way", ["echo", "prompt_logprobs"])
@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("drops_space", [False, True])
def test_after_the_start_token_the_numbers_are_the_local_ones(
    tiny: Any, stub: Start, way: str, told: bool, drops_space: bool
) -> None:
    """Which token that is, the user says or the server; where its text spoils what follows it,
    tokens are sent."""
    server = stub()
    server.scoring = bare(tiny, way, drops_space=drops_space)
    server.always = tokenizing(tiny)
    server.tokenizer = {"bos_token": {"content": MARK}, "eos_token": "</s>"} if told else {}
    remote = opened(server, **({} if told else {"start_token": MARK}))
    assert (remote.finding.likelihood, remote.finding.start) == (way, MARK)
    assert (remote.finding.start_id is not None) == drops_space
    for text in TEXTS:
        ids = tiny.encode(text).ids
        here = dict(tiny.answer({"": CausalTokens(ids, 1)}))[""].column("logprob")
        there = dict(remote.answer({"": WholeText(text)}))[""].column("logprob")
        assert list(there) == pytest.approx(list(here), abs=1e-4)
    for measure, shape in (
        ("pair-sentence-likelihood", "pair"),
        ("cat-pseudo-likelihood", "cat"),
        ("fact-likelihood", "fact"),
    ):
        assert bound(measure, remote).name == bound(measure, tiny).name
        for one, other in zip(
            scored(tiny, measure, shape), scored(remote, measure, shape), strict=True
        ):
            assert one.values == pytest.approx(other.values, abs=1e-3)


@pytest.mark.parametrize("knows_mark", [True, False])
def test_without_it_the_measure_has_another_name_and_other_beginnings_are_skipped(
    tiny: Any, stub: Start, knows_mark: bool
) -> None:
    """Nobody names the token, or the server reads it as many."""
    server = stub()
    server.scoring = bare(tiny, knows_mark=knows_mark)
    server.tokenizer = {} if knows_mark else {"bos_token": MARK}
    remote = opened(server)
    assert remote.finding.start is None
    assert any("first token" in note for note in remote.card.notes)
    measure = bound("pair-sentence-likelihood", remote)
    assert measure.name == "pair-sentence-likelihood@1+after-first-token"
    assert bound("cat-pseudo-likelihood", remote).name.endswith("@1+after-first-token")
    assert bound("fact-likelihood", remote).name == "fact-likelihood@1+after-first-token"
    for name, shape in (("pair-sentence-likelihood", "pair"), ("fact-likelihood", "fact")):
        items = open_benchmark(BENCHMARKS[shape]).items(shape)
        for score, item in zip(scored(remote, name, shape), items, strict=False):
            ids = [tiny.encode(text).ids[1] for text in item.texts.values()]
            assert score.skipped == (None if ids[0] == ids[1] else OTHER_FIRST)
            assert not score.unanswered  # tokens, not answers, decide it


@pytest.mark.parametrize(
    ("knows_mark", "first", "words"),
    [(False, "", "does not read it as one token"), (True, MARK, "a start token first by itself")],
)
def test_a_start_token_that_cannot_stand_there_is_refused(
    tiny: Any, stub: Start, knows_mark: bool, first: str, words: str
) -> None:
    server = stub()
    server.scoring = bare(tiny, knows_mark=knows_mark, first=first)
    with pytest.raises(ModelError, match=words):
        opened(server, start_token=MARK)
