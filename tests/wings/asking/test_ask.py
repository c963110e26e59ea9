"""What `ask` asks: every method that asks in words about a shape that the benchmark has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from stereometer.core import catalog
from stereometer.core.errors import UsageError
from stereometer.core.runs.open import open_benchmark
from stereometer.core.types import Settings
from stereometer.kinds.comments.benchmarks import Columns
from stereometer.kinds.comments.recognition.method import RecognitionOptions
from stereometer.kinds.pairs.forced_choice import METHOD as PAIR
from stereometer.models.baselines.fake import Fake
from stereometer.wings.asking.jobs import jobs_in_words, open_comments
from tests.builders.commands import call
from tests.builders.comments import own_table

THEIRS = replace(PAIR, name="pair-in-other-words")


def measures(benchmark: str, *settings: str, **options: object) -> list[str]:
    jobs = jobs_in_words(open_benchmark(benchmark), settings, Fake(), Settings(), options)
    return [str(job.plan["measure"]).partition("@")[0] for job in jobs]


def test_forced_choice_is_asked_of_every_shape_with_the_likelihoods_beside_it() -> None:
    choices = ["cat-forced-choice", "pair-forced-choice"]
    assert measures("starter", "zero-shot", repeats=3, scales=0) == choices
    beside = measures("starter", likelihood=True)
    assert beside == [choices[0], "cat-pseudo-likelihood", choices[1], "pair-likelihood"]


def test_a_method_that_asks_in_words_is_asked_once_the_catalog_has_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(catalog.TABLE["method"], THEIRS.name, f"{__name__}:THEIRS")
    assert "pair-in-other-words" in measures("starter")


def test_a_survey_takes_only_its_own_options() -> None:
    assert measures("survey", "zero-shot", likelihood=True, size=3, categories={}) == ["survey"]


class Talker(Fake):
    """A fake model with a chat template."""

    abilities = replace(Fake.abilities, chat_template="its own")


@pytest.mark.parametrize("benchmark", ["starter", "survey", "own.csv"])
@pytest.mark.parametrize(("chat", "as_chat"), [(None, True), (False, False), (True, True)])
def test_raw_text_is_asked_where_it_is_wanted_and_stored_elsewhere(
    tmp_path: Path, benchmark: str, chat: bool | None, as_chat: bool
) -> None:
    own = own_table(tmp_path / "own.csv")
    name = str(own) if benchmark == own.name else benchmark
    opened = open_comments(name, None, Columns("text", "gold"))
    job, *_ = jobs_in_words(opened, ["zero-shot"], Talker(), Settings(), {"chat": chat, "size": 2})
    assert (job.plan["chat"], str(job.folder).endswith("-chat")) == (as_chat, as_chat)


def test_a_sample_that_nobody_draws_is_refused() -> None:
    with pytest.raises(UsageError, match="no sample 'papr'"):
        RecognitionOptions(sample="papr")  # type: ignore[arg-type]


def test_a_set_that_nobody_asks_about_in_words_is_refused() -> None:
    with pytest.raises(UsageError, match="abc has no comments, CATs or pairs"):
        measures("abc")


def test_where_choices_follow_the_position_the_way_out_is_said(tmp_path: Path) -> None:
    asked = ("ask starter -m fake --limit 60 --resamples 100 --out", tmp_path)
    assert "Most choices follow the position: --graded reads" in call(*asked).err
    assert "--graded" not in call(*asked, "--graded").err
