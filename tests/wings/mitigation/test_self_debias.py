"""Self-Debias gives, to 1e-5 a token, what its formula gives one text at a time; where it must
change nothing it changes nothing."""

from __future__ import annotations

from math import exp, fsum
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from stereometer.core.errors import ModelError
from stereometer.core.types import (
    HIDDEN,
    SET_DISTANCES,
    WORD_MASSES,
    CausalTokens,
    Generate,
    MaskedBlank,
    MaskedTokens,
    NextTokens,
    Request,
    Skip,
    SpanVectors,
)
from stereometer.models.local import forward
from stereometer.testing import check_backend
from stereometer.wings.mitigation.forms import self_debias
from stereometer.wings.mitigation.forms.self_debias import Reweighting
from tests.builders.models import items
from tests.builders.models.agreement import assert_agree, assert_same, rows
from tests.builders.models.self_debias import PROMPT, by_rule, debiased, slowly
from tests.builders.models.zoo import Zoo

MASKED = ["bert", "roberta", "albert"]
CAUSAL = ["gpt2", "llama", "qwen3"]
SOME_CATS = [*items.QUIRKY_CATS[:6], *items.QUIRKY_CATS[-4:]]
SOME_PAIRS = [*items.QUIRKY_PAIRS[:6], items.starter("pair")[0]]

# -------------------------------------------------------------------------------------- the formula

LOGITS = st.lists(st.floats(-12, 12), min_size=2, max_size=12)


@given(LOGITS, st.integers(0, 2**32), st.floats(0, 200), st.floats(0.001, 1))
@settings(max_examples=60, deadline=None)
def test_the_formula_is_that_of_the_paper(
    logits: list[float], seed: int, decay: float, eps: float
) -> None:
    plain = torch.tensor([logits])
    prompted = plain + torch.randn(plain.shape, generator=torch.Generator().manual_seed(seed))
    scores = Reweighting(decay, eps)(plain, prompted)[0]
    left, right = (row.double().softmax(-1)[0].tolist() for row in (plain, prompted))
    assert scores.exp().tolist() == pytest.approx(by_rule(left, right, decay, eps), abs=1e-9)
    assert fsum(scores.exp().tolist()) == pytest.approx(1, abs=1e-12)


def test_what_the_prompt_makes_likelier_is_held_down_and_never_below_eps() -> None:
    plain, prompted = torch.tensor([[0.0, 0.0, 0.0]]), torch.tensor([[5.0, 0.0, 0.0]])
    weak, strong = (Reweighting(decay, 0.01)(plain, prompted)[0].exp() for decay in (1.0, 500.0))
    assert weak[0] < 1 / 3 < weak[1]
    assert float(strong[0] / strong[1]) == pytest.approx(0.01)


@pytest.mark.parametrize("model", ["bert", "gpt2"])
@pytest.mark.parametrize(
    ("prompt", "reweighting"),
    [(PROMPT, Reweighting(decay=0.0)), (PROMPT, Reweighting(eps=1.0)), ("", Reweighting())],
    ids=["lambda 0", "eps 1", "no prompt"],
)
def test_a_setting_that_changes_nothing_gives_the_model_itself(
    zoo: Zoo, model: str, prompt: str, reweighting: Reweighting
) -> None:
    backend = zoo.backend(model)
    requests = token_requests(backend)
    assert_same(rows(debiased(zoo, model, prompt, reweighting), requests), rows(backend, requests))


def token_requests(backend: object) -> dict[str, Request]:
    """Some of the tokens of some texts."""
    requests: list[Request] = []
    for text in ("The old cook sang.", "A woman and a man went home.", "He is loud."):
        ids = backend.encode(text).ids  # type: ignore[attr-defined]
        if MaskedTokens.kind in backend.abilities.kinds:  # type: ignore[attr-defined]
            steps = tuple(((at,), at) for at in range(1, len(ids) - 1))
            requests.append(MaskedTokens(ids, steps))
        else:
            requests.append(CausalTokens(ids, 1))
    return {request.key: request for request in requests}


# ------------------------------------------------------------------------------------- the slow way


@pytest.mark.long
@pytest.mark.parametrize("model", MASKED)
def test_masked_models_give_what_one_copy_at_a_time_gives(zoo: Zoo, model: str) -> None:
    backend, slow = debiased(zoo, model), slowly(zoo, model)
    scores = assert_agree("cat-pseudo-likelihood", "sound", backend, slow, SOME_CATS)
    assert sum(score.skipped is None for score in scores) >= len(scores) / 2
    assert_agree("pair-likelihood", "sound", backend, slow, SOME_PAIRS)


@pytest.mark.parametrize("model", CAUSAL)
def test_causal_models_give_what_one_text_at_a_time_gives(zoo: Zoo, model: str) -> None:
    backend, slow = debiased(zoo, model), slowly(zoo, model)
    scores = assert_agree("cat-likelihood", "sound", backend, slow, SOME_CATS)
    assert sum(score.skipped is None for score in scores) >= len(scores) / 2
    assert_agree("pair-sentence-likelihood", "sound", backend, slow, SOME_PAIRS)


@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_numbers_do_not_hang_on_company(
    zoo: Zoo, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = token_requests(zoo.backend(model))
    together = rows(debiased(zoo, model), requests)
    shuffled = Random(1).sample(sorted(requests), len(requests))
    alone = {
        key: row
        for name in shuffled
        for key, row in rows(debiased(zoo, model), {name: requests[name]}).items()
    }
    assert_same(alone, together)
    monkeypatch.setattr(self_debias, "TOGETHER", 1)
    monkeypatch.setattr(forward, "LOGIT_BYTES", 4 * 900 * 3)
    assert_same(rows(debiased(zoo, model), requests), together)


@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_it_changes_the_numbers(zoo: Zoo, model: str) -> None:
    requests = token_requests(zoo.backend(model))
    before, after = rows(zoo.backend(model), requests), rows(debiased(zoo, model), requests)
    assert all(after[key] != pytest.approx(before[key], abs=1e-3) for key in requests)


# ------------------------------------------------------------------------------------------- blanks


@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_blanks_are_reweighted_and_sum_to_one(zoo: Zoo, model: str) -> None:
    backend, slow = debiased(zoo, model), slowly(zoo, model)
    ids = backend.encode("The old cook sang.").ids
    everything = tuple(range(backend.split.vocabulary))
    request: Request
    if backend.card.family == "masked":
        request = MaskedBlank((*ids[:2], HIDDEN, *ids[3:]), 2, everything)
        hidden = [*ids[:2], backend.checkpoint.tokenizer.mask_token_id, *ids[3:]]
        wanted = slow.log_probabilities(slow.inputs(hidden, [0] * len(ids)))[2]
    else:
        request = NextTokens(ids, everything)
        wanted = slow.log_probabilities(slow.inputs(ids, None))[-1]
    ((_, answer),) = backend.answer({"one": request})
    row = answer.column("logprob")
    assert list(row) == pytest.approx(wanted.tolist(), abs=1e-5)
    assert fsum(map(exp, row)) == pytest.approx(1, abs=1e-9)
    masses = answer.column("logmass")
    assert all(mass >= value - 1e-9 for mass, value in zip(masses, row, strict=True))


@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_what_would_be_the_numbers_of_the_base_is_not_answered(zoo: Zoo, model: str) -> None:
    abilities = debiased(zoo, model).abilities
    assert SpanVectors.kind in zoo.backend(model).abilities.kinds
    assert SpanVectors.kind not in abilities.kinds
    assert SET_DISTANCES not in abilities.columns
    assert WORD_MASSES in abilities.columns


@pytest.mark.parametrize("model", ["bert", "gpt2", "llama"])
def test_it_keeps_the_contract_of_a_backend(zoo: Zoo, model: str) -> None:
    check_backend(debiased(zoo, model))


# --------------------------------------------------------------------------------------- generation


def written(backend: object, request: Generate) -> tuple[str | None, list[float]]:
    ((_, answer),) = backend.answer({request.key: request})  # type: ignore[attr-defined]
    return answer.text, list(answer.column("logprob"))


def test_what_is_written_is_drawn_from_the_same_distribution(zoo: Zoo) -> None:
    backend = debiased(zoo, "gpt2")
    request = Generate("The old cook", temperature=1.0, max_tokens=4)
    _, logprobs = written(backend, request)
    assert len(logprobs) > 0
    ids = backend.encode("The old cook").ids
    drawn: list[int] = []
    slow = slowly(zoo, "gpt2")
    for value in logprobs:
        scores = slow.log_probabilities(slow.inputs([*ids, *drawn], None))[-1]
        drawn.append(int((scores - value).abs().argmin()))
        assert float(scores[drawn[-1]]) == pytest.approx(value, abs=1e-3)


def test_without_a_prompt_the_model_writes_what_it_writes(zoo: Zoo) -> None:
    request = Generate("The old cook", temperature=1.0, max_tokens=5)
    plain, same = zoo.backend("gpt2"), debiased(zoo, "gpt2", prompt="")
    assert written(same, request)[0] == written(plain, request)[0]


# ---------------------------------------------------------------------------------------- bad input


def test_a_text_that_fits_only_without_the_prompt_is_left_out(zoo: Zoo) -> None:
    backend, plain = debiased(zoo, "gpt2"), zoo.backend("gpt2")
    length = len(backend.prefix)
    assert backend.abilities.window == plain.abilities.window - length
    text = "a " * 200
    while len(text) > 1:
        try:
            longest = plain.encode(text)
            break
        except Skip:
            text = text[:-2]
    assert len(longest.ids) > backend.tokens.window
    with pytest.raises(Skip, match="window"):
        backend.encode(text)


def test_a_prompt_that_leaves_no_room_is_an_error(zoo: Zoo) -> None:
    with pytest.raises(ModelError, match="shorter prompt"):
        debiased(zoo, "gpt2", prompt="a " * 200)


def test_a_permuted_model_is_refused(zoo: Zoo) -> None:
    with pytest.raises(ModelError, match="masked or causal"):
        debiased(zoo, "xlnet")


def test_a_text_of_two_is_told_to_which_the_prompt_belongs(zoo: Zoo) -> None:
    backend = debiased(zoo, "bert")
    encoding = backend.encode("A cook.", "He sang.")
    request = MaskedTokens(encoding.ids, (((2,), 2),), encoding.segments)
    moved = backend.prefix.before(request)
    assert isinstance(moved, MaskedTokens)
    length = len(backend.prefix)
    assert moved.steps == (((2 + length,), 2 + length),)
    assert moved.segments == (0,) * length + encoding.segments
    assert moved.ids[1 : 1 + length] == backend.prefix.ids
