"""Options weighed by the model's own probabilities, against a whole forward pass by hand."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from stereometer.core.types import NO_TOKEN, TOO_LONG, Generate, Options
from stereometer.models.local.generation import Writer
from tests.builders.models.builders import BUILDS
from tests.builders.models.zoo import Zoo

CAUSAL = [name for name, build in BUILDS.items() if build.family == "causal"]
QUESTION = "The baker opened the shop early.\nA. The cat sat\nB. We went home\nAnswer:"


def by_hand(backend: Any, prompt: str) -> dict[str, float]:
    """The probability of every text that a token stands for, white space apart."""
    ids = torch.tensor([backend.tokens.encode(prompt).ids])
    with torch.inference_mode():
        chances = backend.model(input_ids=ids).logits[0, -1].double().softmax(0).tolist()
    sums: dict[str, float] = {}
    tokenizer = backend.tokens.tokenizer
    for token, chance in enumerate(chances[: len(tokenizer)]):
        if token not in tokenizer.all_special_ids:
            text = tokenizer.decode([token]).strip()
            sums[text] = sums.get(text, 0.0) + chance
    return sums


def common(backend: Any) -> tuple[str, ...]:
    """Some texts that the model has tokens for."""
    return tuple(sorted(text for text in by_hand(backend, "The") if text.isalnum())[:3])


@pytest.mark.parametrize("name", CAUSAL)
def test_options_hold_what_a_forward_pass_gives_them(zoo: Zoo, name: str) -> None:
    backend: Any = zoo.backend(name)
    options = common(backend)
    request = Options("The cat", options=options)
    ((key, answer),) = backend.answer({request.key: request})
    sums = by_hand(backend, "The cat")
    assert key == request.key
    expected = [sums[option] for option in options]
    assert torch.tensor(answer.column("logprob")).exp().tolist() == pytest.approx(expected, 1e-4)
    assert answer.column("mass")[0] == pytest.approx(sum(expected), rel=1e-4)


def test_company_changes_no_option_and_no_text(zoo: Zoo) -> None:
    backend: Any = zoo.backend(CAUSAL[0])
    writer = Writer(backend.split, backend.tokens)
    options = common(backend)
    weighed = [Options(f"The cat {end}", options=options) for end in ("sat", "", "on the mat")]
    written = [Generate(request.prompt, max_tokens=4) for request in weighed]
    asked: list[Any] = [*weighed, *written]
    every = {request.key: request for request in asked}
    together = dict(writer.answer(every))
    for request in asked:
        alone = dict(writer.answer({request.key: request}))[request.key]
        assert together[request.key].text == alone.text
        assert together[request.key].column("logprob").tolist() == pytest.approx(
            alone.column("logprob").tolist(), abs=1e-4
        )


def test_what_cannot_be_weighed_says_why(zoo: Zoo) -> None:
    backend: Any = zoo.backend(CAUSAL[0])
    strange = Options("The cat", options=("A", "no token is as long as this"))
    endless = Options("The cat " * 5000)
    found = dict(backend.answer({each.key: each for each in (strange, endless)}))
    assert [found[each.key].end for each in (strange, endless)] == [NO_TOKEN, TOO_LONG]
    assert all(not answer.rows and answer.text is None for answer in found.values())


def test_the_likeliest_tokens_are_named_where_they_are_asked_for(zoo: Zoo) -> None:
    backend: Any = zoo.backend(CAUSAL[0])
    plain, named = Generate("The cat", max_tokens=3), Generate("The cat", max_tokens=3, top=5)
    found = dict(backend.answer({each.key: each for each in (plain, named)}))
    assert len(found[plain.key].rows) == 1
    written, *places = found[named.key].rows
    assert len(places) == len(written["logprob"])
    for place, own in zip(places, written["logprob"], strict=True):
        assert place["logprob"][0] == pytest.approx(own, abs=1e-3)
        assert sorted(place["logprob"], reverse=True) == list(place["logprob"])
        assert len(place["token"]) == 5
