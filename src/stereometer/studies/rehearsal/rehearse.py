"""A rehearsal: a copy of the study, filled by simulated people over its real pages."""

from __future__ import annotations

import asyncio
import random
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx2
from fastapi import FastAPI

from stereometer.errors import StereometerError
from stereometer.studies.database import open_database
from stereometer.studies.pages.app import Limits, make_app
from stereometer.studies.panels import PANELS, invitation
from stereometer.studies.participation import Participation
from stereometer.studies.rehearsal.forms import read_form
from stereometer.studies.rehearsal.manners import MANNERS, Careful, Memory, careless
from stereometer.studies.study import Study, open_study
from stereometer.studies.versions import FOLDER

MOST_PAGES = 300
AT_ONCE = 20
ADDRESS = "http://127.0.0.1"


@dataclass(frozen=True)
class Visit:
    """How a simulated person got on."""

    manner: str
    end: str
    """The heading of the last page."""
    pages: int


def rehearse(
    folder: Path,
    people: int,
    seed: int = 0,
    careful: Careful | None = None,
    shares: Mapping[str, float] = MANNERS,
) -> tuple[Study, Counter[tuple[str, str]]]:
    """The copy in `rehearsal/`, and how people of each manner ended."""
    study = _copy(open_study(folder))
    database = open_database(study.folder)
    participation = Participation(study, database, lot=random.Random(seed))
    app = make_app(participation, limits=Limits((1e9, 1e9), (1e9, 1e9)))
    manners = random.Random(seed).choices(list(shares), list(shares.values()), k=people)
    visits = asyncio.run(_all(app, study, manners, seed, careful or Careful()))
    database.close()
    return study, Counter((visit.manner, visit.end) for visit in visits)


def _copy(study: Study) -> Study:
    folder = study.folder / "rehearsal"
    if folder.exists():
        shutil.rmtree(folder)
    left_out = shutil.ignore_patterns("rehearsal", "study.sqlite*", FOLDER)
    shutil.copytree(study.folder, folder, ignore=left_out)
    return open_study(folder)


async def _all(
    app: FastAPI, study: Study, manners: list[str], seed: int, careful: Careful
) -> list[Visit]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def guarded(number: int, manner: str) -> Visit:
        async with gate:
            return await _visit(
                app, study, number, manner, random.Random(f"{seed}/{number}"), careful
            )

    return list(await asyncio.gather(*(guarded(at, name) for at, name in enumerate(manners))))


async def _visit(
    app: FastAPI, study: Study, number: int, manner: str, lot: random.Random, careful: Careful
) -> Visit:
    memory = Memory(lot)
    leave_after = lot.randint(1, 4) if manner == "leaving" else MOST_PAGES
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app), base_url=ADDRESS, follow_redirects=True
    ) as client:
        response = await client.get("/", params=_arrival(study, number))
        for pages in range(MOST_PAGES):
            seen = read_form(response.text)
            if not seen.action:
                return Visit(manner, seen.heading, pages)
            if pages == leave_after:
                seen = read_form((await client.get("/leave")).text)
                sent: dict[str, str] = {}
            elif seen.action == "/consent":
                sent = {"agree": "yes"}
            elif manner == "careless":
                sent = careless(study, seen, memory)
            else:
                sent = careful(study, seen, memory)
            response = await client.post(seen.action, data={**seen.hidden, **sent})
            if response.status_code == 422 and manner != "careless":
                raise StereometerError(
                    f"A careful simulated person could not get past {seen.action}. The page "
                    f"refused {sent}. This is a fault of the rehearsal or of the study's settings."
                )
            if response.status_code == 422:
                response = await client.post(
                    seen.action, data={**seen.hidden, **careful(study, seen, memory)}
                )
    raise StereometerError(f"A simulated person was still not done after {MOST_PAGES} pages.")


def _arrival(study: Study, number: int) -> dict[str, str]:
    panel = PANELS[study.config.panel.name]
    if panel.signed:
        return {"invite": invitation(study.secrets.session_key, number)}
    return dict.fromkeys(panel.parameters, f"rehearsal-{number}")
