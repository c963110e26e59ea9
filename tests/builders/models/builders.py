"""Tiny language models of every family with seeded random weights, saved as real folders.

Exactness does not need training, only predictions that are far from uniform: every weight gets
normal noise of 0.15.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import PreTrainedTokenizerFast

from tests.builders.models.vocabularies import VOCABULARIES, Vocabulary

NOISE = 0.15
POSITIONS = 130
SHAPE: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,  # whole vectors: the rest of a row may be rounded otherwise
    "max_position_embeddings": POSITIONS,
}
GROUPED: dict[str, Any] = {"num_key_value_heads": 2, **SHAPE}
"""Queries share keys and values, as in Llama."""

Make = Callable[[PreTrainedTokenizerFast], Any]


@dataclass(frozen=True)
class Build:
    """A model of one architecture under one tokenizer."""

    family: str
    vocabulary: str
    make: Make

    @property
    def reads(self) -> Vocabulary:
        return VOCABULARIES[self.vocabulary]


def numbers(tokenizer: PreTrainedTokenizerFast) -> dict[str, Any]:
    """The special tokens as a configuration names them."""
    return {
        f"{name}_token_id": getattr(tokenizer, f"{name}_token_id", None)
        for name in ("pad", "bos", "eos", "cls", "sep")
    }


def bert(tokenizer: PreTrainedTokenizerFast) -> Any:
    return transformers.BertForMaskedLM(transformers.BertConfig(vocab_size=len(tokenizer), **SHAPE))


def roberta(tokenizer: PreTrainedTokenizerFast) -> Any:
    return transformers.RobertaForMaskedLM(
        transformers.RobertaConfig(vocab_size=len(tokenizer), type_vocab_size=1, **SHAPE)
    )


def xlm_roberta(tokenizer: PreTrainedTokenizerFast) -> Any:
    return transformers.XLMRobertaForMaskedLM(
        transformers.XLMRobertaConfig(vocab_size=len(tokenizer), type_vocab_size=1, **SHAPE)
    )


def albert(tokenizer: PreTrainedTokenizerFast) -> Any:
    return transformers.AlbertForMaskedLM(
        transformers.AlbertConfig(vocab_size=len(tokenizer), embedding_size=16, **SHAPE)
    )


def distilbert(tokenizer: PreTrainedTokenizerFast) -> Any:
    return transformers.DistilBertForMaskedLM(
        transformers.DistilBertConfig(
            vocab_size=len(tokenizer),
            dim=32,
            n_layers=2,
            n_heads=4,
            hidden_dim=64,
            max_position_embeddings=POSITIONS,
        )
    )


def electra(tokenizer: PreTrainedTokenizerFast) -> Any:
    return transformers.ElectraForMaskedLM(
        transformers.ElectraConfig(vocab_size=len(tokenizer), embedding_size=16, **SHAPE)
    )


def deberta(tokenizer: PreTrainedTokenizerFast) -> Any:
    relative: dict[str, Any] = {
        "relative_attention": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_buckets": 8,
        "position_biased_input": False,
    }
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "`torch.jit.script` is deprecated", DeprecationWarning
        )  # by transformers, at import
        kind: Any = transformers.DebertaV2ForMaskedLM
    return kind(
        transformers.DebertaV2Config(
            vocab_size=len(tokenizer), type_vocab_size=0, **relative, **SHAPE
        )
    )


def modernbert(tokenizer: PreTrainedTokenizerFast) -> Any:
    """Every second layer sees four tokens to either side."""
    window: dict[str, Any] = {"local_attention": 8, "global_attn_every_n_layers": 2}
    return transformers.ModernBertForMaskedLM(
        transformers.ModernBertConfig(
            vocab_size=len(tokenizer), **window, **SHAPE, **numbers(tokenizer)
        )
    )


def gpt2(tokenizer: PreTrainedTokenizerFast) -> Any:
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(
            vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=4, n_positions=POSITIONS
        )
    )


def llama(tokenizer: PreTrainedTokenizerFast) -> Any:
    return transformers.LlamaForCausalLM(
        transformers.LlamaConfig(vocab_size=len(tokenizer), **GROUPED, **_named(tokenizer))
    )


def _named(tokenizer: PreTrainedTokenizerFast) -> dict[str, Any]:
    return {
        name: number
        for name, number in numbers(tokenizer).items()
        if name in ("pad_token_id", "bos_token_id", "eos_token_id")
    }


def gemma3(tokenizer: PreTrainedTokenizerFast, sliding_window: int = 8) -> Any:
    """One layer of two sees eight tokens back; logits are capped softly."""
    layers: dict[str, Any] = {
        "sliding_window": sliding_window,
        "layer_types": ["sliding_attention", "full_attention"],
        "final_logit_softcapping": 3.0,
    }
    return transformers.Gemma3ForCausalLM(
        transformers.Gemma3TextConfig(
            vocab_size=len(tokenizer), head_dim=8, **layers, **GROUPED, **_named(tokenizer)
        )
    )


def gemma3_wide(tokenizer: PreTrainedTokenizerFast) -> Any:
    """A window wider than any text here, as wide windows are for sentences."""
    return gemma3(tokenizer, sliding_window=POSITIONS)


def qwen2(tokenizer: PreTrainedTokenizerFast) -> Any:
    return transformers.Qwen2ForCausalLM(
        transformers.Qwen2Config(vocab_size=len(tokenizer), **GROUPED, **_named(tokenizer))
    )


def qwen3(tokenizer: PreTrainedTokenizerFast) -> Any:
    return transformers.Qwen3ForCausalLM(
        transformers.Qwen3Config(
            vocab_size=len(tokenizer), head_dim=8, **GROUPED, **_named(tokenizer)
        )
    )


def xlnet(tokenizer: PreTrainedTokenizerFast) -> Any:
    return transformers.XLNetLMHeadModel(
        transformers.XLNetConfig(
            vocab_size=len(tokenizer),
            d_model=32,
            n_layer=2,
            n_head=4,
            d_inner=64,
            **_named(tokenizer),
        )
    )


BUILDS = {
    "bert": Build("masked", "wordpiece-uncased", bert),
    "bert-real-vocabulary": Build("masked", "real-bert", bert),
    "roberta": Build("masked", "byte-level", roberta),
    "roberta-space": Build("masked", "byte-level-space", roberta),
    "albert": Build("masked", "unigram-segments", albert),
    "distilbert": Build("masked", "wordpiece-cased", distilbert),
    "electra": Build("masked", "wordpiece-uncased", electra),
    "deberta": Build("masked", "unigram-segments", deberta),
    "modernbert": Build("masked", "byte-level", modernbert),
    "xlm-roberta": Build("masked", "unigram", xlm_roberta),
    "gpt2": Build("causal", "has-bos", gpt2),
    "llama": Build("causal", "adds-bos", llama),
    "gemma3": Build("causal", "adds-both", gemma3),
    "gemma3-wide": Build("causal", "adds-bos", gemma3_wide),
    "qwen2": Build("causal", "has-eos", qwen2),
    "qwen3": Build("causal", "has-neither", qwen3),
    "xlnet": Build("permuted", "class-last", xlnet),
}


def names(family: str) -> list[str]:
    return [name for name, build in BUILDS.items() if build.family == family]


def seeded(model: Any, seed: int = 0) -> Any:
    """Noise on every weight, the same each time."""
    noise = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for _, parameter in sorted(model.named_parameters()):
            parameter.add_(NOISE * torch.randn(parameter.shape, generator=noise))
    return model.eval()


def save(model: Any, tokenizer: PreTrainedTokenizerFast, folder: Path, **how: Any) -> Path:
    """config.json, weights and tokenizer files, as `save_pretrained` leaves them."""
    model.save_pretrained(folder, **how)
    tokenizer.save_pretrained(folder)
    return folder


def build(name: str, folder: Path, seed: int = 0) -> Path:
    """A model of the table, saved."""
    torch.manual_seed(seed)
    tokenizer = BUILDS[name].reads.make()
    return save(seeded(BUILDS[name].make(tokenizer), seed), tokenizer, folder)
