"""The bridge to models that only talk: two candidates, both orders, a letter for an answer.

Every pair of candidates is asked in both orders. A candidate that is chosen in both wins; one that is chosen because of where it
stands wins once and loses once, which is a tie: the preference for a position cancels, and is reported beside the scores. Where most
comparisons follow the position there is no score: ties alone would look like the ideal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import combinations
from typing import Any

import numpy as np

from stereometer.errors import ModelError
from stereometer.measures.context_association import filled
from stereometer.measures.recognition.reading import EMPTY, NOT_SAID, REFUSALS, REFUSED, UNPARSED
from stereometer.shapes.cat import metrics as cat_metrics
from stereometer.shapes.pair import metrics as pair_metrics
from stereometer.stats.intervals import generator, percentile, resampled_clusters, wilson
from stereometer.stats.tests import sign_test
from stereometer.types import (
    UNWRITTEN,
    Answer,
    Backend,
    Estimate,
    Generate,
    Request,
    Score,
    Settings,
    Skip,
    Slice,
    Variant,
    digest_of,
)

MOST_TOKENS = 8
LETTERS = "AB"
DECIDED_FLOOR = 0.5
"""Below this share of comparisons that come out the same in both orders there is no score."""

Comparison = tuple[str, str]
"""Two candidates by name, in the order in which they are compared."""


@cache
def template(name: str) -> str:
    return (
        resources.files("stereometer.measures")
        .joinpath("choices", f"{name}.txt")
        .read_text("utf-8")
        .removesuffix("\n")
    )


def _prompts_digest() -> str:
    return digest_of([template(name) for name in ("next-sentence", "sentence")])[:16]


def prompt(name: str, first: str, second: str, context: str = "") -> str:
    slots = {"first": first, "second": second, "context": context}
    return re.sub(r"\{(\w+)\}", lambda found: slots[found[1]], template(name))


def read(answer: Answer, options: Sequence[str]) -> dict[str, str]:
    """The position that was chosen, or why none was: an option's own words, or one letter and not the other."""
    text = answer.text or ""
    if answer.end in UNWRITTEN:
        return {"text": text, "skipped": answer.end}
    plain = text.replace("’", "'")
    quoted = [at for at, option in enumerate(options, 1) if _quotes(_words(plain), _words(option))]
    if len(quoted) == 1 and not _quotes_both(
        _words(plain), [_words(option) for option in options], quoted[0] - 1
    ):
        return {"text": text, "position": str(quoted[0])}
    if REFUSALS.search(plain) and not OPENING.match(plain):
        return {"text": text, "skipped": REFUSED}
    if small := SMALL.fullmatch(plain):
        return {"text": text, "position": str(LETTERS.index(small[1].upper()) + 1)}
    letters = [found for found in LETTER.finditer(plain) if not _is_article(found, options)]
    if len({found[0] for found in letters}) == 1 and not _is_denied(letters[0]):
        return {"text": text, "position": str(LETTERS.index(letters[0][0]) + 1)}
    return {"text": text, "skipped": UNPARSED if text.strip() else EMPTY}


LETTER = re.compile(rf"(?<!\w)[{LETTERS}](?![\w'])")
SMALL = re.compile(
    rf"\W*(?:(?:the\s+)?(?:option|answer|choice|sentence|letter)\W+(?:is\W+)?)?([{LETTERS}])\W*",
    re.IGNORECASE,
)
"""An answer that is a letter and nothing else may be written small."""
OPENING = re.compile(rf"\W*[{LETTERS}]\W*(?:[.):\n]|$)")
"""An answer that begins with a letter has answered, whatever it says after."""
QUOTED = 3
"""Words from which on the beginning of an option is that option; fewer are so only where they are all of it."""
LINKS = frozenset(
    [
        "is",
        "was",
        "are",
        "because",
        "since",
        "as",
        "and",
        "or",
        "has",
        "seems",
        "sounds",
        "looks",
        "would",
        "will",
        "makes",
        "over",
    ]
)
"""Words that may follow a letter even where an option has them too."""


def _words(text: str) -> list[str]:
    return re.findall(r"\w[\w']*", text.lower().replace("’", "'"))


def _quotes(said: Sequence[str], option: Sequence[str]) -> bool:
    """Whether an answer is the beginning of an option; its last word may be cut by the limit on its length."""
    same = next(
        (at for at, (one, other) in enumerate(zip(said, option, strict=False)) if one != other),
        min(len(said), len(option)),
    )
    if same == len(option):
        return same > 0
    cut = same == len(said) - 1 and option[same].startswith(said[same])
    return same >= QUOTED and (same == len(said) or cut)


def _quotes_both(said: Sequence[str], options: Sequence[Sequence[str]], first: int) -> bool:
    """Whether the other option follows the one that was quoted."""
    rest = said[len(options[first]) :]
    return bool(rest) and any(
        _quotes(rest, option) for at, option in enumerate(options) if at != first
    )


def _is_article(found: re.Match[str], options: Sequence[str]) -> bool:
    """`A cat`, where that is the beginning of an option or its second word is one of theirs; not `A is more likely`."""
    if found[0] != "A" or not re.match(r"\s+[a-z]", found.string[found.end() :]):
        return False
    after = _words(found.string[found.end() :])[0]
    if any(_words(option)[:2] == ["a", after] for option in options):
        return True
    return after not in LINKS and any(after in _words(option) for option in options)


def _is_denied(found: re.Match[str]) -> bool:
    return (
        re.search(
            rf"(?<!\w)(?:{NOT_SAID})(?!\w)[^.;:!?\n]*$",
            found.string[: found.start()],
            re.IGNORECASE,
        )
        is not None
    )


@dataclass(frozen=True)
class ForcedChoice:
    """Candidates of an item, two at a time, in both orders."""

    name: str
    reads: str
    variant: Variant
    chat: bool
    seed: int = 0
    system: str = ""

    template_by: str = ""
    """Whose chat template is applied."""

    @property
    def asked(self) -> dict[str, Any]:
        """What a result records of the asking."""
        found: dict[str, Any] = {
            "chat": self.chat,
            "temperature": 0.0,
            "max_tokens": MOST_TOKENS,
            "prompts": _prompts_digest(),
        }
        return found | (
            {"chat_template": self.template_by, "system": digest_of(self.system)[:16]}
            if self.chat
            else {}
        )

    # ------------------------------------------------------------------------------------------- asking

    def plan(self, item: Any) -> Mapping[str, Sequence[Request]]:
        if item.unscorable:
            raise Skip(item.unscorable)
        return {
            f"{left}>{right}": [self._request(item, *pair) for pair in orders(left, right)]
            for left, right in self.comparisons
        }

    @property
    def comparisons(self) -> list[Comparison]:
        return list(
            combinations(
                cat_metrics.CANDIDATES if self.reads == "cat" else pair_metrics.CANDIDATES, 2
            )
        )

    def _request(self, item: Any, first: str, second: str) -> Generate:
        texts = self._texts(item)
        across = getattr(item, "task", "") == "intersentence"
        said = prompt(
            "next-sentence" if across else "sentence",
            texts[first],
            texts[second],
            getattr(item, "context", ""),
        )
        if not self.chat:
            return Generate(
                f"{said}\nAnswer:", max_tokens=MOST_TOKENS, stop=("\n",), seed=self.seed
            )
        turns = ((("system", self.system),) if self.system else ()) + (("user", said),)
        return Generate(messages=turns, max_tokens=MOST_TOKENS, seed=self.seed)

    def _texts(self, item: Any) -> Mapping[str, str]:
        if self.reads == "pair":
            return {"sent_more": item.sent_more, "sent_less": item.sent_less}
        if item.task == "intersentence":
            return dict(item.texts)
        return {label: filled(item, label, "sound")[0] for label in cat_metrics.CANDIDATES}

    # ------------------------------------------------------------------------------------------ scoring

    def score(self, item: Any, answers: Mapping[str, Sequence[Answer]]) -> Score:
        """For each comparison the share of orders that chose the first; for each candidate the share of all it was in."""
        texts = self._texts(item)
        given: list[Mapping[str, str]] = []
        values: dict[str, float] = {}
        for left, right in self.comparisons:
            shown = [
                read(answer, [texts[name] for name in pair]) | {"asked": ">".join(pair)}
                for pair, answer in zip(
                    orders(left, right), answers[f"{left}>{right}"], strict=True
                )
            ]
            given += shown
            chosen = [_chosen(one) for one in shown]
            values[f"{left}>{right}"] = sum(one == left for one in chosen) / len(chosen)
        reason = next((one["skipped"] for one in given if "skipped" in one), None)
        shares = {} if reason else _shares(values, self.comparisons)
        return Score(item.id, item.slices, shares, reason, item.texts, answers=tuple(given))

    def summarize(self, scores: Iterable[Score], settings: Settings) -> list[Estimate]:
        found = list(scores)
        summary: Callable[[Iterable[Score], Settings], list[Estimate]] = (
            cat_metrics.summarize if self.reads == "cat" else pair_metrics.summarize
        )
        estimates = [
            one for one in summary(found, settings) if one.name != "confidence_median_difference"
        ]
        slices = {_place(one.slice): one.slice for one in estimates} | {(): {}}
        decided = {
            place: order_agreement(slice_, within(found, slice_), settings)
            for place, slice_ in slices.items()
        }
        kept = [_withheld(one, decided[()], decided[_place(one.slice)]) for one in estimates]
        return [*kept, first_position(found, settings), *decided.values()]


def orders(left: str, right: str) -> tuple[Comparison, Comparison]:
    return (left, right), (right, left)


def _chosen(given: Mapping[str, str]) -> str | None:
    return given["asked"].split(">")[int(given["position"]) - 1] if "position" in given else None


def _shares(values: Mapping[str, float], comparisons: Sequence[Comparison]) -> dict[str, float]:
    """Each candidate's share of the orders it was in; with three candidates the comparisons themselves too, which decide ss and lms."""
    names = list(dict.fromkeys(name for pair in comparisons for name in pair))
    won = {
        name: [
            values[f"{a}>{b}"] if name == a else 1 - values[f"{a}>{b}"]
            for a, b in comparisons
            if name in (a, b)
        ]
        for name in names
    }
    shares = {name: sum(of) / len(of) for name, of in won.items()}
    return shares | (dict(values) if len(comparisons) > 1 else {})


def _withheld(one: Estimate, *decided: Estimate) -> Estimate:
    """Without a value where, overall or in its slice, most comparisons follow the position."""
    share = min((found.value for found in decided if found.value is not None), default=100.0)
    if one.value is None or share >= 100 * DECIDED_FLOOR:
        return one
    why = f"only {share:.0f} % of the comparisons come out the same in both orders; the rest follow the position, and their ties would look like 50"
    return replace(
        one,
        value=None,
        low=None,
        high=None,
        why=why,
        verdict=None,
        p=None,
        p_adjusted=None,
        tests=None,
        interval=None,
    )


# --------------------------------------------------------------------------------------------- habits


def _place(slice_: Slice) -> tuple[tuple[str, str], ...]:
    return tuple(slice_.items())


def within(scores: Iterable[Score], slice_: Slice) -> list[Score]:
    return [score for score in scores if slice_.items() <= score.slices.items()]


def first_position(scores: Sequence[Score], settings: Settings) -> Estimate:
    """How often the first option is chosen. Answers about one item are not independent: the test counts each item's majority."""
    first = [
        [float(one["position"] == "1") for one in score.answers if "position" in one]
        for score in scores
    ]
    position = _rate("first_position", {}, first, settings, 50.0)
    if position.value is None:
        return position
    leaning = [sum(values) - len(values) / 2 for values in first]
    wins, losses = sum(value > 0 for value in leaning), sum(value < 0 for value in leaning)
    p = sign_test(wins, losses)
    word = "prefers the first option" if wins > losses else "prefers the second option"
    return replace(
        position,
        p=p,
        p_adjusted=p,
        tests=1,
        verdict=word if p < 1 - settings.level else "no preference for a position",
    )


def order_agreement(slice_: Slice, scores: Sequence[Score], settings: Settings) -> Estimate:
    """How many comparisons come out the same in both orders."""
    return _rate("order_agreement", slice_, [_agreeing(score) for score in scores], settings, None)


def _agreeing(score: Score) -> list[float]:
    by_pair: dict[frozenset[str], list[str | None]] = {}
    for one in score.answers:
        if "position" in one:
            by_pair.setdefault(frozenset(one["asked"].split(">")), []).append(_chosen(one))
    return [float(names[0] == names[1]) for names in by_pair.values() if len(names) == 2]


def _rate(
    name: str,
    slice_: Slice,
    groups: Sequence[Sequence[float]],
    settings: Settings,
    ideal: float | None,
) -> Estimate:
    """A share of what is known of items, in percent, items resampled."""
    known = [group for group in groups if group]
    n, asked = len(known), len(groups)
    if not known:
        return Estimate(
            name, slice_, None, None, None, 0, asked, 0, ideal, why="no answer could be read"
        )
    sums, sizes = (
        np.array([sum(group) for group in known]),
        np.array([len(group) for group in known]),
    )
    weights = resampled_clusters(n, settings.resamples, generator(settings.seed, slice_, name))
    low, high = percentile(100 * (weights @ sums) / (weights @ sizes), settings.level)
    value, method = 100 * float(sums.sum() / sizes.sum()), "percentile bootstrap over items"
    if low == high:
        low, high = (100 * bound for bound in wilson(value / 100 * n, n, settings.level))
        method = "Wilson: all items agree"
    return Estimate(name, slice_, value, low, high, n, asked, 0, ideal, interval=method)


@dataclass(frozen=True)
class Binder:
    """What the catalog names: a measure waiting for a model."""

    name: str
    reads: str

    def __call__(
        self,
        backend: Backend,
        variant: Variant,
        within_word: bool = False,
        system: str = "",
        chat: bool | None = None,
    ) -> ForcedChoice:
        if Generate.kind not in backend.supports:
            raise ModelError(
                f"{backend.card.name} cannot answer {self.name}. It needs generate; the model answers {', '.join(sorted(backend.supports))}. Choose another measure."
            )
        by = getattr(backend, "chat_template", "")
        talks = bool(by) if chat is None else chat
        if talks and not by:
            raise ModelError(
                f"{backend.card.name} has no chat template. It was not taught to hold a conversation. Ask without --chat."
            )
        return ForcedChoice(
            f"{self.name}@1", self.reads, variant, talks, system=system, template_by=by
        )


CAT = Binder("cat-forced-choice", "cat")
PAIR = Binder("pair-forced-choice", "pair")
