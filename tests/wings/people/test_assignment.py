"""In any order of arrivals, submits, expiries, withdrawals and exclusions no quota is passed,
nothing that was acknowledged is lost, and nobody gets the same unit twice."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from stereometer.kinds.pairs.files import write as write_pairs
from stereometer.wings.people.database import answers, leases, participants
from stereometer.wings.people.kinds.judging import pairs_of
from stereometer.wings.people.kinds.kind import write_writers
from stereometer.wings.people.new import new_study
from stereometer.wings.people.pages.showing import end_page
from stereometer.wings.people.participation import Standing
from stereometer.wings.people.people import COUNTED, OPEN
from stereometer.wings.people.study import Study, open_study
from tests.builders.fieldwork import person_hash
from tests.builders.studies import desk, finish, set_toml, small_survey, valid_answer

QUOTA = 3


def where(standing: Standing | None) -> tuple[object, ...]:
    """What of a standing can be compared: pages hold functions."""
    assert standing is not None
    page = standing.page.key if standing.page else None
    return page, standing.outcome, standing.person.answers


class Fieldwork(RuleBasedStateMachine):
    """People who come, come back, send a page twice or from a tab they left open, lose a reply,
    leave, fail a check, are left out, withdraw or do nothing for an hour."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.desk = desk(self.prepare())
        self.people: dict[str, str] = {}
        """Participants by name."""
        self.acknowledged: dict[tuple[str, str], Mapping[str, Any]] = {}
        self.tabs: list[tuple[str, str, dict[str, Any]]] = []
        """Forms that were filled in, and are still open somewhere."""
        self.names = 0

    def prepare(self) -> Study:
        return small_survey(self.folder / "s", groups=4, judgements=QUOTA, per_person=2)

    def teardown(self) -> None:
        self.desk.database.close()
        shutil.rmtree(self.folder)

    def somebody(self, data: st.DataObject) -> str:
        return self.people[data.draw(st.sampled_from(sorted(self.people)))]

    def send(self, participant: str, page: str, values: dict[str, Any]) -> None:
        before = self.desk.participation.standing(participant)
        after = self.desk.participation.submit(participant, page, values)
        assert before is not None
        assert after is not None
        if page in after.person.answers and page not in before.person.answers:
            drawn = page == "instructions"  # what is stored of it is what was drawn
            self.acknowledged[participant, page] = after.person.answers[page] if drawn else values
        assert where(after) == where(self.desk.participation.standing(participant))

    @rule()
    def arrive(self) -> None:
        self.names += 1
        participant = self.desk.arrive(f"person {self.names}")
        if participant is not None:
            self.people[f"person {self.names}"] = participant

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def come_back(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.people)))
        assert self.desk.arrive(name) == self.people[name]

    @precondition(lambda self: self.people)
    @rule(data=st.data(), times=st.integers(1, 2), keeps=st.booleans(), rating=st.integers(0, 100))
    def submit(self, data: st.DataObject, times: int, keeps: bool, rating: int) -> None:
        """Once, or twice as after a double click or a lost reply; the tab may stay open."""
        participant = self.somebody(data)
        due = valid_answer(self.desk, participant)
        if due is not None:
            page, values = due
            if page.startswith("rate"):
                values = dict.fromkeys(values, rating)
            for _ in range(times):
                self.send(participant, page, values)
            if keeps:
                self.tabs.append((participant, page, dict.fromkeys(values, "from an old tab")))

    @precondition(lambda self: self.tabs)
    @rule(data=st.data())
    def submit_from_an_old_tab(self, data: st.DataObject) -> None:
        participant, page, values = data.draw(st.sampled_from(self.tabs))
        self.desk.participation.submit(participant, page, values)

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def submit_to_the_end(self, data: st.DataObject) -> None:
        participant = self.somebody(data)
        while (due := valid_answer(self.desk, participant)) is not None:
            self.send(participant, *due)

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def submit_a_page_that_is_not_due(self, data: st.DataObject) -> None:
        participant = self.somebody(data)
        before = self.desk.participation.standing(participant)
        after = self.desk.participation.submit(participant, "no-such-page", {})
        assert where(after) == where(before)

    @rule(minutes=st.sampled_from([1, 30, 50]))
    def wait(self, minutes: int) -> None:
        self.desk.clock.now += 60 * minutes

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def leave(self, data: st.DataObject) -> None:
        self.desk.participation.leave(self.somebody(data))

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def exclude(self, data: st.DataObject) -> None:
        assert self.desk.participation.exclude(self.somebody(data), "by hand")

    @precondition(lambda self: self.people)
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        participant = self.somebody(data)
        code = self.desk.study.secrets.withdrawal_code(participant)
        for _ in range(2):
            assert self.desk.participation.holder(code) == participant
            assert self.desk.participation.withdraw(participant) == ""
        self.people = {name: id_ for name, id_ in self.people.items() if id_ != participant}
        self.acknowledged = {
            key: values for key, values in self.acknowledged.items() if key[0] != participant
        }

    @invariant()
    def no_quota_is_passed_and_nobody_gets_the_same_twice(self) -> None:
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
    def what_counts_is_the_work_of_those_who_passed(self) -> None:
        with self.desk.database.read() as connection:
            rows = connection.execute(select(leases).where(leases.c.state == COUNTED)).all()
        for row in rows:
            standing = self.desk.standing(row.participant)
            assert self.counts(standing.outcome)

    def counts(self, outcome: str | None) -> bool:
        return outcome == "complete"

    @invariant()
    def nobody_judges_what_they_wrote(self) -> None:
        writers = {unit.name: unit.writer for unit in self.desk.study.units}
        with self.desk.database.read() as connection:
            hashes = {row.id: row.person for row in connection.execute(select(participants))}
            rows = connection.execute(select(leases.c.participant, leases.c.unit)).all()
        assert all(hashes[row.participant] != writers[row.unit] for row in rows)

    @invariant()
    def nothing_acknowledged_is_lost_changed_or_stored_twice(self) -> None:
        with self.desk.database.read() as connection:
            rows = connection.execute(select(answers)).all()
        stored = {(row.participant, row.page): json.loads(row.sent) for row in rows}
        assert len(stored) == len(rows)
        assert stored == self.acknowledged


class Judging(Fieldwork):
    """Items that some of the people wrote themselves; each page counts as soon as it is in."""

    def prepare(self) -> Study:
        new_study("validate-pairs", self.folder / "s")
        study = set_toml(self.folder / "s", judgements=QUOTA, per_person=2, name="prolific")
        hashes = [person_hash(study, f"person {number}") for number in (1, 2, 3)]
        pairs = list(study.cached(pairs_of).values())[:6]
        write_pairs(study.folder / "pairs.csv", pairs)
        writers = zip((pair.id for pair in pairs), hashes * 2, strict=True)
        write_writers(study.folder, dict(writers))
        return open_study(study.folder)

    def counts(self, outcome: str | None) -> bool:
        return outcome != "failed"


EXAMPLES = settings(
    max_examples=6, stateful_step_count=20, deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)  # fmt: skip
TestFieldwork = Fieldwork.TestCase
TestFieldwork.settings = EXAMPLES
TestJudging = Judging.TestCase
TestJudging.settings = EXAMPLES


@pytest.mark.long
@pytest.mark.parametrize("machine", [Fieldwork, Judging])
def test_many_more_orders(machine: type[RuleBasedStateMachine]) -> None:
    run_state_machine_as_test(
        machine, settings=settings(EXAMPLES, max_examples=30, stateful_step_count=40)
    )


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
    standing = person.standing(first)
    assert standing.expired
    assert "instructions" in standing.person.answers  # what was sent is kept
    page = end_page(study, "en", "left", first, standing.expired)
    assert b"longer than your place could be kept" in page.body


@pytest.mark.parametrize("taken", [False, True])
def test_a_page_that_comes_late_is_kept_where_the_quota_allows_it(
    tmp_path: Path, taken: bool
) -> None:
    new_study("validate-pairs", tmp_path / "s", sample=2)
    study = set_toml(tmp_path / "s", judgements=1, per_person=2, name="prolific")
    person = desk(study)
    late = str(person.arrive("late"))
    person.participation.submit(late, "instructions", {})
    due = valid_answer(person, late)
    assert due is not None
    person.clock.now += 3600
    if taken:
        other = str(person.arrive("other"))
        person.participation.submit(other, "instructions", {})
        mine, given = person.standing(late).person.units[0], person.standing(other).person.units
        for _ in range(given.index(mine) + 1):
            person.participation.submit(other, *(valid_answer(person, other) or ("", {})))
        person.participation.leave(other)
    after = person.participation.submit(late, *due)
    assert after is not None
    assert (due[0] in after.person.answers, after.expired) == (not taken, taken)


def test_the_same_person_comes_back_to_the_same_place(tmp_path: Path) -> None:
    person = desk(small_survey(tmp_path / "s", per_person=2))
    assert person.arrive("anna") == person.arrive("anna")


def test_an_answer_cannot_be_changed(tmp_path: Path) -> None:
    person = desk(small_survey(tmp_path / "s", per_person=2))
    participant = person.arrive("anna")
    assert participant is not None
    person.participation.submit(participant, "instructions", {})
    with pytest.raises(DBAPIError, match="never changed"), person.database.write() as connection:
        connection.execute(answers.update().values(sent="{}"))
