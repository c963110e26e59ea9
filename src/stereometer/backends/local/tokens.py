"""A model's tokenizer as measures see it: ids, character offsets, words, special tokens, and the policies behind them.

Everything is asked of the tokenizer itself; nothing hangs on a model's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from stereometer.types import Encoding, Skip

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
            return (
                None,
                f"the tokenizer adds {tokenizer.convert_ids_to_tokens(added['input_ids'][0])}",
            )
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
        found: list[int] = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        return found

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
        found = self.tokenizer(
            text,
            second,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
            return_token_type_ids=True if second is not None else None,
        )
        pieces = list(_pieces(found))
        if self.causal:
            pieces = self._without_end(pieces)
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

    def _without_end(self, pieces: list[_Piece]) -> list[_Piece]:
        """A causal text has its first token and no end mark: what follows a text is not part of it."""
        while len(pieces) > 1 and pieces[-1].word is None:
            pieces = pieces[:-1]
        first, _ = self.first_token
        return [_Piece(first), *pieces] if first is not None else pieces


@dataclass(frozen=True)
class _Piece:
    """A token of a text, or a special one."""

    id: int
    offset: tuple[int, int] = (0, 0)
    word: int | None = None
    segment: int = 0
    second: bool = False


def _pieces(found: Any) -> Iterator[_Piece]:
    parts, special = found.sequence_ids(), found["special_tokens_mask"]
    segments = found.get("token_type_ids") or [0] * len(special)
    for at, (number, offset, segment) in enumerate(
        zip(found["input_ids"], found["offset_mapping"], segments, strict=True)
    ):
        word = None if special[at] or parts[at] is None else _word(found, at)
        yield _Piece(number, tuple(offset), word, segment, parts[at] == 1)


def _words(pieces: Iterable[_Piece], texts: tuple[str, str]) -> Iterator[int | None]:
    """The number of each piece's word: as the tokenizer has them, and parted at white space where it takes a whole text for one."""
    spaced = [_spaced(text) for text in texts]
    numbers: dict[tuple[bool, int, int], int] = {}
    for piece in pieces:
        if piece.word is None:
            yield None
            continue
        start, end = piece.offset
        visible = (
            start
            + len(texts[piece.second][start:end])
            - len(texts[piece.second][start:end].lstrip())
        )
        yield numbers.setdefault(
            (piece.second, piece.word, spaced[piece.second][visible]), len(numbers)
        )


def _spaced(text: str) -> list[int]:
    """For each character, and the end, how many words have begun by white space."""
    begins = [
        not one.isspace() and (at == 0 or text[at - 1].isspace()) for at, one in enumerate(text)
    ]
    return [*accumulate(begins), sum(begins)]


def _is_text(text: str) -> bool:
    """Half a surrogate pair, which JSON can carry, is no text."""
    return not any("\ud800" <= one <= "\udfff" for one in text)


def _word(found: Any, index: int) -> int:
    word = found.token_to_word(index)
    return index if word is None else int(word)


def window_of(tokenizer: Any, model: Any) -> int:
    """The smaller of what tokenizer and model say; learned positions that start after the padding index lose those."""
    limits = [tokenizer.model_max_length] if tokenizer.model_max_length < UNBOUNDED else []
    positions = getattr(model.config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        table = next(
            (
                module
                for name, module in model.named_modules()
                if name.endswith("embeddings.position_embeddings")
            ),
            None,
        )
        taken = (
            table.padding_idx + 1
            if table is not None and getattr(table, "padding_idx", None) is not None
            else 0
        )
        limits.append(positions - taken)
    return min(limits, default=UNBOUNDED)


# ------------------------------------------------------------------------------------------- canaries


def canaries(tokens: Tokens) -> list[str]:
    """Warnings where a `paper` variant cannot be reproduced with the installed tokenizer."""
    warnings = []
    if not tokens.causal and tokens.tokenizer.convert_ids_to_tokens(tokens._plain("cat"))[
        0
    ].startswith(BYTE_LEVEL_SPACE):
        warnings.append(
            "The tokenizer puts a space before the first word: StereoSet's RoBERTa fillers were encoded without one, so `paper` gives other tokens."
        )
    elif not tokens.causal and tokens.leading_space:
        warnings.append(
            "The tokenizer puts no space before the first word: CrowS-Pairs' RoBERTa value (64.1) was made with one and moves to 65.5 without it."
        )
    if (
        tokens.tokenizer("caf\u0065\u0301")["input_ids"]
        != tokens.tokenizer("caf\u00e9")["input_ids"]
    ):
        warnings.append(
            "The tokenizer does not join combining marks: the same word can be other tokens."
        )
    return warnings
