"""The other reading: how likely a model finds each label word after the prompt."""

from collections import Counter
from collections.abc import Mapping, Sequence

from stereometer.core.methods.spans import tokens_in
from stereometer.core.shapes.points import Coverage
from stereometer.core.types import (
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
from stereometer.kinds.comments.metrics import categories, coverage_of, is_mixed, ratio

PREFIX = "logprob "
"""Before a label's name among what is derived of a score."""


def requests(prompt: str, words: Mapping[str, str], backend: Backend) -> Sequence[Request]:
    """Each label word after the prompt: as token ids where the model has them, otherwise as text;
    none where one cannot be scored."""
    after = [Continuation(prompt, word) for word in words.values()]
    if CausalTokens.kind not in backend.abilities.kinds:
        return after
    try:
        return [_tokens(continuation, backend) for continuation in after]
    except Skip:
        return []


def _tokens(after: Continuation, backend: Backend) -> CausalTokens:
    text, start = after.joined
    encoding = backend.encode(text)
    positions = tokens_in(text, encoding, [(start, len(text))])
    if not positions or positions[0] < 1:
        raise Skip("no token to score")
    return CausalTokens(encoding.ids, positions[0])


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
    known = [name for name in score.derived if name.startswith(PREFIX)]
    best = max(known, key=score.derived.__getitem__, default=None)
    return best and best.removeprefix(PREFIX)


UNSCORED = "a label word has no likelihood"


def summarize(scores: Sequence[Score], settings: Settings) -> list[Estimate]:
    """How often the likeliest label is right, and how often an answer that was written agrees with
    it."""
    rows, mixed = _estimates({}, scores, settings), any(is_mixed(score) for score in scores)
    for name in [] if mixed else categories(scores):
        part = [score for score in scores if score.slices["category"] == name]
        rows += _estimates({"category": name}, part, settings)
    return rows


def _estimates(slice_: Slice, scores: Sequence[Score], settings: Settings) -> list[Estimate]:
    right, same = [], []
    for score in scores:
        comment, best = score.slices["comment"], preferred(score)
        if best is not None:
            right.append((comment, float(best == score.slices["gold"])))
            said = (answer["label"] for answer in score.answers if "label" in answer)
            same += [(comment, float(label == best)) for label in said]
    untold = Counter(score.skipped or UNSCORED for score in scores if preferred(score) is None)
    asked, known = Coverage(len(scores), untold), "questions have likelihoods"
    return [
        ratio("likelihood_accuracy", slice_, right, asked, settings, 100.0, known),
        ratio("readings_agree", slice_, same, _answers(scores), settings, None),
    ]


def _answers(scores: Sequence[Score]) -> Coverage:
    """Answers asked for; those that could be read have nothing to agree with where their question
    has no likelihoods."""
    counted = coverage_of(scores)
    for score in scores:
        if preferred(score) is None:
            counted.skipped.update(UNSCORED for answer in score.answers if "label" in answer)
    return counted
