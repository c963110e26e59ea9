"""Correlations across systems: from stored results alone, with sizes from cards, the shipped table
or a user's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

import stereometer
from stereometer.core.errors import DataError, UsageError
from stereometer.core.types import Estimate, Result, Settings
from stereometer.report.system_facts import Facts, read_facts, shipped_facts
from stereometer.wings.relations.relate import ALIKE, relate, related

QUICK = Settings(resamples=200)


def result(
    model: str,
    lms: float,
    ss: float,
    terms: dict[str, tuple[float, float]] | None = None,
    **card: Any,
) -> Result:
    def estimate(name: str, value: float | None, **slice_: str) -> Estimate:
        return Estimate(name, slice_, value, value, value, 1, 1, 0, 50.0)

    found = [estimate("lms", lms), estimate("ss", ss)]
    for term, (a, b) in (terms or {}).items():
        found += [
            estimate("lms", a, domain="d", target=term),
            estimate("ss", b, domain="d", target=term),
        ]
    data = {"digest": "x" * 64, "notice": ""}
    return Result(
        "set",
        "cat-replay@1",
        "sound",
        model,
        "replayed",
        {"settings": card},
        data,
        {"limit": None},
        {},
        (),
        tuple(found),
        kind="cat",
    )


def found_of(results: list[Result], known: dict[str, Facts] | None = None) -> Any:
    return related(results, [one.model for one in results], known or {}, QUICK)


SYSTEMS = [
    result(name, lms, ss)
    for name, lms, ss in (("a", 80, 55), ("b", 85, 60), ("c", 70, 52), ("d", 90, 58), ("e", 75, 51))
]
MORE = [*SYSTEMS, result("f", 60, 53), result("g", 95, 59), result("h", 77, 56)]


def test_rho_is_scipys_and_the_interval_holds_it() -> None:
    one = found_of(MORE).correlations[0]
    lms, ss = [80, 85, 70, 90, 75, 60, 95, 77], [55, 60, 52, 58, 51, 53, 59, 56]
    assert one.rho == pytest.approx(spearmanr(lms, ss).statistic)
    assert one.low <= one.rho <= one.high
    assert (one.n, one.interval) == (8, "percentile bootstrap over systems")
    assert one.p == one.p_adjusted


def test_a_perfect_order_has_no_interval_and_says_why() -> None:
    perfect = [result(str(at), 60 + at, 50 + at) for at in range(8)]
    one = found_of(perfect).correlations[0]
    assert (one.rho, one.low) == (pytest.approx(1.0), None)
    assert "not certainty" in one.interval
    assert one.verdict == "ss rises with lms"


@pytest.mark.parametrize("count", [4, 7])
def test_seven_systems_have_a_value_and_no_interval(count: int) -> None:
    one = found_of(MORE[:count]).correlations[0]
    assert one.rho is not None
    assert one.low is None
    assert "fewer than 8" in one.interval


def test_an_ensemble_never_stands_beside_its_members() -> None:
    ensemble = result("all four", 92, 61, members=["a", "b", "c", "d"])
    relation = found_of([*SYSTEMS, ensemble])
    assert "all four" not in [point.system for point in relation.points]
    assert relation.left_out == ()
    assert relation.notes == (
        "all four is left out: it is made of a, b, c, d, and would count them twice.",
    )
    alone = found_of([SYSTEMS[4], ensemble, result("f", 60, 53)])
    assert "all four" in [point.system for point in alone.points]


def test_terms_are_drawn_for_all_systems_at_once() -> None:
    """Terms that agree on the order of the systems leave no doubt about it."""
    terms = [
        {f"t{at}": (60.0 + 5 * system + at, 50.0 + 2 * system + at) for at in range(12)}
        for system in range(4)
    ]
    results = [
        result(
            str(at),
            float(np.mean([a for a, _ in one.values()])),
            float(np.mean([b for _, b in one.values()])),
            one,
        )
        for at, one in enumerate(terms)
    ]
    one = found_of(results).correlations[0]
    assert (one.terms, one.low_terms, one.high_terms) == (
        12,
        pytest.approx(1.0),
        pytest.approx(1.0),
    )


def test_sizes_come_from_the_card_before_the_table() -> None:
    systems = [
        replace(one, model_card={"settings": {"parameters": 10 + at}})
        for at, one in enumerate(SYSTEMS)
    ]
    found = found_of(systems, {"a": Facts(99.0, 7.0, "a table")})
    assert [point.parameters for point in found.points] == [10, 11, 12, 13, 14]
    assert found.points[0].corpus_gb == 7.0
    by_name = {(one.first, one.second): one for one in found.correlations}
    assert by_name["parameters", "lms"].n == 5
    assert by_name["corpus_gb", "ss"].why == "known of 1 systems, 3 are needed"


def test_one_size_for_all_correlates_with_nothing() -> None:
    found = found_of(SYSTEMS, {one.model: Facts(5.0) for one in SYSTEMS})
    assert {one.why for one in found.correlations if one.first == "parameters"} == {
        "one of the two is the same for all systems"
    }


def test_systems_of_one_family_are_one_witness() -> None:
    known = {one.model: Facts(family="f" if at < 2 else "") for at, one in enumerate(SYSTEMS)}
    (alone, *_), (main, *_) = (found_of(SYSTEMS, each).correlations for each in ({}, known))
    assert (main.rho, main.families, main.n) == (alone.rho, len(SYSTEMS) - 1, len(SYSTEMS))
    assert main.interval == ALIKE
    two = {one.model: Facts(family="fg"[at % 2]) for at, one in enumerate(SYSTEMS)}
    main, *_ = found_of(SYSTEMS, two).correlations
    assert (main.p, main.verdict) == (None, "not tested: fewer than 3 families")


def test_systems_without_a_value_are_left_out_by_name() -> None:
    without = replace(SYSTEMS[0], estimates=SYSTEMS[0].estimates[1:])
    assert found_of([without, *SYSTEMS[1:]]).left_out == ("a",)


def test_the_shipped_table_has_the_papers_corpora() -> None:
    """Nadeem et al. 2021, section 7: 16, 160, 158 and 40 GB."""
    facts = shipped_facts()
    assert {
        name: facts[name].corpus_gb
        for name in ("bert-large-cased", "roberta-base", "xlnet-large-cased", "gpt2")
    } == {"bert-large-cased": 16, "roberta-base": 160, "xlnet-large-cased": 158, "gpt2": 40}


def test_the_shipped_table_has_the_papers_size_of_gpt2_large_and_says_whence() -> None:
    """774 million in Nadeem et al. 2021; GPT-2's own authors printed 762."""
    known = shipped_facts()["gpt2-large"]
    assert known.parameters == 774e6
    assert "Nadeem et al. 2021 appendix A.3 (parameters)" in known.source


def test_a_users_table_may_leave_sizes_empty(tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text("system,parameters,corpus_gb\nmine,1000,\nother,,2.5\n")
    assert read_facts(tmp_path / "facts.csv") == {
        "mine": Facts(1000.0, None, "facts.csv"),
        "other": Facts(None, 2.5, "facts.csv"),
    }


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("model\nx\n", DataError),
        ("system,parameters\nx,many\n", DataError),
        ("system,parameters\nx,-3\n", UsageError),
    ],
)
def test_a_bad_table_is_refused(text: str, kind: type[Exception], tmp_path: Path) -> None:
    (tmp_path / "facts.csv").write_text(text)
    with pytest.raises(kind) as refused:
        read_facts(tmp_path / "facts.csv")
    assert "score" not in str(refused.value)


@pytest.mark.long
def test_from_folders(tmp_path: Path) -> None:
    for seed in range(3):
        stereometer.run(
            "starter",
            model="random",
            measure=["cat-likelihood"],
            seed=seed,
            resamples=100,
            out=tmp_path / str(seed),
            cache=False,
        )
    found = relate(*(tmp_path / str(seed) for seed in range(3)), resamples=200)
    assert [point.system for point in found.points] == ["random (1)", "random (2)", "random (3)"]
    assert found.as_json()["schema"] == "relate@1"
    assert "starter set" in found.notes[0]


def test_facts_of_a_system_that_is_none_of_the_runs_are_said_to_be_unused(tmp_path: Path) -> None:
    for seed in range(3):
        stereometer.run(
            "starter",
            model="random",
            measure=["cat-likelihood"],
            seed=seed,
            resamples=100,
            out=tmp_path / str(seed),
            cache=False,
        )
    (tmp_path / "facts.csv").write_text("system,parameters\nrandom,10\nrandum,20\n")
    found = relate(
        *(tmp_path / str(seed) for seed in range(3)), facts=tmp_path / "facts.csv", resamples=200
    )
    assert [note for note in found.notes if "facts" in note] == [
        "The table of facts names randum, which is none of the systems: random. "
        "Its sizes are not used."
    ]
    assert {point.parameters for point in found.points} == {10.0}


def test_a_p_that_cannot_fall_lower_says_so() -> None:
    perfect = [result(str(at), 60 + at, 50 + at) for at in range(4)]
    main = found_of(perfect).correlations[0]
    assert main.verdict == "undecided: with 4 systems p cannot fall below 0.083"
