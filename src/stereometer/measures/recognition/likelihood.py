"""The other reading: how likely a model finds each label word after the prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from stereometer.measures.spans import tokens_in
from stereometer.shapes.comment.metrics import asked, categories, is_mixed, ratio
from stereometer.shapes.coverage import Asked
from stereometer.types import (
    Answer,
    Backend,
    CausalTokens,
    Continuation,
    Estimate,
    Request,
    Score,
    Settings,
    Skip,
    Slice,
)

PREFIX = "logprob "
"""Before a label's name among what is derived of a score."""


def requests(prompt: str, words: Mapping[str, str], backend: Backend) -> Sequence[Request]:
    """Each label word after the prompt: as token ids where the model has them, otherwise as text; none where one cannot be scored."""
    after = [Continuation(prompt, word) for word in words.values()]
    try:
        return (
            [_tokens(one, backend) for one in after]
            if CausalTokens.kind in backend.supports
            else after
        )
    except Skip:
        return []


def _tokens(after: Continuation, backend: Backend) -> CausalTokens:
    text, start = after.joined
    encoding = backend.encode(text)
    found = tokens_in(text, encoding, [(start, len(text))])
    if not found or found[0] < 1:
        raise Skip("no token to score")
    return CausalTokens(encoding.ids, found[0])


def logprobs(words: Mapping[str, str], answers: Sequence[Answer]) -> Mapping[str, float]:
    """By label; none where one has no answer, since the likeliest of the others says nothing."""
    if not answers or not all(answer.rows for answer in answers):
        return {}
    return {
        f"{PREFIX}{label}": sum(answer.column("logprob"))
        for label, answer in zip(words, answers, strict=True)
    }


def preferred(score: Score) -> str | None:
    """The label whose word is likeliest."""
    found = {
        name.removeprefix(PREFIX): value
        for name, value in score.derived.items()
        if name.startswith(PREFIX)
    }
    return max(found, key=found.__getitem__) if found else None


UNSCORED = "a label word has no likelihood"


def summarize(scores: Sequence[Score], settings: Settings) -> list[Estimate]:
    """How often the likeliest label is right, and how often an answer that was written agrees with it."""
    parts: list[tuple[Slice, list[Score]]] = [({}, list(scores))]
    if not any(is_mixed(score) for score in scores):
        parts += [
            ({"category": name}, [one for one in scores if one.slices["category"] == name])
            for name in categories(scores)
        ]
    return [one for slice_, part in parts for one in _estimates(slice_, part, settings)]


def _estimates(slice_: Slice, scores: Sequence[Score], settings: Settings) -> list[Estimate]:
    right: dict[str, list[float]] = {}
    same: dict[str, list[float]] = {}
    for score in scores:
        comment, best = score.slices["comment"], preferred(score)
        if best is not None:
            right.setdefault(comment, []).append(float(best == score.slices["gold"]))
            same.setdefault(comment, []).extend(
                float(given["label"] == best) for given in score.answers if "label" in given
            )
    return [
        ratio(
            "likelihood_accuracy",
            slice_,
            right,
            _questions(scores),
            settings,
            100.0,
            "questions have likelihoods",
        ),
        ratio("readings_agree", slice_, same, _answers(scores), settings, None),
    ]


def _questions(scores: Sequence[Score]) -> Asked:
    """Questions asked, and those whose labels cannot be told apart."""
    return Asked(
        len(scores),
        Counter(score.skipped or UNSCORED for score in scores if preferred(score) is None),
    )


def _answers(scores: Sequence[Score]) -> Asked:
    """Answers asked for; those that could be read have nothing to agree with where their question has no likelihoods."""
    found = asked(scores)
    found.skipped.update(
        UNSCORED
        for score in scores
        if preferred(score) is None
        for given in score.answers
        if "label" in given
    )
    return found
