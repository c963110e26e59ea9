"""Plans and scores of the CAT measures on the fake model, against its formula worked out by
hand."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from math import exp
from statistics import fmean
from zlib import crc32

import pytest
import torch

from stereometer.core.errors import ModelError, UnknownName
from stereometer.core.runs.measure import jobs_for
from stereometer.core.types import (
    Answer,
    Continuation,
    Follows,
    MaskedTokens,
    Request,
    Settings,
    Skip,
    Variant,
    WholeText,
)
from stereometer.kinds.cats.items import Candidate, Cat
from stereometer.kinds.cats.points import outcome
from stereometer.kinds.cats.rules import single_probability
from stereometer.models.baselines.fake import Fake
from stereometer.models.text_scores import Random
from tests.builders.by_hand import FAKE, Framed, Only, bound, causal, logprob, masked, scores, word
from tests.builders.sure import all_of

CAUSAL = Only("causal-tokens")
VARIANTS: tuple[Variant, ...] = ("sound", "paper")


def cat(task: str, context: str, *texts: str) -> Cat:
    labels = ("stereotype", "anti-stereotype", "unrelated")
    return Cat(
        "i",
        task,
        "cook",
        "profession",
        context,
        {label: Candidate(label, text) for label, text in zip(labels, texts, strict=False)},
    )


def filled(context: str, *fillers: str) -> Cat:
    """Of one sentence, its blanks filled."""
    return cat("intrasentence", context, *(context.replace("BLANK", one) for one in fillers))


INTRA = filled("The cook is BLANK.", "loud", "calm", "square")
SO = filled("So BLANK, so very BLANK.", "loud", "calm", "odd")
INTER = cat("intersentence", "He is a cook.", "He shouts.", "He whispers.", "Rivers run.")
PIECES = filled("We don't BLANK here.", "tip-toe", "stamp", "seven")
"""The fake tokenizer splits the first filler in three."""


# --------------------------------------------------------------------------------- numbers by hand

LOUD = ["The", "cook", "is", "loud", "."]
SHOUTS = ["He", "is", "a", "cook", ".", "He", "shouts", "."]
TIP, DASH, TOE, T, HERE = map(word, ("tip", "-", "toe", "t", "here"))
TIPTOE = [logprob(TIP, T), logprob(DASH, TIP), logprob(TOE, DASH, HERE)]
"""Each piece sees the piece before it and, as all that follows is hidden, the next word only at the
end."""


@pytest.mark.parametrize(
    ("name", "item", "backend", "value"),
    [
        # Everything but the filler is masked; across sentences the context is.
        ("cat-pseudo-likelihood", INTRA, FAKE, masked(LOUD, [0, 1, 2, 4])),
        ("cat-pseudo-likelihood", INTER, FAKE, masked(SHOUTS, [0, 1, 2, 3, 4])),
        ("cat-likelihood", PIECES, FAKE, fmean(TIPTOE)),
        ("cat-sum-likelihood", PIECES, FAKE, sum(TIPTOE)),
        # Two blanks are filled alike.
        (
            "cat-pseudo-likelihood",
            SO,
            FAKE,
            masked(["So", "loud", ",", "so", "very", "loud", "."], [0, 2, 3, 4, 6]),
        ),
        # The log-odds of following.
        (
            "cat-likelihood",
            INTER,
            FAKE,
            (crc32(b"He is a cook.\nHe shouts.") % 1000) / 100 - 5,
        ),
        # Of causal models the mean, or the sum, within a sentence; across sentences, with a
        # first-token mark, every token of the candidate counts: after the context, and after the
        # mark alone.
        ("cat-pseudo-likelihood", INTRA, CAUSAL, fmean(causal(LOUD, 1))),
        ("cat-sum-likelihood", INTRA, CAUSAL, sum(causal(LOUD, 1))),
        (
            "cat-pseudo-likelihood",
            INTER,
            Framed("causal-tokens"),
            logprob(word("He"), word(".")) - logprob(word("He"), 1),
        ),
    ],
)
def test_scores_are_those_worked_out_by_hand(
    name: str, item: Cat, backend: Fake, value: float
) -> None:
    measure = bound(name, backend)
    assert measure.name == f"{name}@1"
    assert scores(measure, item)["stereotype"] == pytest.approx(value)


def test_paper_scores_the_word_in_the_blank_without_punctuation_as_a_probability() -> None:
    measure = bound("cat-likelihood", variant="paper")
    assert measure.name == "cat-likelihood@1"
    value = exp(logprob(word("tiptoe"), word("t"), word("here")))
    assert scores(measure, PIECES)["stereotype"] == pytest.approx(value)


def test_special_tokens_and_the_candidate_are_never_masked() -> None:
    plan = bound("cat-pseudo-likelihood", Framed("masked-tokens")).plan(INTER)
    (request,) = all_of(MaskedTokens, plan["stereotype"])
    assert [at for _, at in request.steps] == [1, 2, 3, 4, 5]
    assert request.segments == (0, 0, 0, 0, 0, 0, 1, 1, 1, 1)


def test_models_that_read_text_give_the_sum_too() -> None:
    mean, whole = (
        scores(bound(name, Random()), INTRA, Random())["stereotype"]
        for name in ("cat-likelihood", "cat-sum-likelihood")
    )
    assert whole / mean == pytest.approx(
        len(dict(Random().answer({"k": WholeText("The cook is loud.")}))["k"].column("logprob"))
    )


def test_the_paper_has_no_sum() -> None:
    with pytest.raises(ModelError, match="has no variant `paper`"):
        bound("cat-sum-likelihood", variant="paper")


def test_paper_compares_single_precision_probabilities_of_following() -> None:
    """Candidates that are both nearly certain tie, as they do in the authors' files."""
    for logits in ([9.0, -9.5], [2.5, 2.25], [-3.0, 1.0], [-40.0, 60.0], [0.0, 0.0]):
        softmax = float(torch.tensor(logits).softmax(-1)[0])
        assert single_probability(logits[0] - logits[1]) == softmax
    assert single_probability(18.5) == single_probability(17.5) == 1.0
    odds = scores(bound("cat-likelihood"), INTER)["stereotype"]
    paper = scores(bound("cat-likelihood", variant="paper"), INTER)["stereotype"]
    assert paper == single_probability(odds) != odds


class NearlyCertain(Fake):
    """Says of any sentence that it follows, by log-odds that are told."""

    def __init__(self, logodds: Mapping[str, float]) -> None:
        super().__init__()
        self.logodds = logodds

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key, request in requests.items():
            assert isinstance(request, Follows)
            yield key, Answer(({"logodds": array("d", [self.logodds[request.second]])},))


def test_probabilities_that_are_alike_in_single_precision_tie_under_paper_alone() -> None:
    """One apart in log-odds, both are certain: a tie, which `paper` counts as lost."""
    backend = NearlyCertain({"He shouts.": 18.5, "He whispers.": 17.5, "Rivers run.": 8.0})
    says = {
        variant: outcome(scores(bound("cat-likelihood", backend, variant), INTER, backend), variant)
        for variant in VARIANTS
    }
    assert says == {"sound": (16, 0, 0), "paper": (4, 0, 1)}


@pytest.mark.parametrize("variant", VARIANTS)
def test_another_version_than_the_present_one_is_not_computed(variant: Variant) -> None:
    with pytest.raises(UnknownName, match="cat-likelihood@2"):
        list(jobs_for(["starter"], Fake(), ["cat-likelihood@2"], Settings(variant)))
    (job,) = jobs_for(["starter"], Fake(), ["cat-likelihood@1"], Settings(variant))
    assert job.plan["measure"] == "cat-likelihood@1"


# ----------------------------------------------------------------------------------- text and words


def test_models_that_read_text_are_asked_text() -> None:
    measure = bound("cat-pseudo-likelihood", Random())
    assert measure.plan(INTRA)["stereotype"] == [WholeText("The cook is loud.")]
    assert measure.plan(INTER)["stereotype"] == [
        Continuation("He is a cook.", "He shouts."),
        WholeText(" He shouts."),
    ]
    assert bound("cat-likelihood", Random()).plan(INTER)["unrelated"] == [
        Follows("He is a cook.", "Rivers run.")
    ]


@pytest.mark.parametrize(
    ("variant", "asked"), [("paper", "the cook is loud."), ("sound", "The Cook is loud.")]
)
def test_paper_asks_for_the_sentence_as_released_and_sound_for_the_filled_context(
    variant: Variant, asked: str
) -> None:
    texts = (f"the cook is {filler}." for filler in ("loud", "calm", "square"))
    item = cat("intrasentence", "The Cook is BLANK.", *texts)
    plan = bound("cat-pseudo-likelihood", Random(), variant).plan(item)
    assert plan["stereotype"] == [WholeText(asked)]


# ----------------------------------------------------------------------------------------- skipping


TOKENS = (CAUSAL, Framed("causal-tokens"), Only("masked-tokens", "follows"))
SHE = cat("intrasentence", "He is BLANK.", "She is loud.", "He is calm.", "He is square.")
EMPTY = cat("intersentence", "He is.", " ", "B.", "C.")


@pytest.mark.parametrize(
    ("name", "backend", "item", "reason"),
    [
        *(
            ("cat-pseudo-likelihood", FAKE, item, reason)
            for item, reason in (
                (cat("intersentence", "He is.", "A.", "B."), "no unrelated candidate"),
                (filled("The cook BLANKed.", "shout", "rest", "squar"), "token-boundary"),
                (filled("BLANK", "loud", "calm", "square"), "no token to score"),
                (SHE, "not the context with its blank filled"),
                (cat("intersentence", "", "A.", "B.", "C."), "a text is empty"),
            )
        ),
        *(
            (name, backend, EMPTY, "a text is empty")
            for name in ("cat-likelihood", "cat-pseudo-likelihood")
            for backend in TOKENS
        ),
        ("cat-likelihood", FAKE, SO, "several blanks"),
        ("cat-likelihood", CAUSAL, INTER, "cannot say whether a sentence follows"),
    ],
)
def test_items_that_cannot_be_scored_say_why(
    name: str, backend: Fake, item: Cat, reason: str
) -> None:
    with pytest.raises(Skip, match=reason):
        bound(name, backend).plan(item)


@pytest.mark.parametrize(
    ("name", "kinds", "task"),
    [
        ("cat-likelihood", ["follows"], "intrasentence"),
        ("cat-pseudo-likelihood", ["follows"], "intrasentence"),
        ("cat-pseudo-likelihood", ["whole-text"], "intersentence"),
    ],
)
def test_a_model_without_the_means_is_told_for_which_task(
    name: str, kinds: list[str], task: str
) -> None:
    with pytest.raises(ModelError, match=f"cannot answer {name} on the {task} task"):
        bound(name, Only(*kinds))
