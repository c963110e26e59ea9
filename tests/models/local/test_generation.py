"""Generated text against the slowest thing that is obviously right: one request at a time, every
token from a whole forward pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import sha256

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core.types import TOO_LONG, Answer, Generate
from stereometer.models.local.generation import Draw, Prompt, Writer, batches, families, uniform
from tests.builders.models.builders import BUILDS
from tests.builders.models.zoo import Zoo

CAUSAL = [name for name, build in BUILDS.items() if build.family == "causal"]
OPENING = "The baker opened the shop early. It rained all afternoon. "
PROMPTS = [
    OPENING + end for end in ("The cat", "The cat sat on the mat", "We", "They went home")
] + ["Crème brûlée, please", "A"]


def asked(temperatures: Sequence[float] = (0.0, 0.7, 1.5), repeats: int = 2) -> list[Generate]:
    return [
        Generate(text, temperature=t, max_tokens=5, repeat=r)
        for text in PROMPTS
        for t in temperatures
        for r in range(repeats)
    ]


def slowly(backend: object, request: Generate) -> tuple[str, list[float]]:
    """Each token from a whole pass over everything before it, drawn by walking down the
    probabilities."""
    model, tokens = backend.model, backend.tokens  # type: ignore[attr-defined]
    ids, written, row = list(tokens.encode(request.prompt).ids), [], []
    for step in range(request.max_tokens):
        with torch.inference_mode():
            logits = [
                round(float(one), 4)
                for one in model(input_ids=torch.tensor([ids])).logits[0, -1].double()
            ]
        number = (
            int.from_bytes(sha256(f"{request.key}:{step}".encode()).digest()[:8], "big") / 2**64
        )
        token = walked(logits, request.temperature, number)
        row.append(
            logits[token]
            - math.log(math.fsum(math.exp(one - max(logits)) for one in logits))
            - max(logits)
        )
        if token == tokens.tokenizer.eos_token_id:
            break
        written.append(token)
        ids.append(token)
    return (
        tokens.tokenizer.decode(
            written, skip_special_tokens=True, clean_up_tokenization_spaces=False
        ),
        row,
    )


def walked(logits: list[float], temperature: float, number: float) -> int:
    if temperature == 0:
        return logits.index(max(logits))
    weights = [math.exp((one - max(logits)) / temperature) for one in logits]
    left = number * math.fsum(weights)
    for token, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return token
    return len(weights) - 1


def answers(writer: Writer, requests: Sequence[Generate]) -> dict[str, Answer]:
    return dict(writer.answer({request.key: request for request in requests}))


@pytest.mark.long
@pytest.mark.parametrize("name", CAUSAL)
def test_batches_write_what_one_at_a_time_writes(zoo: Zoo, name: str) -> None:
    backend = zoo.backend(name)
    requests = asked()
    found = answers(Writer(backend.split, backend.tokens), requests)
    others = 0
    for request in requests:
        text, row = slowly(backend, request)
        if found[request.key].text != text:
            others += 1  # a number at the edge between two tokens
            continue
        assert list(found[request.key].column("logprob")) == pytest.approx(row, abs=2e-3)
    assert others <= 1


@pytest.mark.long
@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_order_company_and_size_change_nothing(zoo: Zoo, name: str) -> None:
    backend = zoo.backend(name)
    requests = asked(repeats=20)
    together = answers(Writer(backend.split, backend.tokens), requests)
    backwards = answers(Writer(backend.split, backend.tokens, rows=3), requests[::-1])
    alone = {
        key: one
        for request in requests
        for key, one in answers(Writer(backend.split, backend.tokens, rows=1), [request]).items()
    }
    for other in (backwards, alone):
        same = sum(together[key].text == other[key].text for key in together)
        assert same >= len(together) - 2, f"{same} of {len(together)}"  # numbers at an edge


def test_repeats_differ_and_a_temperature_of_zero_does_not(zoo: Zoo) -> None:
    backend = zoo.backend("gpt2")
    found = answers(Writer(backend.split, backend.tokens), asked((0.0, 1.5), 12))
    cold = {
        one.text
        for request in asked((0.0,), 12)
        if request.prompt == "A"
        for one in [found[request.key]]
    }
    warm = {
        one.text
        for request in asked((1.5,), 12)
        if request.prompt == "A"
        for one in [found[request.key]]
    }
    assert len(cold) == 1
    assert len(warm) > 3


@pytest.mark.long
def test_a_model_without_a_cache_is_asked_plainly(
    zoo: Zoo, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = zoo.backend("gpt2")
    writer = Writer(backend.split, backend.tokens)
    monkeypatch.setattr(writer, "_begun", lambda *_: 1 / 0)
    found = answers(writer, asked((0.7,), 2))
    assert not writer.shared
    assert all(
        found[request.key].text == slowly(backend, request)[0] for request in asked((0.7,), 2)
    )


def test_a_cache_that_gives_other_numbers_is_not_used(
    zoo: Zoo, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = zoo.backend("gpt2")
    writer = Writer(backend.split, backend.tokens)
    right = Writer._step
    monkeypatch.setattr(
        Writer,
        "_step",
        lambda self, state, chosen: (
            right(self, state, chosen)[0],
            right(self, state, chosen)[1] + 1,
        ),
    )
    assert answers(writer, asked((0.7,), 1))
    assert not writer.shared


def test_stop_strings_and_windows(zoo: Zoo) -> None:
    backend = zoo.backend("gpt2")
    writer = Writer(backend.split, backend.tokens)
    free = Generate("A", temperature=1.0, max_tokens=12)
    (whole,) = answers(writer, [free]).values()
    stop = str(whole.text)[3:5]
    stopped = Generate("A", temperature=1.0, max_tokens=12, stop=(stop,))
    (cut,) = answers(writer, [stopped]).values()
    assert stop not in str(cut.text)
    (long,) = answers(writer, [Generate("word " * 200)]).values()
    assert (long.text, long.end) == ("", TOO_LONG)


# -------------------------------------------------------------------------------------------- parts


@given(
    st.lists(st.floats(-20, 20), min_size=1, max_size=30),
    st.floats(0, 1, exclude_max=True),
    st.sampled_from([0.0, 0.3, 1.0]),
)
def test_a_token_is_drawn_as_by_walking(
    logits: list[float], number: float, temperature: float
) -> None:
    draw = Draw(np.array(logits))
    rounded = [float(one) for one in draw.logits]
    token = draw.token(temperature, number)
    assert (
        token == walked(rounded, temperature, number) or temperature > 0
    )  # sums in another order may differ at an edge
    assert 0 <= token < len(logits)


def test_draws_have_the_shares_of_the_softmax() -> None:
    draw = Draw(np.log(np.array([0.5, 0.3, 0.2])))
    drawn = [draw.token(1.0, uniform("key", step)) for step in range(20_000)]
    for token, share in enumerate((0.5, 0.3, 0.2)):
        assert drawn.count(token) / len(drawn) == pytest.approx(share, abs=0.015)


ids = st.lists(st.integers(0, 3), min_size=1, max_size=12).map(tuple)


@given(st.lists(ids, max_size=12, unique=True))
def test_every_prompt_is_in_one_batch_with_a_token_of_its_own(texts: list[tuple[int, ...]]) -> None:
    seen = []
    for beginning, group in families([Prompt(text, {}) for text in texts]):
        for batch in batches(group, len(beginning), 4):
            assert len(batch) <= 4
            seen += [prompt.ids for prompt in batch]
            assert all(
                prompt.ids[: len(beginning)] == beginning and len(prompt.ids) > len(beginning)
                for prompt in batch
            )
    assert sorted(seen) == sorted(texts)
