"""The analyses of a data set on sets small enough to count by hand."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stereometer
from stereometer.core import catalog
from stereometer.core.errors import UsageError
from stereometer.core.shapes.sentences import SentenceItem, SentenceShape, words_of
from stereometer.core.shapes.shape import Metric, Shape
from stereometer.core.types import (
    Abilities,
    Answer,
    Encoding,
    Estimate,
    ModelCard,
    Request,
    Result,
    Settings,
    WholeText,
)
from stereometer.core.verbs.run import run
from stereometer.kinds.cats import shape as cat_shape
from stereometer.kinds.cats.items import Candidate, Cat
from stereometer.kinds.pairs import shape as pair_shape
from stereometer.kinds.pairs.items import Pair
from stereometer.report import tables
from stereometer.wings.curation import analysis, keywords, sentiment
from stereometer.wings.curation.analysis import analyze, ranked_terms
from stereometer.wings.curation.audit import audit
from tests.builders.little import little_stereoset, pairs_file
from tests.builders.sure import sure

QUICK = Settings(resamples=200)
VOTES = {3: ("x", "x", "x", "related", "y"), 4: ("x", "x", "x", "x", "y"), 5: ("x",) * 5}


def cat(
    number: int,
    target: str = "cook",
    domain: str = "trade",
    level: int = 5,
    texts: tuple[str, str, str] = ("is bad", "is good", "is"),
) -> Cat:
    candidates = {
        label: Candidate(
            f"{number}-{label}",
            text,
            tuple(label if vote == "x" else vote for vote in VOTES[level]),
        )
        for label, text in zip(("stereotype", "anti-stereotype", "unrelated"), texts, strict=True)
    }
    return Cat(f"i{number}", "intersentence", target, domain, f"The {target} came in.", candidates)


class Judge:
    """Negative where a text says bad, positive where it says good."""

    card = ModelCard("judge", "baseline", "judge@1", "judge")
    abilities = Abilities(frozenset({WholeText.kind}))

    def encode(self, text: str, second: str | None = None) -> Encoding:
        raise TypeError

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key, request in requests.items():
            assert isinstance(request, WholeText)
            tone = float("bad" in request.text) - float("good" in request.text)
            yield key, Answer(({"logprob": array("d", [tone])},))


# ---------------------------------------------------------------------------------------- sentiment


def contrast(
    items: Sequence[SentenceItem], shape: SentenceShape = cat_shape.SHAPE
) -> sentiment.ToneContrast:
    """Of all items, the first."""
    signs = sentiment.signs(items, shape, Judge())
    return sentiment.contrasts(items, shape, signs, QUICK)[0]


def test_sentiment_is_counted_by_label_and_domain() -> None:
    items = [cat(1), cat(2, domain="age"), cat(3, texts=("is", "is bad", "is"))]
    signs = sentiment.signs(items, cat_shape.SHAPE, Judge())
    assert signs == {"stereotype": [-1, -1, 0], "anti-stereotype": [1, 1, -1]}
    rows = {(one.group, one.label): one for one in sentiment.tones(items, signs)}
    assert rows["all", "stereotype"].n == 3
    assert rows["all", "stereotype"].negative == pytest.approx(200 / 3)
    assert rows["age", "anti-stereotype"].positive == 100


def test_a_difference_in_sentiment_is_tested_over_terms() -> None:
    one = contrast([cat(number, target=f"t{number % 12}") for number in range(48)])
    assert one.difference == 100.0
    assert one.test == "sign flips of items, all terms agree"
    assert one.low < one.high == 100.0
    assert one.verdict == "stereotypes sound more negative"


@pytest.mark.parametrize("terms", [5, 11])
def test_a_term_with_many_items_cannot_turn_the_verdict_round(terms: int) -> None:
    """One term has 40 items whose stereotype is the kinder text, the others one item each whose
    stereotype is the harsher: difference, interval and verdict are of the items alone."""
    kinder = [cat(at, target="crowd", texts=("is good", "is bad", "is")) for at in range(40)]
    one = contrast(kinder + [cat(40 + at, target=f"t{at}") for at in range(terms)])
    assert one.difference == pytest.approx(100 * (terms - 40) / (terms + 40))
    assert one.low - 1e-9 <= one.difference <= one.high + 1e-9
    assert (one.verdict == sentiment.SAME) == (one.low <= 0 <= one.high)
    assert one.verdict != "stereotypes sound more negative"


@given(
    st.lists(
        st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=6), min_size=10, max_size=16
    )
)
def test_interval_and_test_of_a_difference_agree(changes: list[list[int]]) -> None:
    texts = {-1: ("is good", "is bad", "is"), 0: ("is", "is", "is"), 1: ("is bad", "is good", "is")}
    items = [
        cat(100 * at + n, target=f"t{at}", texts=texts[one])
        for at, some in enumerate(changes)
        for n, one in enumerate(some)
    ]
    one = contrast(items)
    steps = [step for some in changes for step in some]
    assert one.difference == pytest.approx(100 * np.mean(steps))
    if one.test.startswith("t over"):  # a few large terms are held fixed, as few terms are
        assert (one.p < 0.05) == (not one.low <= 0 <= one.high)


def test_few_terms_are_held_fixed_and_pairs_are_mcnemars() -> None:
    few = [cat(number, target=f"t{number % 3}") for number in range(9)]
    assert contrast(few).test.startswith("sign flips")
    pairs = [Pair(str(at), "a bad one", "a good one", "age") for at in range(10)]
    one = contrast(pairs, pair_shape.SHAPE)
    assert one.test == "McNemar"
    assert one.p == pytest.approx(2 * 0.5**10)


# ----------------------------------------------------------------------------------------- keywords


def test_keywords_are_simple_maths_by_hand() -> None:
    """Twelve words in all: `bad` three times is 250,000 per million, in a language that has it 99
    times per million."""
    items = [cat(at, texts=("bad", "x", "x")) for at in range(3)]
    found = {
        one.word: one
        for one in keywords.keywords(items, lambda word: 99.0 if word == "bad" else 0.0, 10)
    }
    total = sum(len(list(item.written)) for item in items)
    assert total == 18  # the cook came in bad x
    assert found["bad"].score == pytest.approx((1e6 * 3 / 18 + 1) / (99 + 1))
    assert (found["bad"].count, found["bad"].items) == (3, 3)


def test_a_word_rarer_than_in_the_language_is_no_keyword() -> None:
    items = [cat(at, texts=("bad", "x", "x")) for at in range(3)]
    known = {"the": 1e6, "came": 1e6 * 3 / 18}
    found = keywords.keywords(items, lambda word: known.get(word, 0.0), 10)
    assert {one.word for one in found} == {"in", "bad", "x"}


def test_target_terms_their_plurals_and_rare_words_are_no_keywords() -> None:
    """`once` is of one writer, and what is unrelated was not chosen to describe anybody."""
    items = [cat(at, texts=("cooks", "cook's", "x")) for at in range(3)]
    items.append(cat(9, texts=("once", "x", "x")))
    words = {one.word for one in keywords.keywords(items, lambda word: 0.0, 100)}
    assert words == {"the", "came", "in"}


def test_words_that_change_in_pairs_are_no_keywords() -> None:
    """Neither group is; what is said of them may be."""
    more, less = "The Dane hoards number {}.", "The Finns hoard number {}."
    items = [Pair(str(at), more.format(at), less.format(at), "nationality") for at in range(3)]
    items += [Pair(str(at), "Danes hoards.", "The Dane hoards.", "age") for at in range(3, 6)]
    found = {one.word for one in keywords.keywords(items, lambda word: 0.0, 100)}
    assert found == {"number"}


def test_words_keep_their_apostrophes_and_hyphens() -> None:
    words = ["don't", "be", "well-known", "times", "x"]
    assert words_of("Don’t be well-known, 42 times_x!") == words


# ------------------------------------------------------------------------------------------- labels


def test_levels_count_the_least_agreed_candidate() -> None:
    items = [cat(1, level=5), cat(2, level=4), cat(3, level=3), cat(4, level=3)]
    worse = {"unrelated": cat(5, level=3).candidates["unrelated"]}
    mixed = replace(cat(5), candidates={**cat(5).candidates, **worse})
    assert analysis.levels([*items, mixed]) == {"3 of 5": 3, "4 of 5": 1, "5 of 5": 1}
    assert analysis.agreed(items, 4) == {"i1", "i2"}


def test_items_without_votes_are_said_to_have_none() -> None:
    assert analysis.levels([Pair("p", "a", "b", "age")]) == {"not validated": 1}
    assert Pair("p", "a", "b", "age", votes=(("age",), ("race",))).own_votes == (1, 2)
    assert analysis.raw_alpha([Pair("p", "a", "b", "age")], QUICK).why


# --------------------------------------------------------------------------------------- whole runs


def measured(name: object, place: Path, **more: Any) -> Result:
    options: dict[str, Any] = {"model": "random", "resamples": 100, "cache": False, **more}
    (result,) = run(str(name), out=place, **options)
    return result


def test_terms_of_a_run_stand_at_both_ends_once(tmp_path: Path) -> None:
    rows = ranked_terms(measured("starter", tmp_path, measure=["cat-likelihood"]), 3)
    assert next(row.target for row in rows if row.domain == "gender") == ""
    for domain in {row.domain for row in rows}:
        ranked = [row for row in rows if row.domain == domain and row.target]
        assert len({row.target for row in ranked}) == len(ranked), "none twice"
        assert [row.end for row in ranked] == ["most"] * 3 + ["least"] * 3
        values = [sure(row.estimates["ss"].value) for row in ranked]
        assert values == sorted(values, reverse=True)


@pytest.mark.parametrize(
    ("count", "ends", "most", "least"),
    [
        (1, 3, 1, 0),
        (2, 3, 1, 1),
        (3, 3, 2, 1),
        (5, 3, 3, 2),
        (6, 3, 3, 3),
        (9, 3, 3, 3),
        (3, 1, 1, 1),
    ],
)
def test_a_term_is_at_one_end(count: int, ends: int, most: int, least: int) -> None:
    places = [{}, *({"target": f"t{at}"} for at in range(count))]
    estimates = [
        _at(name, float(at), domain="trade", **place)
        for at, place in enumerate(places)
        for name in ("lms", "ss", "icat")
    ]
    rows = ranked_terms(SimpleNamespace(estimates=estimates, kind="cat"), ends)  # type: ignore[arg-type]
    assert [row.end for row in rows] == ["domain", *["most"] * most, *["least"] * least]
    assert list(rows[0].as_json()) == ["domain", "target", "end", "lms", "ss", "icat"]
    assert [row.target for row in rows if row.end == "most"] == [
        f"t{count - 1 - at}" for at in range(most)
    ]


def _at(name: str, value: float, **place: str) -> Estimate:
    return Estimate(name, place, value, None, None, 9, 9, 0, None)


def test_terms_are_ranked_without_the_metrics_that_a_result_does_not_have() -> None:
    estimates = [_at("ss", 50.0, domain="trade"), _at("ss", 60.0, domain="trade", target="smith")]
    rows = ranked_terms(SimpleNamespace(estimates=estimates, kind="cat"))  # type: ignore[arg-type]
    assert [(row.target, list(row.estimates)) for row in rows] == [("", ["ss"]), ("smith", ["ss"])]


class ByWord(Shape):
    name, domains, term_by = "by-word", "field", ("field", "word")
    metrics = (Metric("gap", "gap", 0.0, headline=True),)


def test_terms_are_those_that_a_shape_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "shape", lambda kind: ByWord())
    words = [_at("gap", float(at), field="trade", word=word) for at, word in enumerate("ab")]
    result = SimpleNamespace(estimates=[_at("gap", 1.0, field="trade"), *words], kind="by-word")
    rows = ranked_terms(result)  # type: ignore[arg-type]
    assert [(row.target, row.end) for row in rows] == [
        ("", "domain"),
        ("b", "most"),
        ("a", "least"),
    ]


def test_the_report_lists_terms_by_the_metric_and_slices_of_the_shape() -> None:
    group: Any = SimpleNamespace(shape=ByWord(), digits=lambda name: 3)
    rows = [_at("gap", 0.1234, field="trade", word="a"), _at("gap", 2.0, field="trade", word="b")]
    listed = tables.terms(group, "gap", rows, "gap of all terms")
    assert [cell.text for cell in listed.columns[:3]] == ["Term", "Domain", "gap"]
    cells = [[cell.text for cell in row[:3]] for row in listed.rows]
    assert cells == [["b", "trade", "2.000"], ["a", "trade", "0.123"]]


def test_a_shape_without_terms_has_no_table_of_them() -> None:
    estimates = [_at("pair_preference", 50.0, bias_type="age")]
    assert not ranked_terms(SimpleNamespace(estimates=estimates, kind="pair"))  # type: ignore[arg-type]


def test_metrics_where_validators_agree(tmp_path: Path) -> None:
    dev = little_stereoset(tmp_path / "dev.json", 12)
    value = json.loads(dev.read_text())
    for number, item in enumerate(value["data"]["intrasentence"] + value["data"]["intersentence"]):
        for one in item["sentences"]:
            gold, agreed = one["gold_label"], 3 + number % 3
            one["labels"] = [{"label": gold}] * agreed + [{"label": "related"}] * (5 - agreed)
    dev.write_text(json.dumps(value))
    measured(dev, tmp_path / "run", measure=["cat-likelihood"])
    found = analyze(str(dev), run=[tmp_path / "run"], resamples=100)
    (shape,) = found.shapes
    assert shape.levels == {"3 of 5": 8, "4 of 5": 8, "5 of 5": 8}
    four, five = shape.runs[0].restricted
    assert (four.validators, four.items, five.items) == (4, 16, 8)
    assert next(one for one in four.estimates if one.name == "ss" and not one.slice).n == 16
    assert next(one for one in five.shifts if one.name == "ss" and not one.slice).n_kept == 8
    json.dumps(found.as_json(), allow_nan=False)


def test_a_run_on_other_items_is_refused(tmp_path: Path) -> None:
    measured(pairs_file(tmp_path / "pairs.csv"), tmp_path / "run", model="fake")
    with pytest.raises(UsageError, match="measured on other items"):
        analyze("starter", run=[tmp_path / "run"], resamples=200)


@pytest.mark.parametrize("look", [analyze, audit])
def test_a_run_on_items_of_another_shape_is_refused(look: Any, tmp_path: Path) -> None:
    """StereoSet's pairs are the same data; what is analysed are its CATs."""
    dev = little_stereoset(tmp_path / "dev.json", 12)
    how = {"model": "fake", "measure": ["pair-sentence-likelihood"], "coverage": 0.0}
    measured("stereoset", tmp_path / "run", data=dev, **how)
    with pytest.raises(UsageError, match="does not read the cat items"):
        look("stereoset", data=dev, run=[tmp_path / "run"], resamples=200)


def test_from_python() -> None:
    found = stereometer.analyze("starter", resamples=100)
    assert [shape.items for shape in found.shapes] == [480, 400]
    assert found.shapes[0].alpha.value is None


def test_keywords_by_lemma_join_the_forms_of_a_word() -> None:
    """Three forms in three items are one keyword, compared with all forms of the language."""
    assert [keywords.lemma(word) for word in ("impoverished", "wolves", "evening", "hijabz")] == [
        "impoverish",
        "wolf",
        "evening",
        "hijabz",
    ]
    texts = ("They impoverish towns.", "He impoverished her.", "It impoverishes all.")
    pairs = [Pair(str(at), text, f"{text} Yes.", "age") for at, text in enumerate(texts)]
    frequency = keywords.by_lemma("English")
    assert frequency("impoverish") > keywords.reference("English")("impoverish")
    (found,) = [
        keyword
        for keyword in keywords.keywords(pairs, frequency, 20, form=keywords.lemma)
        if keyword.word.startswith("impov")
    ]
    assert (found.word, found.count, found.items) == ("impoverish", 3, 3)
    plain = keywords.keywords(pairs, keywords.reference("English"), 20)
    assert not [keyword for keyword in plain if keyword.word.startswith("impov")]
    with pytest.raises(UsageError, match="is for English"):
        keywords.by_lemma("French")
