"""CEAT: exact on synthetic vectors against slow references, sentences found as a person would,
coverage shown."""

from __future__ import annotations

from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stereometer.core.errors import ModelError
from stereometer.core.runs.runner import distinct, planned, scored
from stereometer.core.stats.tests import exchange_p
from stereometer.core.types import NoOptions, Score, Settings
from stereometer.kinds.traits.abc.items import Choice, chosen_benchmark
from stereometer.kinds.traits.abc.sentences import POOL, Concordance, sentences
from stereometer.kinds.traits.methods.embedding import (
    FEW_SENTENCES,
    FEW_WORDS,
    NO_POLE,
    SINGLE,
    TWO_GROUP,
    ceat,
    nearness,
    random_effects,
    within_variance,
)
from stereometer.kinds.traits.metrics import EXCHANGED
from stereometer.models.baselines.fake import Fake
from stereometer.models.text_scores import Random
from stereometer.report import write_report
from tests.builders import told_text
from tests.builders.commands import assert_refused, call
from tests.conftest import released


def dot(a: Any, b: Any) -> float:
    return sum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def cos(a: Any, b: Any) -> float:
    return dot(a, b) / sqrt(dot(a, a)) / sqrt(dot(b, b))


def slow_single(g: Any, right: list[Any], left: list[Any]) -> float:
    near, far = [cos(g, t) for t in right], [cos(g, t) for t in left]
    return (fmean(near) - fmean(far)) / stdev(near + far)


def slow_two(first: list[Any], second: list[Any], right: list[Any], left: list[Any]) -> float:
    def s(w: Any) -> float:
        return fmean(cos(w, t) for t in right) - fmean(cos(w, t) for t in left)

    a, b = [s(w) for w in first], [s(w) for w in second]
    return (fmean(a) - fmean(b)) / stdev(a + b)


def slow_combination(effects: list[float], variances: list[float]) -> tuple[float, float]:
    """Effect and standard error, summed one by one."""
    w = [1 / v for v in variances]
    q = dot(w, [e * e for e in effects]) - dot(w, effects) ** 2 / sum(w)
    c = sum(w) - dot(w, w) / sum(w)
    between = max(0.0, (q - (len(effects) - 1)) / c)
    w = [1 / (v + between) for v in variances]
    return dot(w, effects) / sum(w), sqrt(1 / sum(w))


def pools(draw: np.random.Generator, *counts: int) -> dict[str, np.ndarray]:
    return {f"w{at}": draw.normal(size=(count, 5)) + 0.3 for at, count in enumerate(counts)}


class Record:
    """Draws as a generator would and remembers which sentence was taken."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.taken: list[np.ndarray] = []

    def integers(self, low: int, high: int, size: int) -> np.ndarray:
        self.taken.append(self.rng.integers(low, high, size))
        return self.taken[-1]


@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_both_forms_are_those_of_loops(seed: int) -> None:
    draw = np.random.default_rng(seed)
    group, other = pools(draw, 30, 20), pools(draw, 21, 50)
    right, left = pools(draw, 25, 40), pools(draw, 22, 21, 35)
    one = {"w0": group["w0"]}
    for groups, slow, size, spread in (
        ((one,), lambda x, *poles: slow_single(x[0], *poles), 5, 5 / 6),
        ((group, other), slow_two, 4, 1.0),
    ):
        record: Any = Record(seed)
        effects, combined = ceat(*groups, left=left, right=right, rng=record, draws=12)
        taken = iter(record.taken)
        drawn = [[pool[next(taken)] for pool in words.values()] for words in (*groups, right, left)]
        wanted = [slow(*([w[n] for w in words] for words in drawn)) for n in range(12)]
        assert effects == pytest.approx(wanted)
        variances = [spread + e * e / (2 * size) for e in wanted]
        assert (combined.effect, combined.error) == pytest.approx(
            slow_combination(wanted, variances)
        )


def test_planted_associations_are_found_and_absent_ones_are_not() -> None:
    """Words near one pole have a large effect; words placed at random have one around 0 over many
    groups."""
    draw = np.random.default_rng(0)

    def about(direction: float, words: int = 1, spread: float = 0.4) -> dict[str, np.ndarray]:
        axis = np.eye(20)[0] * 3.0 * direction
        return {f"w{n}": draw.normal(size=(40, 20)) * spread + axis for n in range(words)}

    right, left = about(1, 3), about(-1, 3)

    def effect(group: dict[str, np.ndarray]) -> float:
        return ceat(group, left=left, right=right, rng=draw)[1].effect

    assert effect(about(1)) > 1.5
    assert effect(about(-1)) < -1.5
    assert abs(np.mean([effect(about(0, spread=1.0)) for _ in range(30)])) < 0.4


def test_one_draw_is_its_own_combination() -> None:
    found = random_effects(np.array([0.7]), within_variance(np.array([0.7]), (2, 2)))
    assert found.effect == pytest.approx(0.7)
    assert found.between == 0.0


# ---------------------------------------------------------------------------------------- sentences


def test_sentences_are_split_at_ends_and_kept_once(tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text(
        'It rained. "Did it?" he asked. It rained.\n\nYes! (It did.) Over in the U.S. it did not.'
    )

    assert sentences(file)[0] == "It rained."
    assert len(set(sentences(file))) == len(sentences(file))


def test_words_are_whole_and_names_are_written_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text(
        "Women sang. The womenfolk sang. A white person came. A White person came. Many White"
        " people came. Twelve women-only clubs."
    )
    found = Concordance(file, ["women", "White person", "White people"], seed=0)
    assert [one.text for one in found.pool("women")] == ["Women sang."]
    assert [one.text for one in found.pool("White person", "White people")] == [
        "A White person came.",
        "Many White people came.",
    ]
    (one,) = found.pool("women")
    assert one.text[slice(*one.span)] == "Women"


def test_a_pool_is_a_thousand_by_lot(tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text(" ".join(f"Women walked {number} miles." for number in range(1500)))
    one, same, other = (Concordance(file, ["women"], seed).pool("women") for seed in (1, 1, 2))
    assert len(one) == POOL
    assert one == same
    assert one != other


def items(folder: Path, shape: str) -> Any:
    return chosen_benchmark(told_text.choice(folder)).items(shape)


def scores_of(method: Any, found: Any) -> dict[tuple[str, str], Any]:
    backend = Fake()
    measure = method.bind(backend, "sound", NoOptions())
    plans = list(planned(found, measure))
    answers = dict(backend.answer(distinct(plans)))
    return {
        (plan.item.slices["group"], plan.item.slices["trait"]): scored(plan, measure, answers)
        for plan in plans
    }


def test_words_with_few_sentences_are_skipped_with_the_reason(tmp_path: Path) -> None:
    found = scores_of(SINGLE, items(tmp_path, "sentences"))
    assert found["teenager", "powerless - powerful"].skipped == FEW_SENTENCES
    assert found["woman", "poor - wealthy"].skipped == NO_POLE
    good = found["woman", "powerless - powerful"]
    assert good.skipped is None
    assert set(good.values) == {"effect"}
    assert good.texts["group"] == "woman 50"
    assert good.texts["left"].startswith("powerless 25, weak 25, helpless 0")
    assert "walked" not in str(good.texts)


def test_two_groups_need_words_enough_for_a_spread(tmp_path: Path) -> None:
    found = scores_of(TWO_GROUP, items(tmp_path, "sentence-pairs"))
    assert found["man vs woman", "powerless - powerful"].skipped is None
    assert found["man vs lesbian", "powerless - powerful"].skipped is None
    assert ("man vs teenager", "powerless - powerful") not in found


def test_the_only_two_groups_are_a_pair_whatever_their_domains(tmp_path: Path) -> None:
    choice = Choice(groups=("woman", "teenager"), text=told_text.write(tmp_path))
    found = chosen_benchmark(choice).items("sentence-pairs")
    assert {(item.slices["group"], item.slices["domain"]) for item in found} == {
        ("woman vs teenager", "gender/sexuality + age")
    }


@pytest.mark.parametrize("groups", ["woman", "woman,teenager,blind"])
def test_without_two_groups_to_compare_nothing_is_run(tmp_path: Path, groups: str) -> None:
    line = f"run abc --model fake --measure ceat-two-group --groups {groups} --text"
    said = call(line, told_text.write(tmp_path), "--out", tmp_path / "out")
    assert_refused(said, 2, "ceat-two-group needs running text, and two groups of one domain")
    assert not (tmp_path / "out").exists()


def test_two_words_have_no_spread_worth_dividing_by(tmp_path: Path) -> None:
    text = " ".join(
        f"A {word} lamp {n} was on." for word in ("cold", "warm") for n in range(30)
    ) + " ".join(f" Women saw {n}." for n in range(30))
    (tmp_path / "text.txt").write_text(text)
    choice = Choice(groups=("woman",), text=tmp_path / "text.txt")
    found = scores_of(SINGLE, chosen_benchmark(choice).items("sentences"))
    assert found["woman", "cold - warm"].skipped == FEW_WORDS


def test_run_and_its_estimates(tmp_path: Path) -> None:
    line = "run abc --model fake --groups man,woman,teenager --measure ceat --coverage 0 --json"
    command = (f"{line} --text", told_text.write(tmp_path), "--out")
    (result,) = call(*command, tmp_path / "out").json["results"]
    known = [
        one
        for one in result["estimates"]
        if one["slice"].get("trait") == "cold - warm" and one["value"] is not None
    ]
    assert {one["slice"]["group"] for one in known} == {"man", "woman"}
    assert all(one["low"] <= one["value"] <= one["high"] for one in known)
    assert {(one["interval"], one["p"], one["verdict"]) for one in known} == {
        ("middle of the draws of sentences", None, None)
    }
    assert result["estimates"][0]["skipped"] == {NO_POLE: 28, FEW_SENTENCES: 16}
    (again,) = call(*command, tmp_path / "again").json["results"]
    assert again["estimates"] == result["estimates"]


def cell(trait: str, words: dict[str, float]) -> Score:
    slices = {"group": "g", "domain": "d", "trait": trait, "dimension": "x"}
    derived = {"low": 0.1, "high": 0.9, **words}
    return Score(trait, slices | {"template": "sentences"}, {"effect": 0.3}, derived=derived)


def test_a_dimension_is_tested_over_all_words_of_its_poles() -> None:
    """Four words a pole, each right one nearer: two of 70 divisions are as far apart."""
    scores = [
        cell("cold - warm", {"left/a": 0.1, "left/b": 0.2, "right/c": 0.7, "right/d": 0.8}),
        cell("poor - wealthy", {"left/e": 0.3, "left/f": 0.15, "right/g": 0.9, "right/h": 0.6}),
    ]
    found = SINGLE.bind(Fake(), "sound", NoOptions()).summarize(scores, Settings())
    (dimension,) = [one for one in found if "dimension" in one.slice]
    assert dimension.p == pytest.approx(2 / 70)
    assert dimension.verdict == "above 0"
    assert dimension.test == EXCHANGED
    traits = [one for one in found if "trait" in one.slice]
    assert all((one.p, one.verdict, one.low) == (None, None, 0.1) for one in traits)


@pytest.mark.parametrize(
    ("again", "says"),
    [
        ({"left/a": 0.1}, "with 1 and 2 p cannot fall below 0.33"),
        ({"left/a": 0.1, "left/e": 0.3}, "with 2 and 2 p cannot fall below 0.33"),
    ],
)
def test_a_word_counts_once_and_too_few_words_are_not_tested(
    again: dict[str, float], says: str
) -> None:
    scores = [cell("cold - warm", {"left/a": 0.1, "right/c": 0.7, "right/d": 0.8})]
    scores.append(cell("poor - wealthy", {**again, "right/c": 0.7}))
    found = SINGLE.bind(Fake(), "sound", NoOptions()).summarize(scores, Settings())
    (dimension,) = [one for one in found if "dimension" in one.slice]
    assert (dimension.p, dimension.verdict) == (None, None)
    assert says in (dimension.interval or "")


def test_the_p_of_words_does_not_know_of_draws() -> None:
    draw = np.random.default_rng(0)
    group, pole = pools(draw, 30), pools(draw, 25, 40)
    close = nearness(pole, group)
    pairs = [[cos(g, w) for g in group["w0"] for w in pool] for pool in (pole["w0"], pole["w1"])]
    assert list(close.values()) == pytest.approx([np.mean(every) for every in pairs])
    other = pools(draw, 22)
    assert nearness(pole, group, other)["w0"] == pytest.approx(
        close["w0"] - nearness(pole, other)["w0"]
    )


@pytest.mark.parametrize("sentences_of_a_word", [20, 200])
def test_words_placed_by_lot_are_seldom_beyond_noise(sentences_of_a_word: int) -> None:
    """However many sentences, and so draws, there are: words have places of their own."""
    draw = np.random.default_rng(sentences_of_a_word)
    ps = []
    for _ in range(200):
        group, *words = draw.normal(size=(1 + 12, 1, 10)) + 0.5 * draw.normal(
            size=(13, sentences_of_a_word, 10)
        )
        pools_of = {str(at): pool for at, pool in enumerate(words)}
        close = np.array(list(nearness(pools_of, {"g": group}).values()))
        ps.append(exchange_p(close[:6], close[6:], draw))
    assert float(np.mean(np.array(ps) < 0.05)) <= 0.08


@pytest.mark.parametrize("measure", ["ceat", "ceat-two-group"])
def test_what_is_said_of_sentences_does_not_speak_of_templates(
    tmp_path: Path, measure: str
) -> None:
    line = f"run abc --model fake --groups man,woman --coverage 0 --measure {measure} --text"
    said = call(line, told_text.write(tmp_path), "--out", tmp_path / "out")
    words = " ".join(said.out.split())
    assert "the middle of draws of sentences, 95%" in words
    assert "say nothing of other sentences" in words
    page = write_report([tmp_path / "out"], tmp_path / "report.html").read_text()
    assert "middle of draws of sentences" in page
    for text in (words, page):
        assert "over templates" not in text
        assert "an unnamed person" not in text


def test_bad_input(tmp_path: Path) -> None:
    run, file = "run abc --model fake", tmp_path / "text.jsonl"
    for text, says in (
        (" \n", "is empty"),
        ('{"text": "A."}\n{"body": "x"}\n', "line 2 has no text"),
    ):
        file.write_text(text)
        assert_refused(call(run, "--text", file), 4, says)
    assert_refused(call(run, "--measure", "ceat"), 2, "ceat needs running text", "--text FILE")
    with pytest.raises(ModelError, match="random cannot answer ceat"):
        SINGLE.bind(Random(), "sound", NoOptions())


def test_coverage_on_wikipedia_is_what_it_is() -> None:
    """Most groups lack sentences there: about 260 with `women`."""
    text = released("text/wikipedia_passages.jsonl.gz")
    found = Concordance(text, ["women", "neurodivergent people", "cis people"], seed=0)
    assert 200 < len(found.pool("women")) < 400
    assert len(found.pool("cis people")) == len(found.pool("neurodivergent people")) == 0
