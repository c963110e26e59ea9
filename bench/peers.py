"""minicons and lm-evaluation-harness on the same weights and texts, through their own scoring
code."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bench.loops import LABELS, Scores
from stereometer.core.methods.spans import shared_ids
from stereometer.kinds.cats.rules import filled


def batched(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def sentences_of(item: Any) -> list[tuple[tuple[str, str], str]]:
    """What we score under `sound`: the filled context, or the continuation."""
    inside = item.task == "intrasentence"
    return [
        ((item.id, label), filled(item, label, "sound")[0] if inside else item.texts[label])
        for label in LABELS
    ]


# ----------------------------------------------------------------------------------------- minicons


class MiniconsMasked:
    """`MaskedLMScorer`, given only the masked copies that CrowS-Pairs asks for."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        from minicons.scorer import MaskedLMScorer

        self.scorer = MaskedLMScorer(model, "cpu", tokenizer=tokenizer)
        self.tokenizer = tokenizer

    def pairs(self, items: Sequence[Any], size: int) -> Scores:
        scores: Scores = {}
        texts = [one for item in items for one in self._texts(item)]
        for some in batched(sorted(texts, key=lambda one: len(one[2])), size):
            # The shim: its own `encode` calls `batch_encode_plus`, which transformers 5 no longer
            # has.
            encoded = self.tokenizer(
                [text for _, text, _ in some], padding=True, return_tensors="pt"
            )
            kept = [
                self._chosen(one, shared)
                for one, (_, _, shared) in zip(
                    self.scorer.get_masked_tensors(encoded), some, strict=True
                )
            ]
            for (key, _, _), row in zip(some, self.scorer.compute_stats(kept), strict=True):
                scores[key] = sum(row)
        return scores

    def _texts(self, item: Any) -> list[tuple[tuple[str, str], str, list[int]]]:
        ids = [self.tokenizer(text)["input_ids"] for text in (item.sent_more, item.sent_less)]
        shared = shared_ids(*ids)
        return [
            ((item.id, name), text, positions[1:-1])
            for name, text, positions in zip(
                ("sent_more", "sent_less"), (item.sent_more, item.sent_less), shared, strict=True
            )
        ]

    def _chosen(self, masked: tuple[Any, ...], shared: Sequence[int]) -> tuple[Any, ...]:
        wanted = set(shared)
        rows = [row for row, position in enumerate(masked[3].tolist()) if position in wanted]
        return tuple(part[rows] for part in masked)


class MiniconsCausal:
    """`IncrementalLMScorer`, with the start mark; texts are given to it sorted by length."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        from minicons.scorer import IncrementalLMScorer

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.scorer = IncrementalLMScorer(model, "cpu", tokenizer=tokenizer)

    def sentences(self, items: Sequence[Any], size: int) -> Scores:
        return self._scored(
            [one for item in items for one in sentences_of(item)],
            size,
            lambda row: row.mean().item(),
        )

    def _scored(
        self, texts: Sequence[tuple[Any, str]], size: int, reduction: Callable[[Any], float]
    ) -> Scores:
        scores: Scores = {}
        for some in batched(sorted(texts, key=lambda one: len(one[1])), size):
            found = self.scorer.sequence_score(
                [text for _, text in some], reduction=reduction, bos_token=True
            )
            scores |= dict(zip([key for key, _ in some], found, strict=True))
        return scores

    def ratios(self, items: Sequence[Any], size: int) -> Scores:
        alone = self._scored(
            [(key, f" {text}") for item in items for key, text in sentences_of(item)],
            size,
            lambda row: row.sum().item(),
        )
        joined = [(key, item.context, text) for item in items for key, text in sentences_of(item)]
        scores: Scores = {}
        for some in batched(sorted(joined, key=lambda one: len(one[1]) + len(one[2])), size):
            contexts, texts = [context for _, context, _ in some], [text for _, _, text in some]
            found = self.scorer.conditional_score(
                contexts, texts, reduction=lambda row: row.sum().item(), bos_token=True
            )
            scores |= {
                key: value - alone[key] for (key, _, _), value in zip(some, found, strict=True)
            }
        return scores


# ---------------------------------------------------------------------------- lm-evaluation-harness


class Harness:
    """`HFLM`, given the token ids that we score."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        logging.getLogger("lm_eval").setLevel(logging.ERROR)
        from lm_eval.models.huggingface import HFLM

        self.lm = HFLM(pretrained=model, tokenizer=tokenizer, backend="causal", device="cpu")

    def sentences(self, items: Sequence[Any], size: int) -> Scores:
        texts = [one for item in items for one in sentences_of(item)]
        asked = [([self.lm.prefix_token_id], self._ids(text)) for _, text in texts]
        return {
            key: value / len(ids)
            for (key, _), value, (_, ids) in zip(
                texts, self._scored(asked, size), asked, strict=True
            )
        }

    def ratios(self, items: Sequence[Any], size: int) -> Scores:
        texts = [
            (key, item.context, f" {text}") for item in items for key, text in sentences_of(item)
        ]
        start = [self.lm.prefix_token_id]
        given = [(start + self._ids(context), self._ids(text)) for _, context, text in texts]
        alone = [(start, self._ids(text)) for _, _, text in texts]
        values = self._scored(given + alone, size)
        return {
            key: values[number] - values[number + len(texts)]
            for number, (key, _, _) in enumerate(texts)
        }

    def _ids(self, text: str) -> list[int]:
        found: list[int] = self.lm.tok_encode(text, add_special_tokens=False)
        return found

    def _scored(self, asked: Sequence[tuple[list[int], list[int]]], size: int) -> list[float]:
        self.lm.batch_size_per_gpu = size
        requests = [
            ((str(number), ""), context, text) for number, (context, text) in enumerate(asked)
        ]
        return [value for value, _ in self.lm._loglikelihood_tokens(requests, disable_tqdm=True)]
