"""A model's tokenizer as measures see it: ids, character offsets, words and special tokens.

Everything is asked of the tokenizer itself; nothing depends on a model's name.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from stereometer.core.types import Encoding, Skip

BYTE_LEVEL_SPACE = "\u0120"
"""How byte-level vocabularies write a space."""
UNBOUNDED = 1_000_000
"""transformers writes a huge number where a tokenizer has no limit."""


@dataclass(frozen=True)
class Tokens:
    """Encodes texts for one model family."""

    tokenizer: Any
    causal: bool
    window: int
    """The longest sequence the model takes."""
    vocabulary: int = UNBOUNDED
    """Tokens that the model knows."""
    kinds: int = UNBOUNDED
    """Segments that the model knows: a tokenizer may number more."""

    @cached_property
    def first_token(self) -> tuple[int | None, str]:
        """What stands before the first word of a causal model's text, and who says so."""
        if not self.causal:
            return None, "special tokens as the tokenizer adds them"
        tokenizer = self.tokenizer
        added = tokenizer("a", return_special_tokens_mask=True)
        if added["input_ids"] and added["special_tokens_mask"][0]:
            return None, f"the tokenizer adds {tokenizer.convert_ids_to_tokens(added.input_ids[0])}"
        for name in ("bos_token", "eos_token"):
            number = getattr(tokenizer, f"{name}_id")
            if number is not None:
                return int(number), f"{getattr(tokenizer, name)} ({name}) is put first"
        return None, "none: the first token of a text is not scored"

    @cached_property
    def leading_space(self) -> bool:
        """Whether a word is another token at the start of a text than after a space."""
        inner = self._plain("the cat")[len(self._plain("the")) :]
        return bool(inner) and self._plain("cat") != inner

    @cached_property
    def cased(self) -> bool:
        return self._plain("The Cat") != self._plain("the cat")

    def _plain(self, text: str) -> list[int]:
        ids: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    @property
    def settings(self) -> dict[str, Any]:
        """What a result records of them."""
        return {
            "first_token": self.first_token[1],
            "leading_space": self.leading_space,
            "cased": self.cased,
            "window": self.window,
        }

    def encode(self, text: str, second: str | None = None) -> Encoding:
        """One text, or two as the model was taught to read two."""
        if not _is_text(text) or not _is_text(second or ""):
            raise Skip("not Unicode text")
        pieces = list(
            _pieces(
                self.tokenizer(
                    text,
                    second,
                    return_offsets_mapping=True,
                    return_special_tokens_mask=True,
                    return_token_type_ids=True if second is not None else None,
                )
            )
        )
        if self.causal:
            # A causal text has its first token and no end mark, which is not part of the text.
            while len(pieces) > 1 and pieces[-1].word is None:
                pieces = pieces[:-1]
            first, _ = self.first_token
            pieces = pieces if first is None else [_Piece(first), *pieces]
        if len(pieces) > self.window:
            raise Skip("longer than the model's window")
        if any(piece.id >= self.vocabulary for piece in pieces):
            raise Skip("has a token that the model does not know")
        segments = tuple(piece.segment if piece.segment < self.kinds else 0 for piece in pieces)
        return Encoding(
            tuple(piece.id for piece in pieces),
            tuple(piece.offset for piece in pieces),
            tuple(_words(pieces, (text, second or ""))),
            segments if second is not None or any(segments) else (),
            tuple(piece.second for piece in pieces) if second is not None else (),
        )


@dataclass(frozen=True)
class _Piece:
    """A token of a text, or a special one."""

    id: int
    offset: tuple[int, int] = (0, 0)
    word: int | None = None
    segment: int = 0
    second: bool = False


def _pieces(encoded: Any) -> Iterator[_Piece]:
    special, parts = encoded["special_tokens_mask"], encoded.sequence_ids()
    segments = encoded.get("token_type_ids") or [0] * len(special)
    columns = zip(encoded["input_ids"], encoded["offset_mapping"], segments, strict=True)
    for at, (number, offset, segment) in enumerate(columns):
        word = None
        if not special[at] and parts[at] is not None:
            word = encoded.token_to_word(at)
            word = at if word is None else int(word)
        yield _Piece(number, tuple(offset), word, segment, parts[at] == 1)


def _words(pieces: Iterable[_Piece], texts: tuple[str, str]) -> Iterator[int | None]:
    """The number of each piece's word: the tokenizer's, and parted at white space where it takes a
    whole text for one word."""
    spaced = [_spaced(text) for text in texts]
    numbers: dict[tuple[bool, int, int], int] = {}
    for piece in pieces:
        if piece.word is None:
            yield None
            continue
        start, end = piece.offset
        text = texts[piece.second][start:end]
        visible = start + len(text) - len(text.lstrip())
        name = piece.second, piece.word, spaced[piece.second][visible]
        yield numbers.setdefault(name, len(numbers))


def _spaced(text: str) -> list[int]:
    """For each character, and the end, how many words have begun by white space."""
    begins = [
        not letter.isspace() and (at == 0 or text[at - 1].isspace())
        for at, letter in enumerate(text)
    ]
    return [*accumulate(begins), sum(begins)]


def _is_text(text: str) -> bool:
    """Half a surrogate pair, which JSON can carry, is no text."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def window_of(tokenizer: Any, model: Any) -> int:
    """The smaller limit of tokenizer and model, without positions up to a padding index."""
    limits = [tokenizer.model_max_length] if tokenizer.model_max_length < UNBOUNDED else []
    positions = getattr(model.config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        learned = (
            module
            for name, module in model.named_modules()
            if name.endswith("embeddings.position_embeddings")
        )
        padding = getattr(next(learned, None), "padding_idx", None)
        limits.append(positions - (0 if padding is None else padding + 1))
    return min(limits, default=UNBOUNDED)


def canaries(tokens: Tokens) -> Iterator[str]:
    """Why a `paper` variant cannot be reproduced with the installed tokenizer."""
    tokenizer = tokens.tokenizer
    if not tokens.causal:
        first = tokenizer.convert_ids_to_tokens(tokens._plain("cat"))[0]
        if first.startswith(BYTE_LEVEL_SPACE):
            yield (
                "The tokenizer puts a space before the first word: StereoSet's RoBERTa fillers "
                "were encoded without one, so `paper` gives other tokens."
            )
        elif tokens.leading_space:
            yield (
                "The tokenizer puts no space before the first word: CrowS-Pairs' RoBERTa value "
                "(64.1) was made with one and moves to 65.5 without it."
            )
    if tokenizer("caf\u0065\u0301")["input_ids"] != tokenizer("caf\u00e9")["input_ids"]:
        yield "The tokenizer does not normalise accents: one word may get different tokens."


# ----------------------------------------------- which tokens begin a word and which go on with one

INITIAL, INSIDE, NEITHER = 0, 1, 2
NAMED = {"initial": INITIAL, "inside": INSIDE}


def word_classes(tokenizer: Any, vocabulary: int, with_special: bool = False) -> Tensor | None:
    """The class of each token; None where words are not marked.

    WordPiece marks what goes on with a word, other vocabularies what comes after a space. Special
    tokens are NEITHER, or (`with_special`) what they are by their lack of a mark.
    """
    parts = json.loads(tokenizer.backend_tokenizer.to_str())
    inside = parts["model"].get("continuing_subword_prefix") or ""
    space = next(_spaces(parts), "") if not inside else ""
    if not inside and not space:
        return None
    classes = [NEITHER] * vocabulary
    left: set[int] = set()
    if not with_special:
        added = tokenizer.added_tokens_decoder.items()
        left = {*tokenizer.all_special_ids, *(number for number, token in added if token.special)}
    for token, number in tokenizer.get_vocab().items():
        if number < vocabulary and number not in left:
            goes_on = token.startswith(inside) if inside else not token.startswith(space)
            classes[number] = INSIDE if goes_on else INITIAL
    return torch.tensor(classes)


def _spaces(value: Any) -> Iterator[str]:
    """How a space is written in the vocabulary, by the tokenizer's own description."""
    if isinstance(value, list):
        for part in value:
            yield from _spaces(part)
    elif isinstance(value, dict):
        kind = value.get("type")
        if kind == "ByteLevel":
            yield BYTE_LEVEL_SPACE
        elif kind == "Metaspace":
            yield str(value.get("replacement", ""))
        elif kind == "Replace" and value.get("pattern") == {"String": " "} and value.get("content"):
            yield str(value["content"])
        for name in ("normalizer", "pre_tokenizer", "pretokenizers", "normalizers"):
            yield from _spaces(value.get(name))
