"""Published values: transcribed consistently, found by any name of a model, and never beside a
number of other data, method, variant or settings."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from stereometer.core import catalog
from stereometer.core.benchmarks import published
from stereometer.core.benchmarks.published import (
    Alias,
    Conditions,
    Value,
    aliases,
    system_of,
    tables,
    values,
    with_published,
)
from stereometer.core.runs.execute import execute
from stereometer.core.tables import PLAIN
from stereometer.core.types import Estimate, Result, Settings
from stereometer.kinds.comments.items import STUDY, ZERO_SHOT
from stereometer.kinds.traits.abc.items import Choice, chosen_benchmark
from stereometer.kinds.traits.align.agreement import GROUPS
from stereometer.kinds.traits.align.profile import ALL_GROUPS, beside_printed
from stereometer.kinds.traits.align.ratings import Ratings
from stereometer.wings.replay.runs import answers_job

STEREOSET = catalog.find("benchmark", "stereoset").card.digest
CROWS_PAIRS = catalog.find("benchmark", "crows-pairs").card.digest
ETHOS = catalog.find("benchmark", "ethos").card.digest


def estimate(name: str = "pair_preference", asked: int = 1508, **slice_: str) -> Estimate:
    return Estimate(name, slice_, 61.0, 58.0, 64.0, asked, asked, 0, 50.0)


def beside(value: Estimate, measured: Conditions) -> float | None:
    (shown,) = with_published([value], measured)
    return shown.published.value if shown.published else None


CROWS = Conditions(CROWS_PAIRS, "bert-base-uncased", "pair-likelihood@1", "paper")


def by_place(table: str) -> Iterator[dict[str, Value]]:
    """The metrics of each system and slice of a table."""
    places: dict[object, dict[str, Value]] = {}
    for value in values():
        if value.table.id == table:
            place = (value.system, tuple(value.slice.items()))
            places.setdefault(place, {})[value.name] = value
    yield from places.values()


# ----------------------------------------------------------------------------------- the tables


def test_every_table_the_package_promises_is_there() -> None:
    counts = {name: sum(value.table.id == name for value in values()) for name in tables()}
    assert counts == {
        "stereoset-released": 11 * 11 * 3,
        "stereoset-2020-table-7": 11 * 10 * 3,
        "stereoset-2021-table-4": 13 * 3 + 2,
        "stereoset-2021-table-5": 13 * 3 + 2,
        "stereoset-2021-table-6": 20 * 3,
        "stereoset-2021-table-7": 20 * 3,
        "crows-pairs-2020-table-2": 12 * 3,
        "crows-pairs-2020-table-2-stereoset": 3,
        "crows-pairs-2020-table-2-winobias": 2 * 3,
        "crows-pairs-2020-section-4.1": 3,
        "abc-2022-table-5": 6,
        "abc-2022-table-6": 16,
        "abc-2022-table-a11": 25 * 8 - 8,
        "abc-2022-table-a12": 25 * 8 - 8,
        "abc-2022-table-a13": 25 * 8 - 8,
        "abc-2022-table-a19": 8,
        "gpt-3-2021-table-1": 24,
        "gpt-3-2021-table-2": 24,
        "gpt-3-2021-table-3": 24,
        "gpt-3-2021-table-4": 88,
        "gpt-3-2021-table-7": 88,
        "bias-bench-stereoset": 8 * 6,
        "bias-bench-crows-pairs-masked": 4 * 4,
        "bias-bench-crows-pairs-causal": 4 * 4,
        "bias-bench-seat": 6,
    }


@pytest.mark.parametrize("table", [name for name in tables() if name.startswith("stereoset")])
def test_a_printed_icat_is_that_of_the_printed_lms_and_ss(table: str) -> None:
    """Within what rounding allows; where the paper's is not, the value says so."""
    for row in by_place(table):
        if {"lms", "ss", "icat"} <= row.keys():
            lms, ss, icat = (row[name].value for name in ("lms", "ss", "icat"))
            half = 0.5 * 10.0 ** -row["lms"].digits
            room = half * (1 + 2 * max(lms, 100) / 50)
            agrees = abs(lms * min(ss, 100 - ss) / 50 - icat) <= room
            assert agrees is not bool(row["icat"].note), row["icat"]


def test_two_printed_icats_do_not_follow() -> None:
    noted = [value for value in values() if value.name == "icat" and value.note]
    places = [(value.table.place, value.system, value.value) for value in noted]
    assert places == [("Table 6", "bert-large-cased", 71.0), ("Table 7", "EnsembleModel", 69.9)]


def test_table_7_of_the_first_version_is_the_released_scores_rounded() -> None:
    released = {
        (value.system, value.name, *value.slice.items()): value.value
        for value in values()
        if value.table.id == "stereoset-released"
    }
    printed = [value for value in values() if value.table.id == "stereoset-2020-table-7"]
    for value in printed:
        place = (value.system, value.name, *value.slice.items())
        assert value.value == pytest.approx(released[place], abs=0.005001), value


def test_precision_in_table_6_is_the_mean_of_the_groups_in_five_of_eight_columns() -> None:
    """Tables A12 and A13 are of thirds; three columns differ from Table 6 by a cell or two of
    150."""
    by_group: dict[tuple[str, str], list[float]] = {}
    overall = {}
    for value in values():
        column = (value.measure, value.system)
        if value.table.id in ("abc-2022-table-a12", "abc-2022-table-a13"):
            by_group.setdefault(column, []).append(round(3 * value.value) / 3)
        if value.table.id == "abc-2022-table-6" and value.name == "precision_at_3":
            overall[column] = value.value
    wrong = {
        column: round(sum(thirds) / len(thirds), 3)
        for column, thirds in by_group.items()
        if abs(sum(thirds) / len(thirds) - overall[column]) > 0.0006
    }
    assert wrong == {
        ("set", "roberta-large"): 0.66,
        ("set", "bert-large-cased"): 0.62,
        ("ilps-star", "bert-large-cased"): 0.573,
    }


def test_tables_speak_of_known_benchmarks_measures_and_data() -> None:
    cards = {catalog.find("benchmark", name).card.digest for name in catalog.names("benchmark")}
    settings = {f"recognition-{name}" for name in STUDY}
    for table in tables().values():
        assert catalog.has("benchmark", table.benchmark) or not table.data
        assert table.data in cards or table.benchmark == "abc"
        assert all((table.paper, table.place, table.split, table.method))
    for value in values():
        assert (
            not value.measure or catalog.has("method", value.measure) or value.measure in settings
        )
        assert value.measure or not value.table.data


@pytest.mark.long
def test_the_paper_on_groups_measured_head_adjectives_on_every_template() -> None:
    assert tables()["abc-2022-table-6"].data == chosen_benchmark(Choice(synonyms=False)).digest


# ------------------------------------------------------------------------------------- agreement


def test_a_value_stands_beside_the_same_items_measure_variant_and_model() -> None:
    assert beside(estimate(), CROWS) == 60.5
    assert beside(estimate(asked=262, bias_type="gender"), CROWS) == 58.0


@pytest.mark.parametrize(
    "changed",
    [
        {"data": STEREOSET[::-1]},
        {"model": "bert-base-cased"},
        {"model": "somebody/bert-base-uncased"},
        {"measure": "pair-sentence-likelihood@1"},
        {"measure": "pair-likelihood@1+within-word"},
        {"variant": "sound"},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_and_beside_no_other(changed: dict[str, str]) -> None:
    fields = {"data": CROWS.data, "model": CROWS.model, "measure": CROWS.measure}
    other = Conditions(**{**fields, "variant": "paper", **changed})  # type: ignore[arg-type]
    assert beside(estimate(), other) is None


def test_values_of_the_test_set_and_of_other_measures_never_stand_beside_a_result() -> None:
    listed_only = {value.table.id for value in values() if not value.table.data}
    assert {f"stereoset-2021-table-{number}" for number in range(4, 8)} <= listed_only
    assert {name for name in tables() if name.startswith("bias-bench")} <= listed_only
    development = Conditions(STEREOSET, "gpt2", "cat-pseudo-likelihood@1", "paper")
    assert beside(estimate("icat", 4229), development) is None


def test_stereoset_read_as_pairs_has_the_value_of_crows_pairs() -> None:
    pairs = Conditions(STEREOSET, "FacebookAI/roberta-large", "pair-likelihood@1", "paper")
    assert beside(estimate(asked=2106), pairs) == 60.8


@pytest.mark.parametrize("model", ["davinci", "gpt-3"])
def test_the_values_on_ethos_can_be_reached(model: str) -> None:
    said = {"repeats": 100, "temperature": 0.3}
    asked = Conditions(ETHOS, model, "recognition-zero-shot@1", "paper", said)
    assert beside(estimate("accuracy", 12_000), asked) == 56
    assert beside(estimate("f1_sd", 6_000, category="sexist"), asked) == 4.3
    once = Conditions(ETHOS, model, "recognition-zero-shot@1", "paper", {**said, "repeats": 1})
    assert beside(estimate("accuracy", 120), once) is None


def test_answers_from_elsewhere_must_be_as_many() -> None:
    """Their comments are only said to be those of the benchmark."""
    replayed = Conditions(
        ETHOS, "gpt-3", "recognition-one-shot@1", "paper", {"repeats": 100}, claimed=True
    )
    assert beside(estimate("recall", 6_000, category="racist"), replayed) == 62
    assert beside(estimate("recall", 5_900, category="racist"), replayed) is None


# ---------------------------------------------------------------------------------------- models


def test_every_system_goes_by_its_own_name_and_no_name_means_two() -> None:
    names = [name for alias in aliases().values() for name in alias.names]
    assert len(names) == len(set(names))
    assert all(system in alias.names for system, alias in aliases().items())


def test_a_folder_is_known_by_its_weights_and_by_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bert-base-uncased"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    assert system_of("bert-base-uncased") is None
    (folder / published.WEIGHTS).write_bytes(b"weights")
    known = Alias(("bert-base-uncased",), 7, hashlib.sha256(b"weights").hexdigest())
    monkeypatch.setattr(published, "aliases", lambda: {"bert-base-uncased": known})
    assert system_of("bert-base-uncased") == "bert-base-uncased"
    (folder / published.WEIGHTS).write_bytes(b"changed")
    assert system_of("bert-base-uncased") is None


# --------------------------------------------------------------------------- agreement with people


def aligned(measure: str = "set@1+alignment") -> Result:
    """A run of the paper's model on the paper's words."""
    data = {"digest": tables()["abc-2022-table-6"].data}
    return Result("abc", measure, "paper", "roberta-large", "computed", {}, data, {}, {}, (), ())


def tau(**slice_: str) -> Estimate:
    return Estimate("tau", slice_, 0.2, 0.1, 0.3, 400, 400, 0, 1.0)


def printed(estimates: list[Estimate]) -> list[float | None]:
    return [one.published.value if one.published else None for one in estimates]


@pytest.mark.parametrize(
    ("templates", "pilot", "expected"),
    [
        (["that"], None, [0.199, 0.199, 0.393]),
        (["that"], GROUPS, [0.174, 0.199, 0.393]),
        (["that"], ("man", "woman"), [None, 0.199, 0.393]),
        (["that", "all"], None, [None, None, None]),
    ],
    ids=["all groups", "besides the pilot", "another pilot", "other templates"],
)
def test_agreement_stands_beside_tables_6_a11_and_a19(
    templates: list[str], pilot: tuple[str, ...] | None, expected: list[float | None]
) -> None:
    ratings = Ratings((), {}, {}, are_released=True)
    estimates = [tau(), tau(**ALL_GROUPS), tau(group="Black")]
    assert printed(beside_printed(estimates, aligned(), ratings, templates, pilot)) == expected


def test_agreement_with_other_raters_stands_beside_nothing() -> None:
    ratings = Ratings((), {}, {})
    assert printed(beside_printed([tau()], aligned(), ratings, ["that"], None)) == [None]


# ----------------------------------------------------------------------------- answers of GPT-3


@pytest.mark.long
def test_answers_that_were_collected_as_in_the_paper_stand_beside_its_table(tmp_path: Path) -> None:
    """60 comments of each category, 100 answers each: as many as Table 1 is of."""
    rows = [
        {
            "comment": f"Comment {number} of {category}.",
            "answer": "yes" if (number + repeat) % 3 else "no",
            "label": category if number % 2 else "neither",
            "category": category,
            "repeat": repeat,
        }
        for category in ("sexist", "racist")
        for number in range(60)
        for repeat in range(100)
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    settings = Settings("paper", resamples=100)
    values_of = {}
    for model in ("gpt-3", "another"):
        job = answers_job(file, ZERO_SHOT, settings, PLAIN, "ethos", name=model)
        result = execute(job, tmp_path / model).result
        values_of[model] = printed([result.estimate("accuracy"), result.estimate("recall_sd")])
    assert values_of == {"gpt-3": [56, 5.9], "another": [None, None]}
