"""Every verdict on a mitigation can be reached, in the order that is promised."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core.compare import compared
from stereometer.core.errors import UsageError
from stereometer.core.shapes.differences import Closeness, Difference
from stereometer.core.types import Settings
from stereometer.wings.mitigation.card import Leak, Measured, MitigationCard, Perplexity, Probe
from stereometer.wings.mitigation.verdicts import judge, sides
from stereometer.wings.mitigation.verdicts import view as show
from stereometer.wings.mitigation.verdicts.judged import Effect, KeptMetric, verdict_of
from stereometer.wings.mitigation.verdicts.view import LEGEND
from tests.builders.mitigated import BASE, Items, Truth, card, control_card, model_card, side
from tests.strategies import FEW

SETTINGS = Settings(resamples=100)
BEFORE = Truth({"gender": 68})
KEY = ("domain",)


def difference(
    first: float, second: float, half: float = 1.0, name: str = "ss", **changed: Any
) -> Difference:
    """With intervals of this half width, and the claims that they allow."""
    change, both = second - first, first + second - 100
    p = 0.01 if abs(change) > half else 0.5
    known = Difference(
        name,
        {"domain": "gender"} if name == "ss" else {},
        first,
        second,
        2000,
        2000,
        20,
        50.0 if name == "ss" else 100.0,
        change - half,
        change + half,
        p,
        sum_low=both - half,
        sum_high=both + half,
        beyond_noise=p < 0.05,
        p_closer=max(p, 0.01 if abs(both) > half else 0.5),
    )
    return replace(known.judged(known.p_closer, 0.95), **changed)


def verdict(
    second: float, lms: tuple[float, float] = (80.0, 0.5), control: float | None = None
) -> str | None:
    """Of a model that was at 62, whose lms was 80, and whose control is at `control`."""
    effect = Effect.of(difference(62, second))
    if control is not None:
        effect = effect.beside(difference(control, second), difference(62, control))
    kept = KeptMetric("little", difference(80, lms[0], lms[1], "lms"))
    return verdict_of(kept, (effect,), control is not None)


@pytest.mark.parametrize(
    ("says", "verdict_"),
    [
        ("damaged", verdict(51, (78.0, 0.5))),
        ("damage not excluded", verdict(51, (79.3, 0.5))),
        ("not beyond noise", verdict(61.5)),
        ("not beyond noise", verdict(61.5, (79.3, 0.5))),
        ("worse", verdict(70, (79.3, 0.5))),
        ("not beyond noise", verdict(38.2)),
        ("not beyond control", verdict(51, control=51.5)),
        ("not beyond control", verdict(70, control=70.5)),
        ("not beyond control", verdict(55, control=51)),
        ("worse", verdict(70)),
        ("worse", verdict(30, control=62)),
        ("improved", verdict(51)),
        ("improved", verdict(45, control=60)),
    ],
)
def test_each_verdict_is_reached(says: str, verdict_: str | None) -> None:
    assert verdict_ == says


def test_the_margin_is_held_by_the_interval_and_not_by_the_value() -> None:
    assert verdict(51, (79.5, 0.5)) == "improved"
    assert verdict(51, (79.49, 0.5)) == "damage not excluded"
    assert verdict(51, (78.5, 0.5)) == "damage not excluded"
    assert verdict(51, (78.49, 0.5)) == "damaged"


def test_without_lms_damage_is_not_excluded_and_without_a_domain_there_is_no_verdict() -> None:
    effect = Effect.of(difference(62, 51))
    assert verdict_of(None, (effect,), False) == "damage not excluded"
    assert verdict_of(None, (), False) is None


def test_of_several_domains_the_first_in_the_order_counts() -> None:
    kept = KeptMetric("little", difference(80, 80, 0.5, "lms"))
    better, same = Effect.of(difference(62, 51)), Effect.of(difference(62, 62))
    assert verdict_of(kept, (better, same), False) == "not beyond noise"
    worse = Effect.of(difference(62, 70))
    assert verdict_of(kept, (same, worse), False) == "worse"
    assert verdict_of(kept, (worse, better), False) == "worse"
    lost = KeptMetric("little", difference(80, 70, 0.5, "lms"))
    assert verdict_of(lost, (same, worse), False) == "damaged"
    assert "damaged, worse, not beyond noise, not beyond control, damage not" in LEGEND, "as judged"


@FEW
@given(st.floats(30, 70), st.floats(30, 70), st.floats(0.1, 15), st.floats(0.1, 15))
def test_the_interval_of_the_distance_leaves_out_0_where_one_is_closer(
    first: float, second: float, half: float, sums: float
) -> None:
    """From 50, the difference and the sum decide together: interval and claim say the same."""
    both = first + second - 100
    row = difference(first, second, half, sum_low=both - sums, sum_high=both + sums)
    closeness = Closeness.of(row)
    assert closeness.low <= closeness.change + 1e-9
    assert closeness.change <= closeness.high + 1e-9
    assert max(-closeness.low, closeness.high) <= abs(second - first) + half + 1e-9
    sure = abs(second - first) > half and abs(both) > sums
    assert (closeness.low > 0 or closeness.high < 0) == sure


# ----------------------------------------------------------------------------------- from scores


def judged(after: Truth, control: Truth | None = None, **fields: Any) -> Any:
    items = Items(3, items=10, churn=0.02)
    sides = [
        side("small", items.scores(BEFORE)),
        side("small+leace", items.scores(after), card(**fields)),
    ]
    if control is not None:
        sides.append(side("small+control", items.scores(control), control_card()))
    (mitigated,) = judge.mitigated(sides, SETTINGS)
    return mitigated


def test_a_planted_effect_beyond_the_control_is_an_improvement() -> None:
    mitigated = judged(Truth({"gender": 53}), BEFORE)
    assert mitigated.verdict == "improved"
    assert [effect.slice for effect in mitigated.targeted] == [{"domain": "gender"}]
    assert {effect.slice["domain"] for effect in mitigated.side_effects} == {"profession", "race"}
    (effect,) = mitigated.targeted
    assert effect.from_base.high < 0
    assert effect.from_control.high < 0
    assert effect.detectable < abs(effect.from_base.change)


def test_a_control_that_does_the_same_takes_the_improvement_away() -> None:
    assert judged(Truth({"gender": 53}), Truth({"gender": 53})).verdict == "not beyond control"


def test_damage_comes_before_any_gain() -> None:
    assert judged(Truth({"gender": 53}, lms=72), BEFORE).verdict == "damaged"


def test_the_verdict_says_what_it_cost() -> None:
    gained = judged(Truth({"gender": 53}), BEFORE)
    before, after = (getattr(gained.targeted[0].from_base, name) for name in ("first", "second"))
    moved = f"improved: ss in gender {before:.1f} to {after:.1f}"
    assert show.headline(gained) == f"{gained.after}: {moved}"
    facts = KeptMetric("definitional", difference(94, 77, name="agreement"))
    assert show.headline(replace(gained, definitional=facts)).endswith(
        "; facts fell from 94.0 to 77.0"
    )


def test_a_domain_with_too_few_answers_is_not_said_to_have_no_items() -> None:
    items = Items(3, items=6)
    few = [
        replace(score, values={}, skipped="unreadable")
        if score.slices["domain"] == "gender" and at % 2
        else score
        for at, score in enumerate(items.scores(BEFORE))
    ]
    (mitigated,) = judge.mitigated([side("a", few), side("b", few, card())], SETTINGS)
    assert mitigated.verdict is None
    assert any(note.startswith("gender cannot be compared: ") for note in mitigated.notes)
    assert not any("No item is of a domain" in note for note in mitigated.notes)


def test_going_past_50_is_no_gain() -> None:
    mitigated = judged(Truth({"gender": 32}))
    assert mitigated.verdict == "not beyond noise"
    assert any("going past 50 is no gain" in note for note in mitigated.notes)


def test_the_targets_test_is_not_corrected_for_the_side_effects() -> None:
    items = Items(3, items=4)
    sides = [side("a", items.scores(BEFORE)), side("b", items.scores(BEFORE), card())]
    assert judge.planned(sides) == [{"domain": "gender"}]
    scores = [each.scores for each in sides]
    pairs = [
        compared(("a", "b"), scores, sides[0].run.shape, SETTINGS, False, planned=slices)[0]
        for slices in ([], judge.planned(sides))
    ]
    tests = [
        {row.slice["domain"]: row.tests for row in pair.differences if tuple(row.slice) == KEY}
        for pair in pairs
    ]
    assert tests == [
        {"gender": 7, "profession": 7, "race": 7},
        {"gender": 1, "profession": 6, "race": 6},
    ]


# ------------------------------------------------------------------------------------------- leaks


def test_items_are_counted_by_whether_they_have_a_list_word() -> None:
    mitigated = judged(Truth({"gender": 53}))
    parts = {part.part: part for part in mitigated.parts}
    assert list(parts) == ["all", "with a list word", "without a list word"]
    assert parts["all"].n == parts["with a list word"].n + parts["without a list word"].n
    for part in parts.values():
        assert [effect.slice.get("domain") for effect in part.effects] == [
            "gender",
            None,
            "profession",
            "race",
        ]
        assert part.lms is not None
        assert part.lms.difference.n == part.n
    assert parts["all"].effects[0].from_base == mitigated.targeted[0].from_base
    assert parts["all"].effects[2:] == mitigated.side_effects
    assert parts["all"].lms == mitigated.lms


def test_items_whose_texts_are_hidden_are_counted_apart() -> None:
    items = Items(3, items=6)
    texts = dict.fromkeys(range(0, len(items.places), 3), "The best man came.")
    texts |= dict.fromkeys(range(1, len(items.places), 3), "The cook came.")
    sides = [
        side("a", items.scores(BEFORE, texts)),
        side("b", items.scores(BEFORE, texts), card(words=("best man",))),
    ]
    (mitigated,) = judge.mitigated(sides, SETTINGS)
    assert [part.part for part in mitigated.parts][1:] == [
        "with a list word",
        "without a list word",
        "texts not stored",
    ]


def test_a_training_text_that_shares_a_sentence_is_refused() -> None:
    with pytest.raises(UsageError, match="shares 2 sentences with little"):
        judged(BEFORE, leaks={"little": Leak(10, 2, 5, "d")})
    assert judged(BEFORE, leaks={"little": Leak(10, 0, 5, "d")}).shared_sentences == 0
    read = judged(BEFORE, text_digest="t")
    assert any("not checked for sentences of these items" in note for note in read.notes)


def test_what_was_not_fitted_on_any_text_has_nothing_to_leak() -> None:
    assert not any("not checked" in note for note in judged(BEFORE).notes)


# ------------------------------------------------------------------------------------ who is whose


def test_a_mitigated_model_without_its_base_has_no_verdict_but_a_note() -> None:
    items = Items(3, items=2)
    other = side("other", items.scores(BEFORE), model_card=model_card(None, "o" * 64))
    after = side("small+leace", items.scores(BEFORE), card())
    assert list(judge.mitigated([other, after], SETTINGS)) == []
    assert "no verdict" in judge.notes([other, after])[0]
    assert "no verdict" in judge.notes([after, other])[0]


@pytest.mark.long
def test_what_else_is_compared_changes_no_verdict() -> None:
    items = Items(3, items=10, churn=0.02)
    base = side("small", items.scores(BEFORE))
    others = [
        side(f"small+{seed}", items.scores(Truth({"gender": 58})), card(seed=seed))
        for seed in range(5)
    ]
    alone = [next(judge.mitigated([base, other], SETTINGS)) for other in others]
    assert list(judge.mitigated([base, *others], SETTINGS)) == alone


def test_few_items_do_not_exclude_damage_because_one_of_them_improved() -> None:
    few = difference(80, 80 + 100 / 24, 100 / 24, "lms", n=24)
    assert few.low == pytest.approx(0)
    assert KeptMetric("little", few).damage() == "damage not excluded"


def test_no_distance_changes_by_more_than_50() -> None:
    wide = Effect.of(difference(83, 33, 90)).from_base
    assert (wide.low, wide.high) == (-50, 50)


@pytest.mark.parametrize(
    ("first", "after", "control", "why"),
    [
        (None, None, control_card(), "none of b is mitigated"),
        (None, control_card(), control_card(), "none of b is mitigated"),
        ("o" * 64, card(), control_card(), "is not the model that leace was fitted on"),
        (None, card(), None, "not the control of a mitigation"),
        (None, card(), card(), "not the control of a mitigation"),
        (None, card(), control_card(control_of="inlp"), "a control of inlp"),
        (None, card(), control_card(base_digest="x", base="large"), "made for large"),
        (None, card(), control_card(rank=2), "its rank is 2"),
        (None, card(), control_card(variant="paper"), "of the variant paper"),
        (None, card(text_digest="t"), control_card(text="b.txt"), "made with b.txt"),
        (
            None,
            card(form="adapter", text_digest="t"),
            control_card(form="adapter", text="b.txt"),
            "made with b.txt",
        ),
        (None, card(form="prompt", words_digest="w"), control_card(form="prompt"), "word lists"),
        (
            None,
            card(settings={"lambda": 50.0}),
            control_card(settings={"lambda": 10.0}),
            "setting lambda is 10.0, that of the mitigation 50.0",
        ),
    ],
)
def test_a_control_that_does_not_belong_is_refused(
    first: str | None, after: MitigationCard | None, control: MitigationCard | None, why: str
) -> None:
    before = side("a", (), model_card=model_card(None, first or BASE)).result
    with pytest.raises(UsageError, match=why):
        judge.check_control([before, side("b", (), after).result], side("c", (), control).result)


def test_the_same_fine_tuning_is_the_control_of_cda_and_of_dropout() -> None:
    control = control_card(method="fine-tuning", control_of="cda", form="adapter")
    for method in ("cda", "dropout"):
        assert not judge.why_no_control(card(method=method, form="adapter"), control)
    assert judge.why_no_control(card(method="leace"), control)


def test_a_mitigation_that_leaves_the_weights_as_they_are_is_not_its_own_base() -> None:
    wrapped = model_card(card(form="prompt"), BASE)
    result = side("a", (), model_card=wrapped).result
    assert not judge.is_base(result, card(form="prompt"))
    assert judge.is_base(side("a", ()).result, card(form="prompt"))


def test_wrappers_of_one_model_are_no_bases_of_each_other() -> None:
    items = Items(3, items=10, churn=0.02)
    wrappers = {
        "small+mild": card(form="prompt", rank=None, settings={"lambda": 10.0}),
        "small+strong": card(form="prompt", rank=None, settings={"lambda": 50.0}),
        "small+control": control_card(form="prompt", rank=None, settings={"lambda": 50.0}),
    }
    sides = [side("small", items.scores(BEFORE))]
    for name, of in wrappers.items():
        sides.append(side(name, items.scores(BEFORE), of, model_card=model_card(of, BASE)))
    said = [(each.before, each.after, each.control) for each in judge.mitigated(sides, SETTINGS)]
    assert said == [("small", "small+mild", None), ("small", "small+strong", "small+control")]
    first, after, *_, control = (each.result for each in (sides[3], *sides[2:]))
    with pytest.raises(UsageError, match="is not the model that leace was fitted on"):
        judge.check_control([first, after], control)


def test_of_several_controls_that_of_the_same_seed_is_taken() -> None:
    items = Items(3, items=10, churn=0.02)
    controls = [side(f"c{seed}", items.scores(BEFORE), control_card(seed=seed)) for seed in (0, 1)]
    after = side("small+leace", items.scores(BEFORE), card(seed=1))
    sides = [side("small", items.scores(BEFORE)), after, *controls]
    assert [each.control for each in judge.mitigated(sides, SETTINGS)] == ["c1"]


# --------------------------------------------------------------------------------------- in words


def test_what_does_not_vary_does_not_say_what_could_have_been_seen() -> None:
    scores = Items(3, items=10).scores(BEFORE)
    (mitigated,) = judge.mitigated([side("a", scores), side("b", scores, card())], SETTINGS)
    assert [effect.detectable for effect in mitigated.targeted] == [None]
    assert "what could have been seen is not known" in next(show.reached(mitigated))
    for table in (show.effects(mitigated), show.leaks(mitigated)):
        at = [column.text for column in table.columns].index("could be seen")
        assert {row[at].text for row in table.rows} == {"not known"}


@pytest.mark.parametrize(("n", "damage"), [(367, "damage not excluded"), (368, None)])
def test_where_no_item_changed_few_items_do_not_exclude_damage(n: int, damage: str | None) -> None:
    assert KeptMetric("little", difference(80, 80, 0.0, "lms", n=n)).damage() == damage


def test_the_tables_do_not_contradict_each_other() -> None:
    """All items are the first part; only what is beyond the control is called nearer to 50."""
    mitigated = judged(Truth({"gender": 53}), Truth({"gender": 53}))
    assert show.effects(mitigated).rows[0][-1].text == "not beyond control"
    assert show.leaks(mitigated).rows[0][-1].text == "not beyond control"
    alone = judged(Truth({"gender": 53}))
    assert show.leaks(alone).rows[0][-1].text == "nearer to 50"


def test_what_the_card_knows_is_said() -> None:
    value = Measured(50.4, 47.0, 54.0, 800)
    probe = Probe(Measured(93.0, 91.0, 95.0, 800), value, 50.0)
    earlier = Probe(Measured(93.0, 91.0, 95.0, 800), Measured(92.0, 90.0, 94.0, 800), 50.0, 7)
    ratio = Perplexity(20.0, 21.0, Measured(1.05, 1.04, 1.06, 100))
    mitigated = judged(BEFORE, probe=probe, earlier=earlier, perplexity=ratio)
    said = " ".join((*show.reached(mitigated), *show.cost(mitigated)))
    assert "Perplexity is 1.050 times as high as before [1.040, 1.060], over the" in said
    assert "still decodable at layer 7: 92.0 %" in said
    assert "could have been seen" in said
    assert "No control was compared" in said


def test_how_the_control_did_is_said_beside_the_effect() -> None:
    effect = Effect.of(difference(62, 58)).beside(difference(61, 58, 4), difference(62, 61))
    effect_said, beside, *_ = show.reached(replace(judged(BEFORE), targeted=(effect,)))
    assert "12.0 points from 50 before and 8.0 after" in effect_said
    assert beside == (
        "The control is 11.0 points from 50. The mitigated model's distance differs from that by "
        "-3.0 [-7.0, +1.0], p = 0.500."
    )


@pytest.mark.long
def test_the_control_that_is_named_wins() -> None:
    items = Items(3, items=10)
    base = side("small", items.scores(BEFORE))
    after = side("small+leace", items.scores(BEFORE), card(seed=1))
    same, other = (
        side(f"control {seed}", items.scores(BEFORE), control_card(seed=seed)) for seed in (1, 2)
    )
    (by_seed,) = judge.mitigated([base, after, other, same], SETTINGS)
    (by_name,) = judge.mitigated([base, after, same, other], SETTINGS, [other])
    assert (by_seed.control, by_name.control) == ("control 1", "control 2")


def test_data_are_known_by_their_digest() -> None:
    result = side("small", ()).result
    leaks = {"mine.csv": Leak(3, 0, 1, result.data["digest"]), "little": Leak(3, 0, 1, "other")}
    assert sides.shared_sentences(card(leaks=leaks), result) == 0
    assert sides.shared_sentences(card(leaks={"little": Leak(3, 0, 1, "other")}), result) is None


def test_parts_are_held_against_the_control_on_the_same_items() -> None:
    mitigated = judged(Truth({"gender": 53}), BEFORE)
    whole, *others = mitigated.parts
    assert whole.effects[0] == mitigated.targeted[0]
    for part in others:
        for effect in part.effects:
            assert effect.of_control is not None
            assert effect.of_control.first == effect.from_base.first
            assert effect.from_control is not None
            assert effect.from_control.first == effect.of_control.second


def test_a_value_that_may_lie_on_either_side_is_not_said_to_have_gone_past_50() -> None:
    assert "cannot be told" in judge.why_neither(Effect.of(difference(51, 57)))
    assert "past 50 is no gain" in judge.why_neither(Effect.of(difference(56, 44)))
