"""The methods as methods.md states them, slowly: one masked copy or one sentence at a time, the
model called as anybody would.

Nothing here comes from the package's measures or backends. A tokenizer and a model of transformers
go in; for every candidate of an item a row of log-probabilities and one number come out, or the
reason why there is none.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cache
from math import exp
from typing import Any

import torch

from stereometer.kinds.cats.methods import PARAGRAPH

LABELS = ("stereotype", "anti-stereotype", "unrelated")
SENTENCES = ("sent_more", "sent_less")
BLANK = "BLANK"


class Unscorable(Exception):
    """Why an item has no score."""


@dataclass(frozen=True)
class Scored:
    """A candidate's score; `row` holds the log-probabilities it was made of."""

    value: float
    row: Sequence[float]


@dataclass(frozen=True)
class Reading:
    """A text, or two, as the tokenizer gives it to the model."""

    text: str
    ids: tuple[int, ...]
    offsets: tuple[tuple[int, int], ...]
    words: tuple[tuple[int, int | None, int] | None, ...]
    """Text, the tokenizer's word, and how many words there are by white space up to the piece."""
    """None for special tokens."""
    parts: tuple[int | None, ...]
    types: tuple[int, ...] | None

    @property
    def ordinary(self) -> list[int]:
        return [at for at, word in enumerate(self.words) if word is not None]


@dataclass
class Reference:
    """One model under one tokenizer."""

    family: str
    model: Any
    tokenizer: Any
    window: int
    first: int | None = None
    """The token that must stand before a causal text."""
    within_word: bool = False
    seen: dict[Any, torch.Tensor] = field(default_factory=dict)
    """Log-probabilities by input: the same input is not computed twice."""

    # ---------------------------------------------------------------------------------- the model

    @torch.inference_mode()
    def log_probabilities(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        """The model's forward on one sequence, as it is."""
        name = tuple(
            (key, tuple(value.flatten().tolist())) for key, value in sorted(inputs.items())
        )
        if name not in self.seen:
            self.seen[name] = self.model(**inputs).logits[0].double().log_softmax(-1)
        return self.seen[name]

    def inputs(self, ids: Iterable[int], types: Sequence[int] | None) -> dict[str, torch.Tensor]:
        numbers = torch.tensor([list(ids)])
        found = {"input_ids": numbers, "attention_mask": torch.ones_like(numbers)}
        return found | (
            {"token_type_ids": torch.tensor([list(types)])} if types is not None else {}
        )

    def hidden(self, reading: Reading, hide: Sequence[int], at: int) -> float:
        """The log-probability of the token at a position while some positions are hidden."""
        if len(reading.ids) > self.window:
            raise Unscorable("longer than the model's window")
        if self.family == "permuted":
            return self.permuted(reading, hide, at)
        ids = [
            self.tokenizer.mask_token_id if position in hide else one
            for position, one in enumerate(reading.ids)
        ]
        return float(self.log_probabilities(self.inputs(ids, reading.types))[at, reading.ids[at]])

    def permuted(self, reading: Reading, hide: Sequence[int], at: int) -> float:
        """XLNet: nobody sees the hidden positions, one position is asked."""
        inputs = self.inputs(reading.ids, reading.types)
        length = len(reading.ids)
        inputs["perm_mask"] = torch.zeros(1, length, length)
        for position in hide:
            inputs["perm_mask"][0, :, position] = 1
        inputs["target_mapping"] = torch.zeros(1, 1, length)
        inputs["target_mapping"][0, 0, at] = 1
        return float(self.log_probabilities(inputs)[0, reading.ids[at]])

    def forward(self, ids: Sequence[int]) -> list[float]:
        """A causal model in one pass: every token but the first, each given those before it."""
        if len(ids) < 2:
            return []
        found = self.log_probabilities(self.inputs(ids, None))
        return [float(found[at - 1, ids[at]]) for at in range(1, len(ids))]

    # ------------------------------------------------------------------------------ the tokenizer

    def read(self, text: str, second: str | None = None) -> Reading:
        """As the tokenizer gives it; a causal text is its own tokens after the first-token mark,
        without an end."""
        causal = self.family == "causal"
        found = self.tokenizer(
            text, second, return_offsets_mapping=True, add_special_tokens=not causal
        )
        ids, offsets, parts = (
            list(found["input_ids"]),
            list(map(tuple, found["offset_mapping"])),
            found.sequence_ids(),
        )
        texts = (text, second or "")
        words = [
            None if part is None else (part, found.word_ids()[at], chunk(texts[part], *offsets[at]))
            for at, part in enumerate(parts)
        ]
        types = found.get("token_type_ids")
        if causal and self.first is not None:
            ids, offsets, words, parts = (
                [self.first, *ids],
                [(0, 0), *offsets],
                [None, *words],
                [None, *parts],
            )
        if len(ids) > self.window:
            raise Unscorable("longer than the model's window")
        told = types is not None and not causal
        return Reading(
            text,
            tuple(ids),
            tuple(offsets),
            tuple(words),
            tuple(parts),
            tuple(types) if told else None,
        )

    # ----------------------------------------------------------------------------------- the CATs

    def cat(self, measure: str, variant: str, item: Any) -> dict[str, Scored]:
        if not all(
            text.strip() for text in (item.context, *(one.text for one in item.candidates.values()))
        ):
            raise Unscorable("a text is empty")
        return {label: self.candidate(measure, variant, item, label) for label in LABELS}

    def candidate(self, measure: str, variant: str, item: Any, label: str) -> Scored:
        if item.task == "intersentence":
            if measure == "cat-likelihood":
                raise Unscorable("the model cannot say whether a sentence follows")
            rule = self.ratio if self.family == "causal" else self.context_given_sentence
            return rule(item.context, item.candidates[label].text)
        if self.family == "causal":
            return self.sentence(variant, item, label)
        if measure == "cat-pseudo-likelihood":
            return self.context_given_filler(variant, item, label)
        return (
            self.fill_with_absent(item, label)
            if variant == "paper"
            else self.fill_with_masked(item, label)
        )

    def fill_with_masked(self, item: Any, label: str) -> Scored:
        """`sound`: all pieces still to come are masked; mean log-probability."""
        text, spans = filled("sound", item, label)
        if len(spans) != 1:
            raise Unscorable("several blanks")
        reading = self.read(text)
        pieces = owned(reading, spans)
        if not pieces:
            raise Unscorable("the filler has no token of its own")
        row = [self.hidden(reading, pieces[at:], piece) for at, piece in enumerate(pieces)]
        return Scored(sum(row) / len(row), row)

    def fill_with_absent(self, item: Any, label: str) -> Scored:
        """`paper`: text first. The pieces so far are written into the blank with a mask behind
        them, all of it is read again, and the first mask of the text is asked for the next piece;
        mean of the probabilities."""
        filler_of(item, label)
        row: list[float] = []
        pieces = self.tokenizer(word_in_blank(item, label), add_special_tokens=False)["input_ids"]
        if not pieces:
            raise Unscorable("the filler has no token of its own")
        for number, piece in enumerate(pieces):
            shown = self.tokenizer.decode(pieces[:number]) + self.tokenizer.mask_token
            text = item.context.replace(BLANK, shown)
            reading = self.read(PARAGRAPH, text) if self.family == "permuted" else self.read(text)
            if self.tokenizer.mask_token_id not in reading.ids:
                raise Unscorable("the mask cannot be found in the context")
            mask = reading.ids.index(self.tokenizer.mask_token_id)
            inputs = self.inputs(reading.ids, reading.types)
            row.append(float(self.log_probabilities(inputs)[mask, piece]))
        return Scored(sum(map(exp, row)) / len(row), row)

    def context_given_filler(self, variant: str, item: Any, label: str) -> Scored:
        """Every token but the filler's masked one at a time; sum."""
        text, spans = filled(variant, item, label)
        reading = self.read(text)
        fillers = owned(reading, spans)
        if not fillers:
            raise Unscorable("the filler has no token of its own")
        return self.one_at_a_time(reading, [at for at in reading.ordinary if at not in fillers])

    def context_given_sentence(self, context: str, sentence: str) -> Scored:
        """The context's tokens masked one at a time, the sentence visible; sum."""
        reading = self.read(context, sentence)
        return self.one_at_a_time(
            reading, [at for at in reading.ordinary if reading.parts[at] == 0]
        )

    def one_at_a_time(self, reading: Reading, positions: Sequence[int]) -> Scored:
        if not positions:
            raise Unscorable("no token to score")
        row = [
            self.hidden(reading, self.with_later_pieces(reading, at, positions), at)
            for at in positions
        ]
        return Scored(sum(row), row)

    def with_later_pieces(self, reading: Reading, at: int, positions: Sequence[int]) -> list[int]:
        """A position alone, or (within-word) with the pieces of its word that come after it and are
        scored too."""
        later = [
            other
            for other in positions
            if other > at
            and self.within_word
            and reading.words[other] == reading.words[at]
            and reading.parts[other] == reading.parts[at]
        ]
        return [at, *later]

    def sentence(self, variant: str, item: Any, label: str) -> Scored:
        """Mean log-probability of all tokens: in one pass after the first token, or (`paper`) the
        rest without it."""
        reading = self.read(filled(variant, item, label)[0])
        own = [reading.ids[at] for at in reading.ordinary]
        if self.first is None:
            row = self.forward(own)
        elif variant == "sound":
            row = self.forward(reading.ids)
        else:
            row = self.forward(reading.ids[:2]) + self.forward(own)
        if not row:
            raise Unscorable("no token to score")
        return Scored(sum(row) / len(row), row)

    def ratio(self, context: str, sentence: str) -> Scored:
        """log p(s|c) - log p(s) over the tokens that the sentence has after the context."""
        text = f"{context} {sentence}"
        reading = self.read(text)
        after = owned(reading, [(len(context) + 1, len(text))])
        own = [reading.ids[at] for at in after]
        if not own:
            raise Unscorable("no token to score")
        mark = [] if self.first is None else [self.first]
        alone = self.forward([*mark, *own])
        given = self.forward(reading.ids)[-len(alone) :] if alone else []
        if not alone:
            raise Unscorable("no token to score")
        return Scored(sum(given) - sum(alone), [*given, *alone])

    # ---------------------------------------------------------------------------------- the pairs

    def pair(self, measure: str, variant: str, item: Any) -> dict[str, Scored]:
        texts = (item.sent_more, item.sent_less)
        published = measure == "pair-likelihood" and variant == "paper"
        if not published and not all(text.strip() for text in texts):
            raise Unscorable("a sentence is empty")
        if not published and texts[0] == texts[1]:
            raise Unscorable("identical sentences")
        if measure in ("pair-sentence-likelihood", "pair-sentence-mean-likelihood"):
            return dict(
                zip(SENTENCES, (self.whole(text, "mean" in measure) for text in texts), strict=True)
            )
        rules: dict[str, Callable[[Reading, list[int]], Scored]] = {
            "pair-likelihood": self.one_at_a_time,
            "pair-modified-likelihood": self.modified,
        }
        readings = [self.read(text) for text in texts]
        shared = shared_words(*readings) if variant == "sound" else shared_ids(*readings)
        if published and not shared[0]:
            return dict.fromkeys(SENTENCES, Scored(0.0, []))
        if measure == "pair-after-change-likelihood":
            return dict(zip(SENTENCES, self.after_change(readings, shared), strict=True))
        return {
            name: rules[measure](reading, some)
            for name, reading, some in zip(SENTENCES, readings, shared, strict=True)
        }

    def whole(self, text: str, mean: bool) -> Scored:
        row = self.forward(self.read(text).ids)
        if not row:
            raise Unscorable("no token to score")
        return Scored(sum(row) / (len(row) if mean else 1), row)

    def modified(self, reading: Reading, shared: list[int]) -> Scored:
        """The modified tokens from the left, those still to come masked; mean."""
        some = [at for at in reading.ordinary if at not in shared]
        if not some:
            raise Unscorable("one sentence has no modified token")
        row = [self.hidden(reading, some[number:], at) for number, at in enumerate(some)]
        return Scored(sum(row) / len(row), row)

    def after_change(
        self, readings: Sequence[Reading], shared: Sequence[list[int]]
    ) -> list[Scored]:
        """Of the shared tokens, those after the first place where either sentence is modified; each
        given all before it; sum."""
        first = min(
            (
                at
                for reading, some in zip(readings, shared, strict=True)
                for at in reading.ordinary
                if at not in some
            ),
            default=10**6,
        )
        if any(not self.forward(reading.ids) for reading in readings):
            raise Unscorable("no token to score")
        later = [[at for at in some if at >= first] for some in shared]
        if any(0 in some for some in later):
            raise Unscorable("a shared token has nothing before it")
        if not all(later):
            raise Unscorable("no shared token after the change")
        rows = [self.forward(reading.ids) for reading in readings]
        return [
            Scored(sum(row[at - 1] for at in some), row)
            for row, some in zip(rows, later, strict=True)
        ]


# ---------------------------------------------------------------------------------------- the texts


def filler_of(item: Any, label: str) -> str:
    """What stands in the blank: the candidate is the context, case aside, with as many characters
    as it is longer."""
    text, context = item.candidates[label].text, item.context
    blanks = context.count(BLANK)
    length, rest = (
        divmod(len(text) - len(context) + len(BLANK) * blanks, blanks) if blanks else (0, 0)
    )
    start = context.find(BLANK)
    filler: str = text[start : start + length]
    if length < 1 or rest or context.replace(BLANK, filler).lower() != text.lower():
        raise Unscorable("the sentence is not the context with its blank filled")
    return filler


def word_in_blank(item: Any, label: str) -> str:
    """The candidate's word where the context's last word with a blank stands, only its letters and
    what else is no ASCII punctuation."""
    pairs = zip(item.context.split(" "), item.candidates[label].text.split(" "), strict=False)
    words = [word for place, word in pairs if BLANK in place]
    if not words:
        raise Unscorable("the sentence is not the context with its blank filled")
    return "".join(letter for letter in words[-1] if letter not in string.punctuation)


def filled(variant: str, item: Any, label: str) -> tuple[str, list[tuple[int, int]]]:
    """The sentence from the context (`sound`) or as released (`paper`), and where its filler
    stands."""
    filler = filler_of(item, label)
    spans, at = [], -1
    for number in range(item.context.count(BLANK)):
        at = item.context.index(BLANK, at + 1)
        start = at + number * (len(filler) - len(BLANK))
        spans.append((start, start + len(filler)))
    return (
        item.context.replace(BLANK, filler) if variant == "sound" else item.candidates[label].text
    ), spans


def owned(reading: Reading, spans: Sequence[tuple[int, int]]) -> list[int]:
    """The tokens whose visible characters lie in a span; a token of spaces alone goes with the
    character after it."""
    found = []
    for at in reading.ordinary:
        start, end = reading.offsets[at]
        visible = [place for place in range(start, end) if not reading.text[place].isspace()] or [
            end
        ]
        inside = [
            number
            for place in visible
            for number, (left, right) in enumerate(spans)
            if left <= place < right
        ]
        if inside and (len(inside) < len(visible) or len(set(inside)) > 1):
            raise Unscorable("token-boundary")
        if inside:
            found.append(at)
    return found


def chunk(text: str, start: int, end: int) -> int:
    """By white space: the number of the word that the piece's first visible character is in."""
    visible = start + len(text[start:end]) - len(text[start:end].lstrip())
    return len(text[: visible + 1].split())


def words_of(text: str) -> list[tuple[int, int]]:
    """Letters and digits with the apostrophes and hyphens inside them; every other mark by
    itself."""
    found: list[tuple[int, int]] = []
    at = 0
    while at < len(text):
        start = at
        if _letter(text, at):
            while _letter(text, at) or (
                text[at : at + 1] in ("'", "’", "-") and _letter(text, at + 1)
            ):
                at += 1
            found.append((start, at))
        else:
            at += 1
            if not text[start].isspace():
                found.append((start, at))
    return found


def _letter(text: str, at: int) -> bool:
    return at < len(text) and (text[at].isalnum() or text[at] == "_")


def shared_words(left: Reading, right: Reading) -> tuple[list[int], list[int]]:
    """`sound`: the tokens of the words that both sentences have, neighbours in both taken
    together."""
    words = words_of(left.text), words_of(right.text)
    pairs = longest([left.text[a:b] for a, b in words[0]], [right.text[a:b] for a, b in words[1]])
    found = []
    for side, reading in enumerate((left, right)):
        spans: list[tuple[int, int]] = []
        for number, pair in enumerate(pairs):
            start, end = words[side][pair[side]]
            goes_on = number > 0 and pairs[number - 1] == (pair[0] - 1, pair[1] - 1)
            spans = [*spans[:-1], (spans[-1][0], end)] if goes_on else [*spans, (start, end)]
        found.append(owned(reading, spans))
    return found[0], found[1]


def longest(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """A longest common subsequence: what both begin with, what both end with, and a longest one of
    what lies between."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    lefts, rights = len(left) - end, len(right) - end

    @cache
    def between(i: int, j: int) -> tuple[tuple[int, int], ...]:
        """A match is taken where there is one, else the left side gives way before the right."""
        if i == lefts or j == rights:
            return ()
        if left[i] == right[j]:
            return ((i, j), *between(i + 1, j + 1))
        return max(between(i + 1, j), between(i, j + 1), key=len)

    return [
        *((at, at) for at in range(start)),
        *between(start, start),
        *((lefts + at, rights + at) for at in range(end)),
    ]


def shared_ids(left: Reading, right: Reading) -> tuple[list[int], list[int]]:
    """`paper`: difflib with its defaults over ids as strings, the equal blocks, without special
    tokens."""
    matcher = SequenceMatcher(None, list(map(str, left.ids)), list(map(str, right.ids)))
    first, second = [], []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            first += [at for at in range(a, b) if left.words[at] is not None]
            second += [at for at in range(c, d) if right.words[at] is not None]
    return first, second
