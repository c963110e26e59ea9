"""Texts packed into one row give what each text gives by itself, whatever the family."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stereometer.core.runs.open import open_model
from tests.builders.models.agreement import assert_same, family, rows, slow
from tests.builders.models.builders import GROUPED, POSITIONS, SHAPE, gemma3, seeded
from tests.builders.models.vocabularies import adds_bos
from tests.models.local.test_architectures import causal, model_of

WINDOW: dict[str, Any] = {"sliding_window": 6}
SMALL: dict[str, Any] = {"head_dim": 16, **GROUPED}
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.0}
ONE_KEY = SMALL | {"num_key_value_heads": 1}

PACKED: dict[str, Callable[[], Any]] = {
    "llama": lambda: model_of("Llama", **GROUPED),
    "llama, one key head, wide heads": lambda: model_of("Llama", **ONE_KEY),
    "llama, tied, biases": lambda: model_of(
        "Llama", tie_word_embeddings=True, attention_bias=True, mlp_bias=True, **GROUPED
    ),
    "llama, yarn": lambda: model_of("Llama", rope_parameters=YARN, **GROUPED),
    "llama, llama3 scaling": lambda: model_of("Llama", rope_parameters=LLAMA3, **GROUPED),
    "llama, linear scaling": lambda: model_of("Llama", rope_parameters=LINEAR, **GROUPED),
    "mistral, short window": lambda: model_of("Mistral", **WINDOW, **GROUPED),
    "qwen2": lambda: model_of("Qwen2", **GROUPED),
    "qwen2, short window": lambda: model_of(
        "Qwen2", use_sliding_window=True, max_window_layers=1, **WINDOW, **GROUPED
    ),
    "qwen3": lambda: model_of("Qwen3", **SMALL),
    "gemma": lambda: model_of("Gemma", **SMALL),
    "gemma2, short window": lambda: model_of("Gemma2", **WINDOW, **SMALL),
    "gemma2, low caps": lambda: model_of(
        "Gemma2", attn_logit_softcapping=0.5, final_logit_softcapping=2.0, **WINDOW, **SMALL
    ),
    "gemma3, short window": lambda: seeded(gemma3(adds_bos())),
    "phi": lambda: model_of("Phi", partial_rotary_factor=0.5, **SHAPE),
    "phi3": lambda: model_of("Phi3", pad_token_id=0, **GROUPED),
    "gpt-neox": lambda: model_of("GPTNeoX", **SHAPE),
    "gpt-neox, serial": lambda: model_of("GPTNeoX", use_parallel_residual=False, **SHAPE),
    "gpt2": lambda: model_of(
        "GPT2", "LMHeadModel", n_embd=32, n_layer=2, n_head=4, n_positions=POSITIONS
    ),
    "cohere": lambda: model_of("Cohere", logit_scale=0.3, **GROUPED),
    "olmo2": lambda: model_of("Olmo2", **GROUPED),
    "stablelm": lambda: model_of("StableLm", **GROUPED),
    "granite": lambda: model_of(
        "Granite", residual_multiplier=0.5, attention_multiplier=0.3, **GROUPED
    ),
    "starcoder2": lambda: model_of("Starcoder2", **GROUPED),
    "smollm3": lambda: model_of("SmolLM3", pad_token_id=0, **GROUPED),
    "mixtral": lambda: model_of("Mixtral", num_local_experts=4, **GROUPED),
}


def requests() -> dict[str, Any]:
    return family(12, 9, 3) | family(4, 5, 2, seed=1) | family(7, 3, 1, seed=2)


@pytest.mark.long
@pytest.mark.parametrize("name", PACKED)
def test_every_token_of_a_packed_row_is_that_of_its_text_alone(name: str) -> None:
    model = PACKED[name]()
    backend, asked = causal(model), requests()
    assert_same(rows(backend, asked), slow(model, asked))
    assert getattr(backend.layouts[0], "func", None) == backend.in_paths  # none stepped aside


@st.composite
def settings_of_a_decoder(draw: st.DrawFn) -> dict[str, Any]:
    """Heads that share keys in every way, wide and narrow, with and without biases and windows."""
    heads = draw(st.sampled_from([2, 4, 6]))
    return {
        "hidden_size": 24,
        "intermediate_size": draw(st.sampled_from([16, 40])),
        "num_hidden_layers": draw(st.integers(1, 3)),
        "num_attention_heads": heads,
        "num_key_value_heads": draw(st.sampled_from([n for n in (1, 2, 3, 6) if heads % n == 0])),
        "head_dim": draw(st.sampled_from([4, 8, 16])),
        "max_position_embeddings": POSITIONS,
        "attention_bias": draw(st.booleans()),
        "tie_word_embeddings": draw(st.booleans()),
        "sliding_window": draw(st.sampled_from([3, 12, POSITIONS])),
        "layer_types": None,
    }


@pytest.mark.long
@settings(deadline=None, max_examples=12)
@given(
    st.sampled_from(["Llama", "Mistral", "Qwen3", "Gemma2"]),
    settings_of_a_decoder(),
    st.integers(0, 20),
)
def test_any_configuration_is_exact(name: str, config: dict[str, Any], prefix: int) -> None:
    model = model_of(name, **config)
    asked = family(prefix, 5, 3) | family(2, 3, 1, seed=1)
    assert_same(rows(causal(model), asked), slow(model, asked))


def test_rotations_that_hang_on_the_length_step_aside() -> None:
    """Beyond 12 tokens such a model turns all of a text, also its beginning, in another way."""
    scaling = {
        "rope_type": "longrope",
        "rope_theta": 10000.0,
        "factor": 2.0,
        "short_factor": [1.0] * 4,
        "long_factor": [2.0] * 4,
        "original_max_position_embeddings": 12,
    }
    model = model_of("Llama", rope_parameters=scaling, **GROUPED)
    backend = causal(model)
    for asked in (family(2, 3, 3), family(12, 9, 3) | family(2, 3, 2, seed=1), family(4, 3, 2)):
        assert_same(rows(backend, asked), slow(model, asked))
    assert backend.layouts == [backend.in_rows, backend.alone]


@pytest.mark.long
def test_real_weights_are_exact() -> None:
    backend: Any = open_model("smollm2-135m", 0, {"threads": 1})
    texts = {
        key: request
        for number in range(4)
        for key, request in family(6 + 9 * number, 12, 3, seed=number).items()
    }
    expected = slow(backend.model, texts)
    for key, row in rows(backend, texts).items():  # tokens drawn at random: down to -20
        assert row == pytest.approx(expected[key], rel=1e-5, abs=1e-5)
    assert backend.layouts[0].func == backend.in_paths
