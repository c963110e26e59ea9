"""The survey in other wordings, and graded: the mean of the numbers by their probabilities."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import pytest

from stereometer.core.asking.conversation import SLOT
from stereometer.core.asking.options import LOW_MASS
from stereometer.core.asking.wordings import wordings
from stereometer.core.errors import ModelError, UnknownName, UsageError
from stereometer.core.runs.execute import execute, opened_cache
from stereometer.core.runs.stored import Run
from stereometer.core.types import Abilities, Answer, Generate, Options, Request, Settings
from stereometer.kinds.traits.abc import survey
from stereometer.kinds.traits.survey.method import SURVEY, ShownScales, SurveyOptions
from stereometer.models.baselines.fake import Fake
from stereometer.wings.asking.jobs import jobs_in_words
from tests.builders.talkers import Talker

PACKAGE = "stereometer.kinds.traits.survey"
IDS = tuple(str(number) for number in range(1, 7))
SETTINGS = Settings(resamples=200)
PAGE = "3f50d171886b36a2"
"""The digest of the page as it was before there were several."""


def page_of(count: int) -> tuple[ShownScales, ...]:
    scales: Any = survey.SOURCE.benchmark(survey.read(survey.packaged())[0], "").items("survey")
    return tuple(ShownScales(scale, False) for scale in scales[:count])


@pytest.mark.parametrize("part", ["page", "scale", "all", "one", "cue"])
def test_there_are_six_wordings_of_each_part_and_no_two_are_alike(part: str) -> None:
    every = wordings(part, PACKAGE)
    assert tuple(each.id for each in every) == IDS
    assert len({each.text.lower() for each in every}) == len(every)


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("name", IDS)
def test_every_wording_says_all_that_is_asked(name: str, graded: bool) -> None:
    page, wording = page_of(3), SurveyOptions(wording=name, graded=graded)
    prompt = wording.prompt(page, 2)
    assert not SLOT.findall(prompt)
    scale: Any = page[0].scale
    for shown in (scale.society, scale.group.label, *scale.texts.values()):
        assert shown.removeprefix(f"{scale.group.label}, as ").removesuffix(" sees them") in prompt
    assert re.findall(r"(?m)^(\d)\. ", prompt) == ["1", "2", "3"]
    most = "7" if graded else "100"
    assert re.search(rf"\b{most}\b", prompt)
    assert bool(re.search(r"(scale|item) 2\b", prompt)) == graded
    assert wording.cue


def test_the_first_wording_is_the_one_there_always_was() -> None:
    bound = SURVEY.bind(Fake(), "sound", SurveyOptions())
    assert (bound.name, bound.recorded["prompts"]) == ("survey@1", PAGE)
    names = [
        SURVEY.bind(Fake(), "sound", how).name
        for how in (SurveyOptions(wording="4"), SurveyOptions(wording="4", graded=True))
    ]
    assert names == ["survey@1+wording-4", "survey@1+wording-4+graded"]


def test_what_does_not_go_together_is_refused() -> None:
    with pytest.raises(UnknownName, match="no wording called '0'"):
        SurveyOptions(wording="0")
    for how in ({"wording": "2"}, {"graded": True}):
        with pytest.raises(UsageError, match="a page of its own for models"):
            SurveyOptions(own={"model_cue": "Zahlen:"}, **how)
    with pytest.raises(ModelError, match="no probabilities of what it would write next"):
        SURVEY.bind(Talker(lambda *_: "1: 50"), "sound", SurveyOptions(graded=True))


# ------------------------------------------------------------------------------------------- graded

Chances = Callable[[str, str, str], Mapping[str, float]]
"""Of the numbers, for a group and the low and high pole of the scale that is asked about."""


class Rater(Fake):
    """Gives numbers the probabilities that a function says."""

    abilities = Abilities(frozenset({Generate.kind, Options.kind}))

    def __init__(self, chances: Chances) -> None:
        super().__init__()
        self.chances = chances

    def answer(self, requests: Mapping[str, Request]) -> Iterator[tuple[str, Answer]]:
        for key, request in requests.items():
            assert isinstance(request, Options)
            place = re.findall(r"Answer for scale (\d+) only", request.prompt)
            group = re.findall(r"Rate (.*?) on each scale", request.prompt)
            line = rf"(?m)^{place[0]}\. 1 means (.*?), 7 means (.*)\.$"
            ((low, high),) = re.findall(line, request.prompt)
            assert request.prompt.endswith(f"Ratings:\n{place[0]}:")
            chances = self.chances(group[0], low, high)
            held = [chances.get(option, 1e-12) for option in request.options]
            row = {"logprob": array("d", map(log, held)), "mass": array("d", [sum(held)])}
            yield key, Answer((row,))


def asked(model: Any, out: Path, **options: Any) -> Run:
    benchmark = survey.SOURCE.benchmark(survey.read(survey.packaged())[0], "")
    few = replace(benchmark, shapes={"survey": benchmark.items("survey")[:4]})
    how = {"repeats": 2, "graded": True, **options}
    (job,) = jobs_in_words(few, (), model, SETTINGS, how)
    with opened_cache(False) as cache:
        return execute(job, out, cache)


def test_a_rating_is_the_mean_of_the_numbers_on_the_scale_to_100(tmp_path: Path) -> None:
    """Half on 3 and a quarter on 5, of three quarters: 11 / 3, that is 400 / 9 of 100."""
    run = asked(Rater(lambda *_: {"3": 0.5, "5": 0.25}), tmp_path / "run")
    assert run.result.measure == "survey@1+graded"
    assert {round(score.derived["answered"], 9) for score in run.scores} == {round(400 / 9, 9)}
    assert {round(score.derived["mass"], 9) for score in run.scores} == {0.75}
    assert run.result.estimate("answered_mean").value == pytest.approx(400 / 9)
    assert not [row for row in run.result.estimates if row.beyond_noise]
    assert run.result.settings["temperature"] == 0


def test_a_view_comes_out_whichever_pole_comes_first_and_a_liking_for_numbers_cancels(
    tmp_path: Path,
) -> None:
    """A planted view of 70 towards the right pole, under a habit of high numbers."""
    right = {shown.scale.texts["right"] for shown in page_of(4)}

    def chances(group: str, low: str, high: str) -> Mapping[str, float]:
        towards = 0.7 if high in right else 0.3
        return {"7": (towards + 0.2) * 0.9, "1": (0.8 - towards) * 0.9}

    run = asked(Rater(chances), tmp_path / "run", repeats=4)
    found = [row for row in run.result.estimates if row.name == "association" and row.slice]
    assert found
    assert [row.value for row in found] == pytest.approx([20.0] * len(found))
    assert run.result.estimate("answered_mean").value == pytest.approx(70.0)


def test_numbers_that_hold_too_little_are_no_rating(tmp_path: Path) -> None:
    run = asked(Rater(lambda *_: {"4": 0.02}), tmp_path / "run")
    assert {score.skipped for score in run.scores} == {LOW_MASS}


def test_the_fake_model_is_graded_in_every_wording(tmp_path: Path) -> None:
    values = set()
    for name in IDS:
        run = asked(Fake(), tmp_path / name, wording=name)
        assert all(0 <= score.derived["rating"] <= 100 for score in run.scores)
        values.add(run.result.estimate("answered_mean").value)
    assert len(values) == len(IDS)
