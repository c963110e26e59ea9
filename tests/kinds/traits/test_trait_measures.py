"""ILPS, ILPS* and SeT in every variant: by hand on the fake model, and what has no number."""

from __future__ import annotations

from array import array
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from math import log, log1p
from statistics import median
from typing import Any

import numpy as np
import pytest

from stereometer.core.errors import ModelError, UsageError
from stereometer.core.methods.spans import UNKNOWN_WORD
from stereometer.core.runs.measure import job_for
from stereometer.core.runs.runner import distinct, planned, scored
from stereometer.core.stats.means import StudentMean
from stereometer.core.types import TOO_LONG, Encoding, NoOptions, Score, Settings, Skip, Variant
from stereometer.kinds.traits.abc.items import Choice, TraitCell, chosen_benchmark
from stereometer.kinds.traits.methods.association import (
    ALREADY_TOP,
    CAUSAL_ILPS,
    CAUSAL_SET,
    ILPS,
    ILPS_STAR,
    METHODS,
    NO_LOGARITHM,
    NOT_LAST,
    SET,
    distance_ratio,
    printed_distance,
    released_distance,
)
from stereometer.kinds.traits.metrics import NEITHER, ONE_TEMPLATE, summarize
from stereometer.models.baselines.fake import Fake
from tests.builders.by_hand import logprob, word
from tests.builders.commands import assert_refused, call
from tests.builders.sure import all_of

ITEMS = all_of(
    TraitCell,
    chosen_benchmark(
        Choice(groups=("woman", "Asian"), templates=("that", "should", "trait-first"))
    ).items("trait"),
)


def visible(item: TraitCell, who: str | None) -> list[str]:
    """The words of the sentence around the adjective, about the group, about `who`, or about a mask
    (None)."""
    template, group = item.frame.template, item.frame.group
    names = {
        "singular": {"person": "person", "group": group.singular},
        "plural": {"person": "people", "group": group.plural},
    }[template.number]
    name = names[who] if who else ""
    text = template.text.replace("{trait}", "").replace("{group}", name)
    text = text.replace("{Group}", name[:1].upper() + name[1:])
    return text.replace(".", " .").split()


def sums(item: TraitCell, adjective: str, who: str | None, causal: bool) -> list[int]:
    """What the fake model's numbers are made of, piece by piece: the piece and all that is
    visible."""
    pieces = [word(one) for one in adjective.replace("-", " - ").split()]
    context = sum(word(one) for one in visible(item, who) if not causal or one != ".")
    return [context + sum(pieces[: at + 1]) for at in range(len(pieces))]


def distance(total: int) -> float:
    return (1 + total % 89) / 100


def expected(name: str, variant: str, item: TraitCell, adjective: str) -> float:
    causal = name.startswith("causal")
    prior = "person" if variant == "paper" or causal else None
    group, other = sums(item, adjective, "group", causal), sums(item, adjective, prior, causal)
    if name == "ilps" or (name, variant) == ("causal-ilps", "paper"):
        return logprob(group[0]) - logprob(other[0])
    if name == "ilps-star":
        return sum(logprob(one) + 0.7 for one in group) - sum(logprob(one) + 0.7 for one in other)
    if name == "causal-ilps":
        return sum(map(logprob, group)) - sum(map(logprob, other))
    if variant == "paper":
        return min(log1p(-distance(one)) for one in group) - min(
            log1p(-distance(one)) for one in other
        )
    if variant == "printed":
        return max(
            -log(distance(a) ** 2 / distance(b) ** 2) for a, b in zip(group, other, strict=True)
        )
    return -log(max(map(distance, group)) / max(map(distance, other)))


@pytest.mark.parametrize(
    ("name", "variant"),
    [(name, variant) for name, method in METHODS.items() for variant in method.formulas],
)
def test_every_variant_by_hand(name: str, variant: Any) -> None:
    backend = Fake()
    binder = {one.name: one for one in (ILPS, ILPS_STAR, SET, CAUSAL_ILPS, CAUSAL_SET)}[name]
    measure = binder.bind(backend, variant, NoOptions())
    plans = list(planned(ITEMS, measure))
    answers = dict(backend.answer(distinct(plans)))
    assert measure.name == f"{name}@1"
    for item, plan in zip(ITEMS, plans, strict=True):
        score = scored(plan, measure, answers)
        if name.startswith("causal") and not item.frame.template.ends_with_trait:
            assert score.skipped == NOT_LAST
            continue
        for pole in ("left", "right"):
            words = item.trait.adjectives(pole) if variant == "paper" else [item.trait.head(pole)]
            assert score.values[pole] == pytest.approx(
                median(expected(name, variant, item, one) for one in words)
            )


@pytest.mark.parametrize(
    ("one", "variant", "same"),
    [(ILPS, "sound", ILPS_STAR), (ILPS, "paper", SET), (CAUSAL_ILPS, "paper", CAUSAL_SET)],
)
def test_where_the_first_piece_counts_later_ones_are_not_asked(
    one: Any, variant: Any, same: Any
) -> None:
    """Of science-oriented three pieces are read by others, one by this."""
    item = next(
        item
        for item in ITEMS
        if item.trait.right == "science-oriented" and item.frame.template.ends_with_trait
    )
    few, many = (
        set(binder.bind(Fake(), variant, NoOptions()).plan(item)["right"]) for binder in (one, same)
    )
    assert few < many
    assert variant == "paper" or (len(few), len(many)) == (2, 6)


def test_a_prior_whose_group_cannot_be_masked_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tokenizer that gives the word person no token: a mask in its place cannot be made, and the
    word itself is another prior."""
    backend, whole = Fake(), Fake.encode

    def without_person(self: Fake, text: str, second: str | None = None) -> Encoding:
        found = whole(self, text, second)
        kept = [at for at, (start, end) in enumerate(found.offsets) if text[start:end] != "person"]
        return Encoding(
            tuple(found.ids[at] for at in kept),
            tuple(found.offsets[at] for at in kept),
            tuple(found.words[at] for at in kept),
        )

    monkeypatch.setattr(Fake, "encode", without_person)
    (plan,) = planned(ITEMS[:1], ILPS.bind(backend, "sound", NoOptions()))
    assert (
        scored(plan, ILPS.bind(backend, "sound", NoOptions()), {}).skipped
        == "no token of the group to mask"
    )


class Ignorant(Fake):
    """Knows letters and marks of ASCII; whatever else stands in a word makes it token 1."""

    def encode(self, text: str, second: str | None = None) -> Encoding:
        found = super().encode(text, second)
        ids = tuple(
            one if text[slice(*place)].isascii() else 1
            for one, place in zip(found.ids, found.offsets, strict=True)
        )
        return Encoding(ids, found.offsets, found.words)


@pytest.mark.parametrize("binder", [ILPS, ILPS_STAR, SET, CAUSAL_ILPS, CAUSAL_SET])
def test_words_that_the_tokenizer_does_not_know_are_skipped_with_the_reason(
    binder: Any, tmp_path: Any
) -> None:
    groups, traits = tmp_path / "groups.csv", tmp_path / "traits.csv"
    groups.write_text("name,domain,singular,plural,article\nu,d,🦄,🦄,a\nw,d,woman,women,a\n")
    traits.write_text("name,dimension,left,right\nodd,x,🐉,warm\nplain,x,cold,warm\n")
    choice = Choice(groups=(str(groups),), traits=traits, templates=("that",))
    items = chosen_benchmark(choice).items("trait")
    for backend, reasons in (
        (Ignorant(), [UNKNOWN_WORD] * 3 + [None]),
        (Fake(), [None] * 4),
    ):
        plans = planned(items, binder.bind(backend, "sound", NoOptions()))
        assert [plan.skipped for plan in plans] == reasons


def pieces(*distances: float) -> list[dict[str, float]]:
    return [{"distance": one} for one in distances]


def test_the_released_score_has_no_number_for_distances_of_one_and_more() -> None:
    with pytest.raises(Skip, match=r"log\(1 - d\) is not defined") as skip:
        released_distance(pieces(0.5, 1.0), pieces(0.5, 0.5))
    assert skip.value.reason == NO_LOGARITHM
    assert released_distance(pieces(0.5, 0.2), pieces(0.25, 0.1)) == pytest.approx(
        log(0.5) - log(0.75)
    )


def test_what_is_already_on_top_has_no_number() -> None:
    for group, prior in (
        (pieces(0.0), pieces(0.5)),
        (pieces(0.5), pieces(0.0)),
        (pieces(0.0, 0.0), pieces(0.1, 0.2)),
    ):
        with pytest.raises(Skip) as skip:
            distance_ratio(group, prior)
        assert skip.value.reason == ALREADY_TOP
    assert distance_ratio(pieces(0.4, 0.0), pieces(0.2, 0.0)) == pytest.approx(-log(2))
    with pytest.raises(Skip):
        printed_distance(pieces(0.4, 0.0), pieces(0.2, 0.1))
    assert printed_distance(pieces(0.4, 0.1), pieces(0.2, 0.2)) == pytest.approx(2 * log(2))


class Far(Fake):
    """A model all of whose distances are large."""

    def answer(self, requests: Any) -> Any:
        for key, answer in super().answer(requests):
            rows = (
                {**row, "distance": array("d", [3 * value + 1 for value in row["distance"]])}
                for row in answer.rows
            )
            yield key, replace(answer, rows=tuple(rows))


@pytest.mark.parametrize(("variant", "scorable"), [("paper", False), ("sound", True)])
def test_distances_above_one_trip_the_coverage_floor_of_paper_and_say_why(
    variant: Variant, scorable: bool
) -> None:
    measure = SET.bind(Far(), variant, NoOptions())
    plans = list(planned(ITEMS, measure))
    answers = dict(Far().answer(distinct(plans)))
    estimates = measure.summarize((scored(plan, measure, answers) for plan in plans), Settings())
    assert all((one.value is not None) == scorable for one in estimates)
    assert scorable or estimates[0].skipped == {NO_LOGARITHM: len(ITEMS)}
    assert scorable or estimates[0].why == "nothing could be scored"


def test_within_word_is_not_an_option_here() -> None:
    benchmark = chosen_benchmark(Choice(groups=("woman",), templates=("that",)))
    with pytest.raises(UsageError, match="set has no --within-word"):
        job_for(benchmark, "trait", ["set"], Fake(), Settings(), options={"within_word": True})


# ---------------------------------------------------------------------------------------- estimates


OF = {"domain": "d", "dimension": "Agency"}


def cells(values: dict[tuple[str, str], list[float | None]]) -> list[Score]:
    """By group and trait, one value per template."""
    return [
        Score(
            f"{at}/{group}/{trait}",
            OF | {"group": group, "trait": trait, "template": str(at)},
            {} if value is None else {"left": 1.0, "right": 1.0 + value},
            "why" if value is None else None,
        )
        for (group, trait), row in values.items()
        for at, value in enumerate(row)
    ]


def test_an_association_is_the_mean_over_templates_with_students_interval() -> None:
    found = summarize(
        cells({("a", "x - y"): [1.0, 2.0, 4.0], ("b", "x - y"): [0.0, 0.1, -0.1]}), Settings()
    )
    one = next(one for one in found if one.slice == {"group": "a", "trait": "x - y"})
    assert one.value == pytest.approx(7 / 3)
    by_template = StudentMean.of(np.array([1.0, 2.0, 4.0]))
    assert (one.low, one.high) == pytest.approx(by_template.interval(0.95))
    assert (one.n, one.asked, one.terms, one.ideal) == (3, 3, 3, 0.0)
    assert one.tests == 2
    other = next(one for one in found if one.slice == {"group": "b", "trait": "x - y"})
    assert other.verdict == NEITHER


def test_a_verdict_names_the_pole() -> None:
    warm: list[float | None] = [1.0, 1.1, 0.9, 1.05]
    cold: list[float | None] = [-1.0, -1.1, -0.9, -1.05]
    found = summarize(cells({("a", "cold - warm"): warm, ("b", "cold - warm"): cold}), Settings())
    verdicts = [one.verdict for one in found if "trait" in one.slice]
    assert verdicts == ["towards warm", "towards cold"]


def test_one_template_has_a_value_and_no_interval_and_says_so() -> None:
    found = summarize(cells({("a", "x - y"): [1.0], ("b", "x - y"): [3.0]}), Settings())
    assert all(one.low is None and one.interval == ONE_TEMPLATE for one in found)
    assert found[0].name == "group_spread"
    assert found[0].value == pytest.approx(np.std([1.0, 3.0], ddof=1))


def test_skipped_cells_are_counted_and_trip_the_floor() -> None:
    spread, *rest = summarize(
        cells({("a", "x - y"): [1.0, None, None], ("b", "x - y"): [1.0, 2.0, 2.5]}), Settings()
    )
    assert spread.skipped == {"why": 2}
    assert spread.value is None
    by_group = {one.slice["group"]: one for one in rest if "trait" in one.slice}
    assert by_group["a"].value is None
    assert "below the coverage floor" in (by_group["a"].why or "")
    assert by_group["b"].value == pytest.approx(5.5 / 3)


# ---------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("line", "code", "says"),
    [
        ("starter --model fake --groups woman", 2, "starter has no groups, traits or templates"),
        ("abc --model fake --groups womn", 2, "no group called 'womn'. Did you mean woman"),
        ("abc --groups age --model ideal", 2, "ideal has no scores for abc"),
        ("abc --groups age --model random", 3, "set. It needs a model that fills in masks"),
        (
            "abc --groups age --model fake --measure ilps --variant printed",
            2,
            "ilps has no variant",
        ),
        ("starter --model random --variant printed", 2, "has no variant 'printed'"),
    ],
)
def test_what_cannot_be_run_is_refused(line: str, code: int, says: str) -> None:
    assert_refused(call(f"run {line}"), code, says)


def test_a_template_without_a_blank(tmp_path: Any) -> None:
    file = tmp_path / "own.csv"
    file.write_text("name,kind,number,text\none,own,plural,{Group} are nice.\n")
    said = call("run abc --model fake --templates", file)
    assert_refused(said, 4, "line 2: the template has no blank for a trait")


class Narrow(Fake):
    def encode(self, text: str, second: str | None = None) -> Any:
        if len(text.split()) > 5:
            raise Skip(TOO_LONG)
        return super().encode(text, second)


@pytest.mark.parametrize(("words", "fitting"), [("rather warm", 1), ("very very very warm", 0)])
def test_an_adjective_that_fits_nowhere_is_refused_and_where_it_does_not_fit_is_skipped(
    tmp_path: Any, words: str, fitting: int
) -> None:
    file = tmp_path / "traits.csv"
    file.write_text(f"name,dimension,left,right\nlong,own,cold,{words}\n")
    benchmark = chosen_benchmark(
        Choice(groups=("woman", "Asian"), traits=file, templates=("that", "i-think"))
    )
    plans = planned(benchmark.items("trait"), SET.bind(Narrow(), "sound", NoOptions()))
    assert Counter(plan.skipped for plan in plans)[TOO_LONG] == 4 - fitting
    why = pytest.raises(ModelError, match=f"'{words}' is longer than the model's window")
    with nullcontext() if fitting else why:
        job_for(benchmark, "trait", ["set"], Narrow(), Settings(), None)


def test_templates_that_do_not_apply_are_named_and_not_counted(tmp_path: Any) -> None:
    run = "run abc --model fake --groups age --measure causal-set --json --templates"
    (result,) = call(f"{run} that,trait-first,more").json["results"]
    assert all(one["why"] is None for one in result["estimates"])
    traits = [one for one in result["estimates"] if "trait" in one["slice"]]
    assert {(one["n"], one["asked"]) for one in traits} == {(1, 1)}
    assert any(
        note.startswith("Templates that do not end with the trait") and "trait-first, more." in note
        for note in result["notes"]
    )
    said = call(f"{run} trait-first,more", "--out", tmp_path / "none")
    assert_refused(said, 2, "no template ends with the trait")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("run abc --groups age --templates singular", ["teenager", "Agency"]),
        (
            "run abc --groups woman --templates the,that",
            ["none: needs two groups (1 of 20 values)."],
        ),
        (
            "run abc --groups age --templates that --measure set --variant printed --json",
            ['"variant": "printed"'],
        ),
        ("show abc", ["Native American", "everyone-thinks"]),
    ],
)
def test_runs_and_shows(tmp_path: Any, line: str, says: list[str]) -> None:
    running = ("--model", "fake", "--out", tmp_path / "run") if line.startswith("run") else ()
    said = call(line, *running)
    assert said.code == 0
    assert [one for one in says if one not in said.out] == []


def test_profiles_are_not_compared_as_preferences(tmp_path: Any) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for out in (one, two):
        call("run abc --model fake --groups age --templates singular --out", out)
    assert_refused(call("compare", one, two), 2, "have no preferences to compare")


def test_paper_spells_four_adjectives_as_the_released_lists_do() -> None:
    """TristaCao/U.S_Stereotypes, code/quick_set.py: the others are spelt alike."""
    shapes = chosen_benchmark(Choice(groups=("woman",), templates=("that",))).shapes
    cells = all_of(TraitCell, shapes["trait"])

    def asked(variant: Variant) -> set[str]:
        kept, _ = SET.bind(Fake(), variant, NoOptions()).items(cells)
        return {
            word
            for cell in kept
            for pole in ("left", "right")
            for word in cell.trait.adjectives(pole)
        }

    assert asked("paper") - asked("sound") == {
        "low-status",
        "high-status",
        "athiestic",
        "avante-garde",
    }
    (status,) = [cell for cell in cells if cell.trait.name == "low status - high status"]
    released = SET.bind(Fake(), "paper", NoOptions()).items([status])[0][0]
    assert released.id == status.id
    assert "low-status" in released.texts["left"]
