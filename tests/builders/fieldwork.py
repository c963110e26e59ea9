"""A study served by its real command and filled by many people at once, who try again whenever it
is killed; and what they were promised."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from sqlalchemy import func, select

from stereometer.wings.people.database import Database, answers, leases, open_database, participants
from stereometer.wings.people.kinds.survey import read_traits
from stereometer.wings.people.participation import PanelArrival
from stereometer.wings.people.people import COUNTED
from stereometer.wings.people.rehearsal import Careful, SeenForm, VisitMemory, careless, read_form
from stereometer.wings.people.study import Study
from tests.builders.ports import free_port

START_SECONDS = 120
AGAIN_SECONDS = 0.5
MANNERS = {"careful": 0.78, "careless": 0.07, "leaving": 0.08, "vanishing": 0.07}
"""Shares of the people; who vanishes closes the browser midway and says nothing."""
TWICE = 0.1
"""Share of the forms that are sent twice at the same time."""


@dataclass
class Served:
    """`stereometer study serve` in a process of its own."""

    folder: Path
    database: str | None = None
    options: tuple[str, ...] = ("--proxy", "127.0.0.1")
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [sys.executable, "-m", "stereometer", "study", "serve", str(self.folder)]
        where = ["--database", self.database] if self.database else []
        with (self.folder / "served.log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--port", str(self.port), *where, *self.options],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._wait()

    def _wait(self) -> None:
        assert self.process is not None
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until and self.process.poll() is None:
            with socket.socket() as trial:
                if trial.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError((self.folder / "served.log").read_text(encoding="utf-8")[-2000:])

    def kill(self) -> None:
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def cpu_seconds(self) -> float:
        """Processor time of the server so far."""
        assert self.process is not None
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def __enter__(self) -> Served:
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()


@dataclass
class Ledger:
    """What the server has acknowledged, and how long it took."""

    acknowledged: dict[tuple[str, str], Mapping[str, str]] = field(default_factory=dict)
    """What was sent, by person and page, where the reply came back."""
    replies: list[tuple[float, float]] = field(default_factory=list)
    """When each request was answered, and after how many seconds."""
    stored_at: list[float] = field(default_factory=list)
    """When each answer was acknowledged."""
    ends: Counter[str] = field(default_factory=Counter)
    """How people ended, by the heading of their last page."""
    broken: int = 0
    """Requests that got no reply, and were sent again."""
    faults: list[str] = field(default_factory=list)
    filled: bool = False


@dataclass
class Fieldwork:
    study: Study
    served: Served
    seed: int = 0
    think_seconds: float = 0.0
    """Mean time between two pages of a person."""
    manners: Mapping[str, float] = field(default_factory=lambda: MANNERS)
    ledger: Ledger = field(default_factory=Ledger)
    names: int = 0
    others: tuple[Served, ...] = ()
    """More processes that serve the same study: each request goes to any of them."""

    def fill(self, at_once: int, kills: int = 0) -> Ledger:
        """People come, so many at once, until every quota is met; the server dies in between."""
        asyncio.run(self._fill(at_once, kills))
        return self.ledger

    def wave(self, at_once: int) -> Ledger:
        """So many people take part at once, each once; nobody clicks in the same instant."""

        async def person(number: int) -> None:
            await asyncio.sleep(2 * self.think_seconds * number / at_once)
            await self._person()

        async def all_of_them() -> None:
            await asyncio.gather(*map(person, range(at_once)))

        asyncio.run(all_of_them())
        return self.ledger

    async def _fill(self, at_once: int, kills: int) -> None:
        database = open_database(self.study.folder, self.served.database)
        seats = [self._seat() for _ in range(at_once)]
        await asyncio.gather(self._watch(database), self._killer(kills), *seats)
        database.close()

    async def _watch(self, database: Database) -> None:
        while not self.ledger.filled:
            await asyncio.sleep(0.3)
            counted = await asyncio.to_thread(counted_places, database)
            wanted = self.study.config.quota.judgements
            self.ledger.filled = all(counted[unit.name] >= wanted for unit in self.study.units)

    async def _killer(self, kills: int) -> None:
        """Kills spread over the answers to come, not over time, which a busy machine stretches."""
        quota = self.study.config.quota
        people = len(self.study.units) * quota.judgements / quota.per_person
        expected = people * (quota.per_person + 5)
        lot = random.Random(self.seed)
        for number in range(kills):
            at = (number + lot.random()) * expected / (kills + 1)
            while len(self.ledger.acknowledged) < at and not self.ledger.filled:
                await asyncio.sleep(0.01)
            await asyncio.to_thread(self.served.kill)
            await asyncio.to_thread(self.served.start)

    async def _seat(self) -> None:
        """One person after another."""
        while not self.ledger.filled:
            heading = await self._person()
            if heading == self.study.config.title:  # no room until a lease expires
                await asyncio.sleep(3)

    async def _person(self) -> str:
        """The heading of the last page that a new person sees."""
        self.names += 1
        lot = random.Random(f"{self.seed}/{self.names}")
        manner = lot.choices(list(self.manners), list(self.manners.values()))[0]
        heading = await Visit(self, f"person-{self.names}", manner, lot).take_part()
        self.ledger.ends[heading] += 1
        return heading


@dataclass
class Visit:
    fieldwork: Fieldwork
    name: str
    manner: str
    lot: random.Random

    async def take_part(self) -> str:
        """The heading of the last page."""
        number = int(self.name.rpartition("-")[2])
        forwarded = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        ids = {"PROLIFIC_PID": self.name, "STUDY_ID": "s", "SESSION_ID": self.name}
        memory = VisitMemory(self.lot)
        ends_after = self.lot.randint(1, 5) if self.manner in ("leaving", "vanishing") else 1000
        async with httpx2.AsyncClient(
            headers={"x-forwarded-for": forwarded}, timeout=60, verify=False
        ) as client:
            response = await self.request(client, "GET", "/", params=ids)
            for pages in range(1000):
                seen = read_form(response.text)
                if not seen.action or (pages == ends_after and self.manner == "vanishing"):
                    return seen.heading if not seen.action else "vanished"
                if pages == ends_after:
                    seen = read_form((await self.request(client, "GET", "/leave")).text)
                await self._think()
                response, sent = await self.send(client, seen, self._answer(seen, memory))
                if response.status_code == 303:
                    response = await self._follow(client)
                    self._note(seen, sent, response)
        raise AssertionError(f"{self.name} was never done")

    async def _think(self) -> None:
        mean = self.fieldwork.think_seconds
        if mean:
            await asyncio.sleep(self.lot.uniform(0.5, 1.5) * mean)

    def _answer(self, seen: SeenForm, memory: VisitMemory) -> dict[str, str]:
        if seen.action == "/consent":
            return {"agree": "yes"}
        if seen.action == "/leave":
            return {}
        study = self.fieldwork.study
        return (careless if self.manner == "careless" else Careful())(study, seen, memory)

    async def send(
        self, client: httpx2.AsyncClient, seen: SeenForm, sent: dict[str, str]
    ) -> tuple[httpx2.Response, dict[str, str]]:
        """Send a form, at times twice; the reply, and what was sent in the end."""
        times = 2 if self.lot.random() < TWICE else 1
        data = {**seen.hidden, **sent}
        replies = await asyncio.gather(
            *(self.request(client, "POST", seen.action, data=data) for _ in range(times))
        )
        if any(reply.status_code == 422 for reply in replies):
            careful = Careful()(self.fieldwork.study, seen, VisitMemory(self.lot))
            return await self.send(client, seen, careful)
        return replies[0], sent

    def _note(self, seen: SeenForm, sent: dict[str, str], after: httpx2.Response) -> None:
        """The answer is acknowledged, unless the person is told that their place has gone."""
        gone = self.fieldwork.study.texts("en").word("end_left")
        if seen.action.startswith("/page/") and read_form(after.text).heading != gone:
            page = seen.action.rpartition("/")[2]
            self.fieldwork.ledger.acknowledged[self.name, page] = sent
            self.fieldwork.ledger.stored_at.append(time.perf_counter())

    async def _follow(self, client: httpx2.AsyncClient) -> httpx2.Response:
        response = await self.request(client, "GET", "/page")
        if response.status_code == 303:
            response = await self.request(client, "GET", "/end")
        return response

    async def request(
        self, client: httpx2.AsyncClient, method: str, path: str, **options: Any
    ) -> httpx2.Response:
        """The reply; the request is sent again until there is one."""
        ledger = self.fieldwork.ledger
        while True:
            began = time.perf_counter()
            server = self.lot.choice((self.fieldwork.served, *self.fieldwork.others))
            try:
                response = await client.request(method, f"{server.address}{path}", **options)
            except httpx2.TransportError:
                ledger.broken += 1
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            now = time.perf_counter()
            ledger.replies.append((now, now - began))
            if response.status_code not in (200, 303, 422):
                ledger.faults.append(f"{method} {path}: {response.status_code} {response.text}")
            return response


# ------------------------------------------------------------------------------ what must hold


def counted_places(database: Database) -> Counter[str]:
    counts = select(leases.c.unit, func.count().label("n")).where(leases.c.state == COUNTED)
    with database.read() as connection:
        rows = connection.execute(counts.group_by(leases.c.unit)).all()
    return Counter({row.unit: row.n for row in rows})


@dataclass(frozen=True)
class Books:
    """The database against the ledger."""

    lost: int
    """Acknowledged answers that are not there."""
    changed: int
    """Acknowledged answers that are there with other values."""
    twice: int
    """Answers that are there more than once."""
    places: Mapping[str, int]
    """Counted places, by unit."""
    stored: int


def audited(fieldwork: Fieldwork) -> Books:
    database = open_database(fieldwork.study.folder, fieldwork.served.database)
    with database.read() as connection:
        hashes = {row.id: row.person for row in connection.execute(select(participants))}
        rows = connection.execute(select(answers)).all()
    stored = {(hashes[row.participant], row.page): json.loads(row.sent) for row in rows}
    promised = {
        (person_hash(fieldwork.study, name), page): sent
        for (name, page), sent in fieldwork.ledger.acknowledged.items()
    }
    places = counted_places(database)
    database.close()
    return Books(
        sum(key not in stored for key in promised),
        sum(
            key in stored and not _same(fieldwork.study, sent, stored[key])
            for key, sent in promised.items()
        ),
        len(rows) - len(stored),
        places,
        len(rows),
    )


def _same(study: Study, sent: Mapping[str, str], stored: Mapping[str, Any]) -> bool:
    """Ratings stand under the names of traits, and are turned back where poles were exchanged."""
    names = {f"t{at}": trait.name for at, trait in enumerate(study.cached(read_traits))}
    return all(
        str(stored[names.get(name, name)])
        in (value, str(100 - int(value)) if name in names else "")
        for name, value in sent.items()
    )


def person_hash(study: Study, name: str) -> str:
    arrival = PanelArrival("prolific", {"PROLIFIC_PID": name}, "en")
    return study.secrets.person("prolific", arrival.identity)
