"""In any order of arrivals, submits, expiries, withdrawals and exclusions no quota is passed,
nothing that was acknowledged is lost, and nobody gets the same unit twice."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlalchemy import select

from stereometer.studies.assignment import COUNTED, OPEN
from stereometer.studies.database import answers, leases
from tests.builders.studies import desk, finish, small_survey, valid_answer

QUOTA = 3


class Fieldwork(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        study = small_survey(self.folder / "s", groups=4, judgements=QUOTA, per_person=2)
        self.desk = desk(study)
        self.people: list[str] = []
        self.acknowledged: set[tuple[str, str]] = set()
        self.names = 0

    def teardown(self) -> None:
        self.desk.database.close()
        shutil.rmtree(self.folder)

    @rule()
    def arrive(self) -> None:
        self.names += 1
        participant = self.desk.arrive(f"person {self.names}")
        if participant is not None:
            self.people.append(participant)

    @precondition(lambda self: self.people)
    @rule(data=st.data(), times=st.integers(1, 2))
    def submit(self, data: st.DataObject, times: int) -> None:
        participant = data.draw(st.sampled_from(self.people))
        due = valid_answer(self.desk, participant)
        for _ in range(times):
            if due is not None:
                after = self.desk.participation.submit(participant, *due)
                if after is not None and due[0] in after.person.answers:
                    self.acknowledged.add((participant, due[0]))

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def submit_to_the_end(self, data: st.DataObject) -> None:
        participant = data.draw(st.sampled_from(self.people))
        finish(self.desk, participant)
        standing = self.desk.participation.standing(participant)
        assert standing is not None
        self.acknowledged |= {(participant, page) for page in standing.person.answers}

    @rule(minutes=st.sampled_from([1, 30, 50]))
    def wait(self, minutes: int) -> None:
        self.desk.clock.now += 60 * minutes

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        self.desk.participation.leave(data.draw(st.sampled_from(self.people)))

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def exclude(self, data: st.DataObject) -> None:
        assert self.desk.participation.exclude(data.draw(st.sampled_from(self.people)), "by hand")

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        participant = data.draw(st.sampled_from(self.people))
        code = self.desk.study.secrets.withdrawal_code(participant)
        assert self.desk.participation.withdraw(code)
        self.people.remove(participant)
        self.acknowledged = {pair for pair in self.acknowledged if pair[0] != participant}

    @invariant()
    def no_quota_is_passed(self) -> None:
        with self.desk.database.read() as connection:
            rows = connection.execute(select(leases)).all()
        now = self.desk.clock.now
        taken = [
            row.unit
            for row in rows
            if row.state == COUNTED or (row.state == OPEN and row.expires_at > now)
        ]
        assert all(taken.count(unit) <= QUOTA for unit in taken)
        assert len({(row.participant, row.unit) for row in rows}) == len(rows)

    @invariant()
    def nothing_acknowledged_is_lost_or_stored_twice(self) -> None:
        with self.desk.database.read() as connection:
            stored = connection.execute(select(answers.c.participant, answers.c.page)).all()
        assert len(set(stored)) == len(stored)
        assert {tuple(row) for row in stored} == self.acknowledged


TestFieldwork = Fieldwork.TestCase
TestFieldwork.settings = settings(
    max_examples=8, stateful_step_count=20, deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip


def test_a_filled_study_has_met_every_quota_exactly(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "s", judgements=2, per_person=2)
    person = desk(study)
    outcomes: list[str | None] = []
    while (participant := person.arrive(f"person {len(outcomes)}")) is not None:
        outcomes.append(finish(person, participant))
    assert set(outcomes) == {"complete"}
    with person.database.read() as connection:
        counted = connection.execute(select(leases.c.unit).where(leases.c.state == COUNTED))
        units = list(counted.scalars())
    assert {units.count(unit.name) for unit in study.units} == {2}


def test_a_place_that_expired_goes_to_somebody_else_and_its_first_holder_is_told(
    tmp_path: Path,
) -> None:
    study = small_survey(tmp_path / "s", groups=1, judgements=1, per_person=1)
    person = desk(study)
    first = person.arrive("first")
    assert first is not None
    assert person.arrive("second") is None
    person.clock.now += 3600
    second = person.arrive("second")
    assert second is not None
    assert finish(person, second) == "complete"
    assert finish(person, first) == "left"


def test_the_same_person_comes_back_to_the_same_place(tmp_path: Path) -> None:
    person = desk(small_survey(tmp_path / "s", per_person=2))
    assert person.arrive("anna") == person.arrive("anna")


def test_an_answer_cannot_be_changed(tmp_path: Path) -> None:
    import pytest
    from sqlalchemy.exc import DBAPIError

    person = desk(small_survey(tmp_path / "s", per_person=2))
    participant = person.arrive("anna")
    assert participant is not None
    person.participation.submit(participant, "instructions", {})
    with pytest.raises(DBAPIError, match="never changed"), person.database.write() as connection:
        connection.execute(answers.update().values(sent="{}"))
