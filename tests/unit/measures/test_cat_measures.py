"""Plans and scores of the CAT measures on the fake model, against its formula worked out by
hand."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from math import exp
from zlib import crc32

import pytest
import torch

from stereometer.backends.baselines.fake import Fake
from stereometer.backends.baselines.random import Random
from stereometer.errors import ModelError, UsageError
from stereometer.measures.cat_rules import single_probability
from stereometer.runs.measure import jobs_for
from stereometer.shapes.cat.items import Candidate, Cat
from stereometer.shapes.cat.tally import Outcome, outcome
from stereometer.types import (
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
from tests.builders.by_hand import Framed, Only, bound, causal, logprob, masked, scores, word
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


INTRA = cat(
    "intrasentence",
    "The cook is BLANK.",
    "The cook is loud.",
    "The cook is calm.",
    "The cook is square.",
)
INTER = cat("intersentence", "He is a cook.", "He shouts.", "He whispers.", "Rivers run.")
PIECES = cat(
    "intrasentence",
    "We don't BLANK here.",
    "We don't tip-toe here.",
    "We don't stamp here.",
    "We don't seven here.",
)
"""The fake tokenizer splits the first filler in three."""


# -------------------------------------------------------------------------------- pseudo-likelihood


def test_within_a_sentence_everything_but_the_filler_is_masked() -> None:
    found = scores(bound("cat-pseudo-likelihood"), INTRA)
    assert found["stereotype"] == pytest.approx(
        masked(["The", "cook", "is", "loud", "."], [0, 1, 2, 4])
    )
    assert found["unrelated"] == pytest.approx(
        masked(["The", "cook", "is", "square", "."], [0, 1, 2, 4])
    )


def test_across_sentences_the_context_is_masked_and_the_candidate_is_not() -> None:
    words = ["He", "is", "a", "cook", ".", "He", "shouts", "."]
    assert scores(bound("cat-pseudo-likelihood"), INTER)["stereotype"] == pytest.approx(
        masked(words, [0, 1, 2, 3, 4])
    )


def test_special_tokens_and_the_candidate_are_never_masked() -> None:
    plan = bound("cat-pseudo-likelihood", Framed("masked-tokens")).plan(INTER)
    (request,) = all_of(MaskedTokens, plan["stereotype"])
    assert [at for _, at in request.steps] == [1, 2, 3, 4, 5]
    assert request.segments == (0, 0, 0, 0, 0, 0, 1, 1, 1, 1)


def test_causal_models_give_the_mean_within_a_sentence() -> None:
    row = causal(["The", "cook", "is", "loud", "."], 1)
    assert scores(bound("cat-pseudo-likelihood", CAUSAL), INTRA)["stereotype"] == pytest.approx(
        sum(row) / len(row)
    )


def test_causal_models_give_the_ratio_across_sentences() -> None:
    """With a first-token mark every token of the candidate counts: after the context, and after the
    mark alone."""
    ids = [word(one) for one in ("He", "shouts", ".")]
    given_context = logprob(ids[0], word("."))
    alone = logprob(ids[0], 1)
    assert scores(bound("cat-pseudo-likelihood", Framed("causal-tokens")), INTER)[
        "stereotype"
    ] == pytest.approx(given_context - alone)


# --------------------------------------------------------------------------------------- likelihood


def test_sound_hides_the_pieces_still_to_come_and_averages_log_probabilities() -> None:
    """tip - toe: each piece sees the piece before it and, as all that follows is hidden, the next
    word only at the end."""
    ids = [word(one) for one in ("t", "tip", "-", "toe", "here")]
    row = [logprob(ids[1], ids[0]), logprob(ids[2], ids[1]), logprob(ids[3], ids[2], ids[4])]
    assert scores(bound("cat-likelihood"), PIECES)["stereotype"] == pytest.approx(sum(row) / 3)


def test_the_sum_is_a_measure_of_its_own() -> None:
    ids = [word(one) for one in ("t", "tip", "-", "toe", "here")]
    row = [logprob(ids[1], ids[0]), logprob(ids[2], ids[1]), logprob(ids[3], ids[2], ids[4])]
    measure = bound("cat-sum-likelihood")
    assert measure.name == "cat-sum-likelihood@1"
    assert scores(measure, PIECES)["stereotype"] == pytest.approx(sum(row))


def test_causal_models_give_the_sum_of_the_sentence() -> None:
    row = causal(["The", "cook", "is", "loud", "."], 1)
    assert scores(bound("cat-sum-likelihood", CAUSAL), INTRA)["stereotype"] == pytest.approx(
        sum(row)
    )


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


def test_paper_scores_the_word_in_the_blank_without_punctuation_as_a_probability() -> None:
    measure = bound("cat-likelihood", variant="paper")
    assert measure.name == "cat-likelihood@2"
    assert scores(measure, PIECES)["stereotype"] == pytest.approx(
        exp(logprob(word("tiptoe"), word("t"), word("here")))
    )


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
    assert says == {"sound": Outcome(2, 4, False, 0), "paper": Outcome(0, 4, True, 0)}


def test_an_older_version_of_a_changed_variant_is_not_computed_any_more() -> None:
    jobs = jobs_for(["starter"], Fake(), ["cat-likelihood@1"], Settings("paper"))
    with pytest.raises(UsageError, match=r"that variant is cat-likelihood@2 now"):
        list(jobs)
    (job,) = jobs_for(["starter"], Fake(), ["cat-likelihood@1"], Settings("sound"))
    assert job.plan["measure"] == "cat-likelihood@1"


def test_across_sentences_likelihood_is_the_log_odds_of_following() -> None:
    expected = (crc32(b"He is a cook.\nHe shouts.") % 1000) / 100 - 5
    assert scores(bound("cat-likelihood"), INTER)["stereotype"] == pytest.approx(expected)


def test_a_model_that_cannot_say_what_follows_skips_those_items() -> None:
    with pytest.raises(Skip, match="cannot say whether a sentence follows"):
        bound("cat-likelihood", CAUSAL).plan(INTER)


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


def test_paper_asks_for_the_sentence_as_released_and_sound_for_the_filled_context() -> None:
    item = cat(
        "intrasentence",
        "The Cook is BLANK.",
        "the cook is loud.",
        "the cook is calm.",
        "the cook is square.",
    )
    asked = {
        variant: bound("cat-pseudo-likelihood", Random(), variant).plan(item)["stereotype"]
        for variant in ("paper", "sound")
    }
    assert asked == {
        "paper": [WholeText("the cook is loud.")],
        "sound": [WholeText("The Cook is loud.")],
    }


# ----------------------------------------------------------------------------------------- skipping


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (cat("intersentence", "He is.", "A.", "B."), "no unrelated candidate"),
        (
            cat(
                "intrasentence",
                "The cook BLANKed.",
                "The cook shouted.",
                "The cook rested.",
                "The cook squared.",
            ),
            "token-boundary",
        ),
        (cat("intrasentence", "BLANK", "loud", "calm", "square"), "no token to score"),
        (
            cat("intrasentence", "He is BLANK.", "She is loud.", "He is calm.", "He is square."),
            "not the context with its blank filled",
        ),
        (cat("intersentence", "", "A.", "B.", "C."), "a text is empty"),
    ],
)
def test_items_that_cannot_be_scored_say_why(item: Cat, reason: str) -> None:
    with pytest.raises(Skip, match=reason):
        bound("cat-pseudo-likelihood").plan(item)


@pytest.mark.parametrize("name", ["cat-likelihood", "cat-pseudo-likelihood"])
@pytest.mark.parametrize(
    "backend", [CAUSAL, Framed("causal-tokens"), Only("masked-tokens", "follows")]
)
def test_an_empty_continuation_skips_the_item(name: str, backend: Only) -> None:
    with pytest.raises(Skip, match="a text is empty"):
        bound(name, backend).plan(cat("intersentence", "He is.", " ", "B.", "C."))


def test_two_blanks_are_filled_alike_or_skipped() -> None:
    item = cat(
        "intrasentence",
        "So BLANK, so very BLANK.",
        "So loud, so very loud.",
        "So calm, so very calm.",
        "So odd, so very odd.",
    )
    words = ["So", "loud", ",", "so", "very", "loud", "."]
    assert scores(bound("cat-pseudo-likelihood"), item)["stereotype"] == pytest.approx(
        masked(words, [0, 2, 3, 4, 6])
    )
    with pytest.raises(Skip, match="several blanks"):
        bound("cat-likelihood").plan(item)


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
