"""New studies, studies made from others, and the mistakes of a first time."""

from __future__ import annotations

from pathlib import Path

import pytest

from stereometer.core.errors import StereometerError
from stereometer.kinds.pairs.files import read_pairs
from stereometer.wings.people.new import new_study
from stereometer.wings.people.rehearsal import rehearse
from tests.builders.commands import call

KINDS = ("survey", "write-cats", "validate-cats", "write-pairs", "validate-pairs")


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_can_be_served_at_once_and_says_what_it_takes(tmp_path: Path, kind: str) -> None:
    call("study", "new", kind, tmp_path / "s")
    document = call("study", "check", tmp_path / "s", "--json").json
    assert document["study_kind"] == kind
    assert document["people_needed"] > 0


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_people_of_every_manner_get_to_an_end(tmp_path: Path, kind: str) -> None:
    new_study(kind, tmp_path / "s")
    _, ends = rehearse(tmp_path / "s", 8, seed=3)
    assert ends.total() == 8
    careful = {end for manner, end in ends if manner == "careful"}
    assert careful == {"Thank you!"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("surveys",), "Did you mean survey"),
        (("survey", "--language", "fr"), "No texts ship"),
        (("survey", "--from", "starter"), "Leave out --from"),
        (("write-cats", "--sample", "3"), "Leave it out"),
        (("write-cats", "--from", "missing.csv"), "was not found"),
        (("validate-cats", "--from", "nowhere"), "no benchmark called 'nowhere'"),
        (("validate-cats", "--sample", "1000"), "not between 1 and 480"),
    ],
)
def test_mistakes_are_named_and_leave_nothing_behind(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    kind, *options = arguments
    said = call("study", "new", kind, tmp_path / "s", *options)
    assert said.code != 0
    assert words in said.err
    assert not (tmp_path / "s").exists()


def test_a_validation_takes_a_sample_of_any_set(tmp_path: Path) -> None:
    study = new_study("validate-cats", tmp_path / "v", sample=3)
    assert len(study.units) == 3
    pairs = new_study("validate-pairs", tmp_path / "p", "starter", sample=5, seed=4)
    assert len(pairs.units) == 5
    assert len(read_pairs(tmp_path / "p" / "pairs.csv")) == 5


def test_an_empty_writing_study_has_nothing_to_validate(tmp_path: Path) -> None:
    new_study("write-cats", tmp_path / "w")
    with pytest.raises(StereometerError, match="Nothing is written"):
        new_study("validate-cats", tmp_path / "v", str(tmp_path / "w"))


def test_nobody_validates_what_they_wrote(tmp_path: Path) -> None:
    writing, _ = rehearse(new_study("write-cats", tmp_path / "w").folder, 4, seed=1)
    judging = new_study("validate-cats", tmp_path / "v", str(writing.folder))
    assert all(unit.writer for unit in judging.units)
    assert judging.secrets.person_key == writing.secrets.person_key
