"""Plans and scores of the measures on the fake model, against its formula worked out by hand."""

from __future__ import annotations

from zlib import crc32

import pytest

from stereometer.backends.fake import Fake
from stereometer.backends.random import Random
from stereometer.benchmarks.pairs import Pair
from stereometer.benchmarks.stereoset import Candidate, Cat
from stereometer.errors import ModelError
from stereometer.measures import context_association, pair_likelihood
from stereometer.types import Backend, CausalTokens, Continuation, Follows, MaskedTokens, Measure, ModelCard, Skip, WholeText

FAKE = Fake()


def word(text: str) -> int:
    return crc32(text.encode()) & 0xFFFF


def logprob(token: int, *seen: int) -> float:
    """The formula in the docstring of the fake model."""
    return -(1 + (token + sum(seen)) % 97 / 10)


def masked(words: list[str], positions: list[int]) -> float:
    """Each position scored with only itself hidden: it sees both neighbours."""
    ids = [word(one) for one in words]
    return sum(logprob(ids[at], *[ids[near] for near in (at - 1, at + 1) if 0 <= near < len(ids)]) for at in positions)


def causal(words: list[str], start: int = 0) -> list[float]:
    ids = [word(one) for one in words]
    return [logprob(ids[at], *ids[at - 1 : at] if at else []) for at in range(start, len(ids))]


def scores(measure: Measure, item: object, backend: Backend = FAKE) -> dict[str, float]:
    plan = measure.plan(item)
    answers = {request.key: request for asked in plan.values() for request in asked}
    given = dict(backend.answer(answers))
    return dict(measure.score(item, {name: [given[one.key] for one in asked] for name, asked in plan.items()}))


class Only(Fake):
    """The fake model with fewer abilities."""

    def __init__(self, *kinds: str) -> None:
        super().__init__()
        self.supports = frozenset(kinds)  # type: ignore[misc]


# -------------------------------------------------------------------------------------------- pairs

PAIR = Pair("p", "Old men don't sing well.", "Young men don't sing well.", "age")


def test_pair_likelihood_scores_the_shared_words_with_the_changed_ones_visible() -> None:
    """The fake tokenizer splits `don't` in three; `sound` aligns the word and takes all its tokens."""
    more, less = (PAIR.sent_more, PAIR.sent_less)
    split = [["Old", "men", "don", "'", "t", "sing", "well", "."], ["Young", "men", "don", "'", "t", "sing", "well", "."]]
    expected = {"sent_more": masked(split[0], list(range(1, 8))), "sent_less": masked(split[1], list(range(1, 8)))}
    assert more.split()[1:] == less.split()[1:]
    for variant in ("sound", "paper"):
        assert scores(pair_likelihood.conditional_likelihood(FAKE, variant), PAIR) == pytest.approx(expected)


def test_variants_differ_where_a_word_shares_only_some_of_its_tokens() -> None:
    """`don't` and `can't` share two tokens of three: `paper` scores them, `sound` sees another word."""
    pair = Pair("p", "Men don't sing.", "Men can't sing.", "age")
    paper, sound = (scores(pair_likelihood.conditional_likelihood(FAKE, variant), pair) for variant in ("paper", "sound"))
    words = ["Men", "don", "'", "t", "sing", "."]
    assert paper["sent_more"] == pytest.approx(masked(words, [0, 2, 3, 4, 5]))
    assert sound["sent_more"] == pytest.approx(masked(words, [0, 4, 5]))


def test_pair_plans_hide_one_token_a_step_and_never_a_changed_one() -> None:
    plan = pair_likelihood.conditional_likelihood(FAKE, "sound").plan(PAIR)
    (request,) = plan["sent_more"]
    assert isinstance(request, MaskedTokens)
    assert request.steps == tuple(((at,), at) for at in range(1, 8))


@pytest.mark.parametrize("variant", ["paper", "sound"])
def test_special_tokens_are_never_scored(variant: str) -> None:
    class Framed(Fake):
        def encode(self, text: str):  # type: ignore[no-untyped-def]
            from stereometer.types import Encoding

            inner = super().encode(text)
            return Encoding((1, *inner.ids, 2), ((0, 0), *inner.offsets, (0, 0)), (None, *inner.words, None))

    (request,) = pair_likelihood.conditional_likelihood(Framed(), variant).plan(PAIR)["sent_less"]
    assert [at for _, at in request.steps] == list(range(2, 9))


def test_sentence_likelihood_sums_every_token_after_those_before_it() -> None:
    pair = Pair("p", "Old men sing", "Young men sing", "age")
    found = scores(pair_likelihood.sentence_likelihood(Only("causal-tokens"), "sound"), pair)
    assert found["sent_more"] == pytest.approx(sum(causal(["Old", "men", "sing"])))
    assert found["sent_less"] == pytest.approx(sum(causal(["Young", "men", "sing"])))


def test_sentence_likelihood_falls_back_on_whole_texts() -> None:
    plan = pair_likelihood.sentence_likelihood(Random(), "sound").plan(PAIR)
    assert plan == {"sent_more": [WholeText(PAIR.sent_more)], "sent_less": [WholeText(PAIR.sent_less)]}


@pytest.mark.parametrize(
    ("more", "less", "reason"),
    [
        ("Same.", "Same.", "identical sentences"),
        ("", "Young.", "a sentence is empty"),
        ("Old.", "  ", "a sentence is empty"),
        ("Old", "Young", "no token to score"),
    ],
)
def test_pairs_that_cannot_be_scored_say_why(more: str, less: str, reason: str) -> None:
    with pytest.raises(Skip, match=reason):
        pair_likelihood.conditional_likelihood(FAKE, "sound").plan(Pair("p", more, less, "age"))


def test_a_model_that_cannot_answer_is_told_what_is_needed() -> None:
    with pytest.raises(ModelError, match="random cannot answer pair-likelihood. It needs masked-tokens; the model answers"):
        pair_likelihood.conditional_likelihood(Random(), "sound")


# --------------------------------------------------------------------------------------------- CATs


def cat(task: str, context: str, *texts: str) -> Cat:
    labels = ("stereotype", "anti-stereotype", "unrelated")
    return Cat("i", task, "cook", "profession", context, {label: Candidate(label, text) for label, text in zip(labels, texts, strict=False)})


INTRA = cat("intrasentence", "The cook is BLANK.", "The cook is loud.", "The cook is calm.", "The cook is square.")
INTER = cat("intersentence", "He is a cook.", "He shouts.", "He whispers.", "Rivers run.")


def test_pseudo_likelihood_within_a_sentence_masks_everything_but_the_filler() -> None:
    found = scores(context_association.pseudo_likelihood(FAKE, "sound"), INTRA)
    assert found["stereotype"] == pytest.approx(masked(["The", "cook", "is", "loud", "."], [0, 1, 2, 4]))
    assert found["unrelated"] == pytest.approx(masked(["The", "cook", "is", "square", "."], [0, 1, 2, 4]))


def test_pseudo_likelihood_across_sentences_masks_the_context() -> None:
    found = scores(context_association.pseudo_likelihood(FAKE, "sound"), INTER)
    words = ["He", "is", "a", "cook", ".", "He", "shouts", "."]
    assert found["stereotype"] == pytest.approx(masked(words, [0, 1, 2, 3, 4]))


def test_causal_models_give_the_mean_within_a_sentence_and_the_ratio_across() -> None:
    measure = context_association.pseudo_likelihood(Only("causal-tokens"), "sound")
    sentence = causal(["The", "cook", "is", "loud", "."])
    assert scores(measure, INTRA)["stereotype"] == pytest.approx(sum(sentence) / len(sentence))
    words = ["He", "is", "a", "cook", ".", "He", "shouts", "."]
    expected = sum(causal(words, 5)) - sum(causal(["He", "shouts", "."]))
    assert scores(measure, INTER)["stereotype"] == pytest.approx(expected)


def test_likelihood_across_sentences_is_the_log_odds_of_following() -> None:
    found = scores(context_association.likelihood(FAKE, "sound"), INTER)
    assert found["stereotype"] == pytest.approx((crc32(b"He is a cook.\nHe shouts.") % 1000) / 100 - 5)


def test_models_that_read_text_are_asked_text() -> None:
    measure = context_association.pseudo_likelihood(Random(), "sound")
    assert measure.plan(INTRA)["stereotype"] == [WholeText("The cook is loud.")]
    assert measure.plan(INTER)["stereotype"] == [Continuation("He is a cook.", "He shouts."), WholeText("He shouts.")]
    assert context_association.likelihood(Random(), "sound").plan(INTER)["unrelated"] == [Follows("He is a cook.", "Rivers run.")]


def test_paper_asks_for_the_sentence_as_released_and_sound_for_the_filled_context() -> None:
    item = cat("intrasentence", "The Cook is BLANK.", "the cook is loud.", "the cook is calm.", "the cook is square.")
    asked = {variant: context_association.pseudo_likelihood(Random(), variant).plan(item)["stereotype"] for variant in ("paper", "sound")}
    assert asked == {"paper": [WholeText("the cook is loud.")], "sound": [WholeText("The Cook is loud.")]}


def test_a_missing_candidate_skips_the_item() -> None:
    with pytest.raises(Skip, match="no unrelated candidate"):
        context_association.likelihood(FAKE, "sound").plan(cat("intersentence", "He is.", "A.", "B."))


def test_a_blank_in_the_middle_of_a_token_skips_the_item() -> None:
    item = cat("intrasentence", "The cook BLANKed.", "The cook shouted.", "The cook rested.", "The cook squared.")
    with pytest.raises(Skip, match="token-boundary"):
        context_association.pseudo_likelihood(FAKE, "sound").plan(item)


def test_a_context_of_nothing_but_the_blank_has_no_token_to_score() -> None:
    with pytest.raises(Skip, match="no token to score"):
        context_association.pseudo_likelihood(FAKE, "sound").plan(cat("intrasentence", "BLANK", "loud", "calm", "square"))


@pytest.mark.xfail(strict=True, raises=IndexError, reason="an empty continuation has no first token (context_association.RatioTokens)")
def test_an_empty_continuation_skips_the_item() -> None:
    with pytest.raises(Skip):
        context_association.pseudo_likelihood(Only("causal-tokens"), "sound").plan(cat("intersentence", "He is.", "", "B.", "C."))


@pytest.mark.parametrize("task", ["intrasentence", "intersentence"])
def test_a_model_without_the_means_is_told_for_which_task(task: str) -> None:
    kinds = {"intrasentence": ["follows"], "intersentence": ["causal-tokens"]}[task]
    with pytest.raises(ModelError, match=f"cannot answer cat-likelihood on the {task} task"):
        context_association.likelihood(Only(*kinds), "sound")


def test_requests_are_the_same_only_if_every_field_is() -> None:
    requests = [
        CausalTokens((1, 2), 0),
        CausalTokens((1, 2), 1),
        CausalTokens((1, 2, 3), 0),
        MaskedTokens((1, 2), (((0,), 0),)),
        MaskedTokens((1, 2), (((0, 1), 0),)),
        WholeText("a b"),
        Continuation("a", "b"),
        Continuation("a b", ""),
        Follows("a", "b"),
    ]
    assert len({one.key for one in requests}) == len(requests)
    assert CausalTokens((1, 2), 0).key == CausalTokens((1, 2), 0).key


def test_an_identity_does_not_depend_on_the_order_of_settings() -> None:
    first, second = (ModelCard("n", "f", "b", "d", settings=settings) for settings in ({"a": 1, "b": 2}, {"b": 2, "a": 1}))
    assert first.identity == second.identity
