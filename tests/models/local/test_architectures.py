"""Architectures beyond the zoo: heads that scale, cap or go round the trunk; trunks that are no
transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers

from stereometer.core.errors import ModelError
from stereometer.core.types import MaskedTokens, Request
from stereometer.models.local.causal import Causal
from stereometer.models.local.checkpoint import Checkpoint, LoadingOptions, family_of
from stereometer.models.local.masked import Masked
from tests.builders.models.agreement import assert_same, family, rows, slow
from tests.builders.models.builders import GROUPED, POSITIONS, SHAPE, seeded
from tests.builders.models.vocabularies import adds_bos, wordpiece

SIZE = 900


def model_of(name: str, head: str = "ForCausalLM", **settings: Any) -> Any:
    torch.manual_seed(0)
    config = getattr(transformers, f"{name}Config")(vocab_size=SIZE, **settings)
    return seeded(getattr(transformers, f"{name}{head}")(config))


def opt() -> Any:
    return model_of("OPT", **SHAPE | {"ffn_dim": 48, "word_embed_proj_dim": 32})


def gemma2() -> Any:
    """Logits are capped at a height that is nearly nothing to small ones."""
    return model_of(
        "Gemma2", head_dim=8, sliding_window=POSITIONS, final_logit_softcapping=60.0, **GROUPED
    )


def prophetnet() -> Any:
    """What its decoder gives a token depends on how long the text is, padding included."""
    return model_of(
        "ProphetNet",
        hidden_size=32,
        max_position_embeddings=64,
        num_decoder_layers=2,
        num_decoder_attention_heads=4,
        decoder_ffn_dim=48,
        is_decoder=True,
        is_encoder_decoder=False,
    )


def reformer(head: str = "ModelWithLMHead", **settings: Any) -> Any:
    """Which tokens attend to each other is drawn in every forward pass, unless there is a seed."""
    sizes = dict.fromkeys(("hidden_size", "feed_forward_size", "attention_head_size"), 32)
    chunks = dict.fromkeys(("lsh_attn_chunk_length", "local_attn_chunk_length"), 4)
    few = dict.fromkeys(("num_buckets", "num_attention_heads"), 2)
    layers: dict[str, Any] = {"attn_layers": ["lsh", "local"], "axial_pos_embds": False}
    return model_of("Reformer", head, **layers | sizes | chunks | few | settings)


def deepseek() -> Any:
    """From `index_topk` tokens on it attends to some of them, and which depends on the length."""
    ranks = dict.fromkeys(("kv_lora_rank", "q_lora_rank", "index_topk", "index_head_dim"), 8)
    heads = dict.fromkeys(("qk_rope_head_dim", "qk_nope_head_dim", "num_key_value_heads"), 4)
    experts = dict.fromkeys(("n_group", "topk_group", "first_k_dense_replace"), 1)
    sizes = {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16}
    more: dict[str, Any] = ranks | heads | experts | sizes
    return model_of("DeepseekV32", index_n_heads=2, v_head_dim=8, **SHAPE, **more)


WORKING: dict[str, Callable[[], Any]] = {
    "bloom": lambda: model_of("Bloom", hidden_size=32, n_layer=2, n_head=4),
    "bert as a decoder": lambda: model_of("Bert", "LMHeadModel", is_decoder=True, **SHAPE),
    "granite (divided logits)": lambda: model_of("Granite", logits_scaling=4.0, **GROUPED),
    "mamba": lambda: model_of("Mamba", hidden_size=32, num_hidden_layers=2, state_size=4),
    "lfm2": lambda: model_of(
        "Lfm2", layer_types=["conv", "full_attention"], conv_L_cache=3, **GROUPED
    ),
    "falcon with alibi": lambda: model_of(
        "Falcon",
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        alibi=True,
        new_decoder_architecture=False,
    ),
    "prophetnet": prophetnet,
    "reformer with a seed": lambda: reformer(is_decoder=True, hash_seed=3),
    "deepseek past its index": deepseek,
}


def causal(model: Any) -> Causal:
    return Causal(Checkpoint("tiny", "causal", model, adds_bos(), LoadingOptions()))


@pytest.mark.long
@pytest.mark.parametrize("name", WORKING)
def test_a_causal_model_of_any_build_gives_what_it_gives_by_itself(name: str) -> None:
    model = WORKING[name]()
    requests = family(12, 9, 3) | family(4, 5, 2, seed=1) | family(7, 3, 1, seed=2)
    requests |= family(12, 8, 2, seed=3)  # nearly as long as the first ones
    assert_same(rows(causal(model), requests), slow(model, requests))


def test_a_model_that_minds_company_is_asked_one_text_at_a_time() -> None:
    model, requests = prophetnet(), family(12, 9, 3) | family(12, 8, 2, seed=3)
    model.get_input_embeddings().register_forward_hook(lambda _, __, rows: rows * len(rows))
    backend = causal(model)
    assert_same(rows(backend, requests), slow(model, requests))
    assert backend.layouts == [backend.alone]


def test_a_model_that_draws_its_numbers_is_refused() -> None:
    bare = Checkpoint(
        "t", "masked", reformer("ForMaskedLM", is_decoder=False), wordpiece(True), LoadingOptions()
    )
    for backend, requests in (
        (causal(reformer(is_decoder=True)), family(12, 9, 3)),
        (Masked(bare), some_copies()),
    ):
        with pytest.raises(ModelError, match="hash_seed"):
            rows(backend, requests)


def test_a_head_for_both_kinds_is_what_its_configuration_says() -> None:
    name = ["XLMWithLMHeadModel"]
    for causal_, kind in ((False, "masked"), (True, "causal")):
        config = transformers.XLMConfig(architectures=name, causal=causal_)
        assert family_of(config, "xlm")[0] == kind


def test_a_head_that_goes_round_the_trunk() -> None:
    model, requests = opt(), family(12, 9, 3)
    assert_same(rows(causal(model), requests), slow(model, requests))


def test_a_head_that_caps_its_logits() -> None:
    model, requests = gemma2(), family(12, 9, 3)
    assert_same(rows(causal(model), requests), slow(model, requests))


@pytest.mark.parametrize("name", ["lfm2", "falcon with alibi"])
def test_trunks_that_take_no_trees_where_the_first_texts_do_not_branch(name: str) -> None:
    model = WORKING[name]()
    backend, requests = causal(model), family(6, 4, 3, seed=1)
    rows(backend, family(6, 4, 1))
    assert_same(rows(backend, requests), slow(model, requests))


# ------------------------------------------------------------------------------------------- masked


def masked_slow(model: Any, requests: dict[str, Request], mask: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for key, request in requests.items():
        assert isinstance(request, MaskedTokens)
        for hidden, at in request.steps:
            ids = [mask if place in hidden else one for place, one in enumerate(request.ids)]
            with torch.no_grad():
                logs = model(input_ids=torch.tensor([ids])).logits[0, at].double().log_softmax(-1)
            found.setdefault(key, []).append(float(logs[request.ids[at]]))
    return found


MASKED: dict[str, Callable[[], Any]] = {
    "mpnet": lambda: model_of("MPNet", "ForMaskedLM", **SHAPE),
    "funnel": lambda: model_of(
        "Funnel", "ForMaskedLM", d_model=32, n_head=4, d_head=8, d_inner=64, block_sizes=[1, 1]
    ),
    "funnel of three blocks": lambda: model_of(
        "Funnel", "ForMaskedLM", d_model=32, n_head=4, d_head=8, d_inner=64, block_sizes=[1, 1, 1]
    ),
    "xlm": lambda: model_of("XLM", "WithLMHeadModel", emb_dim=32, n_layers=2, n_heads=4),
    "rembert": lambda: model_of(
        "RemBert", "ForMaskedLM", input_embedding_size=16, output_embedding_size=24, **SHAPE
    ),
}


def some_copies() -> dict[str, Request]:
    found = [
        MaskedTokens(tuple(range(20, 20 + length)), tuple(((at,), at) for at in range(length)))
        for length in (5, 7, 7, 12)
    ]
    return {request.key: request for request in found}


@pytest.mark.parametrize("name", MASKED)
def test_a_masked_model_of_any_build_gives_what_it_gives_by_itself(name: str) -> None:
    model, requests = MASKED[name](), some_copies()
    backend = Masked(Checkpoint("tiny", "masked", model, wordpiece(True), LoadingOptions()))
    assert_same(rows(backend, requests), masked_slow(model, requests, backend.mask))


def test_a_structure_that_looks_familiar_and_is_not() -> None:
    model, requests = model_of("IBert", "ForMaskedLM", type_vocab_size=1, **SHAPE), some_copies()
    backend = Masked(Checkpoint("tiny", "masked", model, wordpiece(True), LoadingOptions()))
    assert_same(rows(backend, requests), masked_slow(model, requests, backend.mask))
