"""Plans and scores of the pair measures on the fake model, against its formula worked out by
hand."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from stereometer.core import catalog
from stereometer.core.errors import ModelError
from stereometer.core.runs.cache import Cache
from stereometer.core.runs.runner import Serial, Tally, computed
from stereometer.core.types import (
    Answer,
    Asking,
    CausalTokens,
    Encoding,
    MaskedTokens,
    Settings,
    Skip,
    WholeText,
)
from stereometer.kinds.pairs.items import Pair
from stereometer.kinds.pairs.methods import ROUNDS
from stereometer.models.text_scores import Random
from tests.builders.by_hand import FAKE, Framed, Only, bound, causal, logprob, masked, scores, word
from tests.builders.sure import all_of

PAIR = Pair("p", "Old men don't sing well.", "Young men don't sing well.", "age")
MORE = ["Old", "men", "don", "'", "t", "sing", "well", "."]
LESS = ["Young", *MORE[1:]]
CAUSAL = Only("causal-tokens")


@pytest.mark.parametrize("variant", ["paper", "sound"])
def test_pair_likelihood_scores_the_shared_words_with_the_changed_ones_visible(
    variant: str,
) -> None:
    """The fake tokenizer splits `don't` in three; all its tokens are shared."""
    expected = {
        "sent_more": masked(MORE, list(range(1, 8))),
        "sent_less": masked(LESS, list(range(1, 8))),
    }
    assert scores(bound("pair-likelihood", variant=variant), PAIR) == pytest.approx(expected)


def test_variants_differ_where_a_word_shares_only_some_of_its_tokens() -> None:
    """`don't` and `can't` share two tokens of three: `paper` scores them, `sound` sees another
    word."""
    pair = Pair("p", "Men don't sing.", "Men can't sing.", "age")
    paper, sound = (
        scores(bound("pair-likelihood", variant=variant), pair) for variant in ("paper", "sound")
    )
    words = ["Men", "don", "'", "t", "sing", "."]
    assert paper["sent_more"] == pytest.approx(masked(words, [0, 2, 3, 4, 5]))
    assert sound["sent_more"] == pytest.approx(masked(words, [0, 4, 5]))


def test_one_token_is_hidden_a_step_and_never_a_changed_one() -> None:
    (request,) = all_of(MaskedTokens, bound("pair-likelihood").plan(PAIR)["sent_more"])
    assert request.steps == tuple(((at,), at) for at in range(1, 8))


@pytest.mark.parametrize("variant", ["paper", "sound"])
def test_special_tokens_are_never_scored(variant: str) -> None:
    plan = bound("pair-likelihood", Framed("masked-tokens"), variant).plan(PAIR)
    (request,) = all_of(MaskedTokens, plan["sent_less"])
    assert [at for _, at in request.steps] == list(range(2, 9))


def test_within_a_word_the_later_pieces_are_hidden_too_and_the_name_says_so() -> None:
    class Pieces(Only):
        """Reads `don't` as three pieces of one word."""

        def encode(self, text: str, second: str | None = None) -> Encoding:
            return replace(super().encode(text, second), words=(0, 1, 2, 2, 2, 3, 4, 5))

    measure = bound("pair-likelihood", Pieces("masked-tokens"), within_word=True)
    (request,) = all_of(MaskedTokens, measure.plan(PAIR)["sent_more"])
    assert measure.name == "pair-likelihood@1+within-word"
    assert [hidden for hidden, _ in request.steps] == [
        (1,),
        (2, 3, 4),
        (3, 4),
        (4,),
        (5,),
        (6,),
        (7,),
    ]


def test_the_name_does_not_speak_of_an_option_that_changes_nothing() -> None:
    assert (
        bound("pair-sentence-likelihood", CAUSAL, within_word=True).name
        == "pair-sentence-likelihood@1"
    )


# ----------------------------------------------------------------------------- the other quantities


def test_modified_likelihood_reveals_the_modified_tokens_from_the_left() -> None:
    pair = Pair("p", "Very old men sing.", "Young men sing.", "age")
    (request,) = all_of(MaskedTokens, bound("pair-modified-likelihood").plan(pair)["sent_more"])
    assert request.steps == (((0, 1), 0), ((1,), 1))


def test_sentence_likelihood_sums_and_its_mean_averages_every_token_that_has_one_before_it() -> (
    None
):
    row = causal(MORE, 1)
    assert scores(bound("pair-sentence-likelihood", CAUSAL), PAIR)["sent_more"] == pytest.approx(
        sum(row)
    )
    assert scores(bound("pair-sentence-mean-likelihood", CAUSAL), PAIR)[
        "sent_more"
    ] == pytest.approx(sum(row) / len(row))


def test_a_first_token_mark_lets_the_first_word_be_scored() -> None:
    plan = bound("pair-sentence-likelihood", Framed("causal-tokens")).plan(PAIR)
    (request,) = all_of(CausalTokens, plan["sent_more"])
    assert (request.ids[0], request.start) == (1, 1)


def test_after_the_change_only_shared_tokens_count() -> None:
    pair = Pair("p", "Some old men sing here.", "Some young men hum here.", "age")
    words = ["Some", "old", "men", "sing", "here", "."]
    row = causal(words, 0)
    assert scores(bound("pair-after-change-likelihood", CAUSAL), pair)[
        "sent_more"
    ] == pytest.approx(row[2] + row[4] + row[5])


def test_models_that_read_text_are_asked_text() -> None:
    plan = bound("pair-sentence-likelihood", Random()).plan(PAIR)
    assert plan == {
        "sent_more": [WholeText(PAIR.sent_more)],
        "sent_less": [WholeText(PAIR.sent_less)],
    }


# ----------------------------------------------------------------------------------------- skipping


@pytest.mark.parametrize(
    ("more", "less", "reason"),
    [
        ("Same.", "Same.", "identical sentences"),
        ("Same one.", " Same  one. ", "identical sentences"),
        ("", "Young.", "a sentence is empty"),
        ("Old.", "  ", "a sentence is empty"),
        ("Old", "Young", "no token to score"),
    ],
)
def test_pairs_that_cannot_be_scored_say_why(more: str, less: str, reason: str) -> None:
    with pytest.raises(Skip, match=reason):
        bound("pair-likelihood").plan(Pair("p", more, less, "age"))


@pytest.mark.parametrize(
    ("more", "less"),
    [("Same.", "Same."), ("", "Young."), ("Old.", "  "), ("Old", "Young"), ("", "")],
)
def test_the_published_metric_counts_pairs_that_say_nothing_as_draws(
    more: str, less: str, tmp_path: Path
) -> None:
    """methods.md, section 2: equal is neutral, and neutrals are in N."""
    measure = bound("pair-likelihood", variant="paper")
    with Cache(tmp_path / "answers.sqlite") as cache:
        (score,) = computed(
            Asking([Pair("p", more, less, "age")], measure, FAKE), Serial(FAKE), cache, Tally()
        )
    assert score.skipped is None
    assert score.values["sent_more"] == score.values["sent_less"]
    one = next(
        one
        for one in measure.summarize([score], Settings(variant="paper", resamples=100))
        if not one.slice
    )
    assert (one.value, one.n, one.ties) == (0.0, 1, 1)


@pytest.mark.parametrize(
    ("name", "more", "less", "reason"),
    [
        (
            "pair-modified-likelihood",
            "Men sing.",
            "Men sing here.",
            "one sentence has no modified token",
        ),
        ("pair-sentence-likelihood", "Old", "Young", "no token to score"),
        (
            "pair-after-change-likelihood",
            "Men are old",
            "Men are young",
            "no shared token after the change",
        ),
    ],
)
def test_the_other_quantities_say_why_too(name: str, more: str, less: str, reason: str) -> None:
    with pytest.raises(Skip, match=reason):
        scores(bound(name), Pair("p", more, less, "age"))


def test_a_model_that_cannot_answer_is_told_what_is_needed() -> None:
    with pytest.raises(
        ModelError,
        match=r"random cannot answer pair-likelihood. It needs masked-tokens; the model answers",
    ):
        bound("pair-likelihood", Random())


def test_bound_measures_say_what_they_read() -> None:
    assert (bound("pair-likelihood").name, FAKE.card.name) == ("pair-likelihood@1", "fake")
    assert catalog.find("method", "pair-likelihood").reads == "pair"


def test_both_sentences_are_cut_where_either_first_differs() -> None:
    """An insertion in one sentence, and a later change in both: the two sums are over the same
    words."""
    pair = Pair("p", "The poor girl saw a black cat run.", "The girl saw a white cat run.", "x")
    measure = bound("pair-after-change-likelihood", CAUSAL)
    exchanged = {
        name: [
            (
                request,
                Answer(({"logprob": array("d", [1.0] * (len(request.ids) - request.start))},)),
            )
            for request in all_of(CausalTokens, asked)
        ]
        for name, asked in measure.plan(pair).items()
    }
    found = measure.score(pair, exchanged).values
    assert found["sent_more"] == found["sent_less"] > 3


def hidden_alone(words: list[str], hidden: list[int], at: int) -> float:
    """A token that sees its neighbours, those that are hidden with it left out."""
    ids = [word(one) for one in words]
    near = [place for place in (at - 1, at + 1) if 0 <= place < len(ids) and place not in hidden]
    return logprob(ids[at], *(ids[place] for place in near))


def test_all_shared_tokens_masked_together() -> None:
    shared = list(range(1, 8))
    expected = {
        name: sum(hidden_alone(words, shared, at) for at in shared)
        for name, words in (("sent_more", MORE), ("sent_less", LESS))
    }
    assert scores(bound("pair-all-masks-likelihood"), PAIR) == pytest.approx(expected)


def test_random_subsets_of_the_shared_tokens_masked_together() -> None:
    """Every token once a round, about 15 % at a time, the same in both sentences, drawn by seed."""
    long = Pair(
        "p",
        f"Old {' '.join(f'w{number}' for number in range(20))}",
        f"Young {' '.join(f'w{number}' for number in range(20))}",
        "age",
    )
    name = "pair-random-masks-likelihood"
    plan = bound(name).plan(long)
    (more,), (less,) = (all_of(MaskedTokens, plan[side]) for side in ("sent_more", "sent_less"))
    assert more.steps == less.steps
    assert Counter(at for _, at in more.steps) == dict.fromkeys(range(1, 21), ROUNDS)
    sizes = Counter(len(hidden) for hidden, _ in more.steps)
    assert sizes == {3: 18 * ROUNDS, 2: 2 * ROUNDS}
    words = long.sent_more.split()
    expected = sum(hidden_alone(words, list(hidden), at) for hidden, at in more.steps) / ROUNDS
    assert scores(bound(name), long)["sent_more"] == pytest.approx(expected)
    method = catalog.find("method", name)
    again = method.bind(FAKE, "sound", method.options(seed=1)).plan(long)
    assert again["sent_more"] != plan["sent_more"]
