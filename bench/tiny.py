"""Three transformers of two layers with seeded random weights and tokenizers of their own, saved as
folders: real models for the command line, quick, and the same on every machine."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

SIZE = 900
"""Pieces of a vocabulary: few, so that many words fall into several."""
POSITIONS = 512
MARKS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
NOISE = 0.15
"""Added to every weight, so that predictions are far from uniform."""
SHAPE: dict[str, Any] = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": POSITIONS,
}


def save(folder: Path, texts: Sequence[str], steps: int) -> None:
    """`bert`, `gpt2` and `llama`, and a series of BERTs that drift from the first, `step1` ..."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in MODELS.items():
        _model(folder / name, make, texts)
    for step in range(1, steps + 1):
        _model(folder / f"step{step}", _bert, texts, drift=step)


def _model(folder: Path, make: Callable[..., Any], texts: Sequence[str], drift: int = 0) -> None:
    import torch

    torch.manual_seed(0)
    model, tokenizer = make(texts)
    with torch.no_grad():
        for seed, weight in ((0, NOISE), (1, 0.02 * drift)):
            noise = torch.Generator().manual_seed(seed)
            for _, parameter in sorted(model.named_parameters()):
                parameter.add_(weight * torch.randn(parameter.shape, generator=noise))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _bert(texts: Sequence[str]) -> tuple[Any, Any]:
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

    trained = BertWordPieceTokenizer(_pieces(texts), lowercase=True)
    trained.post_processor = _template(
        trained, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", "[CLS]", "[SEP]"
    )
    special = {f"{mark[1:-1].lower()}_token": mark for mark in MARKS}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **special,
    )
    return BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **SHAPE)), tokenizer


def _pieces(texts: Sequence[str]) -> dict[str, int]:
    """Letters, the commonest words and what words end in. The library's trainer of WordPiece does
    not make the same choice each time."""
    words = Counter(re.findall(r"\w+", " ".join(texts).lower()))
    ends = Counter(f"##{word[-3:]}" for word in words if len(word) > 5)
    letters = sorted({letter for text in texts for letter in text.lower() if letter != " "})
    often = [*_commonest(words, SIZE // 2), *_commonest(ends, SIZE // 4)]
    pieces = [*MARKS, *letters, *(f"##{letter}" for letter in letters), *often]
    return {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}


def _commonest(counts: Counter[str], most: int) -> list[str]:
    return sorted(counts, key=lambda name: (-counts[name], name))[:most]


def _gpt2(texts: Sequence[str]) -> tuple[Any, Any]:
    from transformers import GPT2Config, GPT2LMHeadModel

    tokenizer = _byte_level(texts)
    shape: dict[str, Any] = {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": POSITIONS}
    config = GPT2Config(vocab_size=len(tokenizer), **shape, **_ends(tokenizer))
    return GPT2LMHeadModel(config), tokenizer


def _llama(texts: Sequence[str]) -> tuple[Any, Any]:
    """Its tokenizer puts `<s>` before every text."""
    from transformers import LlamaConfig, LlamaForCausalLM

    tokenizer = _byte_level(texts, before="<s>")
    shape = {**SHAPE, "num_key_value_heads": 2}
    config = LlamaConfig(vocab_size=len(tokenizer), **shape, **_ends(tokenizer))
    return LlamaForCausalLM(config), tokenizer


MODELS: dict[str, Callable[[Sequence[str]], tuple[Any, Any]]] = {
    "bert": _bert,
    "gpt2": _gpt2,
    "llama": _llama,
}


def _byte_level(texts: Sequence[str], before: str = "") -> Any:
    from tokenizers import ByteLevelBPETokenizer
    from transformers import PreTrainedTokenizerFast

    special = ["<pad>", "<s>", "</s>"]
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(texts, vocab_size=SIZE, special_tokens=special, show_progress=False)
    if before:
        trained.post_processor = _template(trained, f"{before} $A", f"{before} $A $B:1", before)
    names = dict(zip(("pad_token", "bos_token", "eos_token"), special, strict=True))
    return PreTrainedTokenizerFast(tokenizer_object=trained._tokenizer, **names)


def _ends(tokenizer: Any) -> dict[str, Any]:
    return {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("bos", "eos")}


def _template(trained: Any, single: str, pair: str, *special: str) -> Any:
    from tokenizers.processors import TemplateProcessing

    known = [(name, trained.token_to_id(name)) for name in special]
    return TemplateProcessing(single=single, pair=pair, special_tokens=known)
