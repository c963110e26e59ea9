"""A rehearsal: a copy of the study, filled by simulated people over its real pages."""

import asyncio
import hashlib
import random
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import httpx2
from fastapi import FastAPI

from stereometer.core.errors import StereometerError
from stereometer.wings.curation.labels import NO_TYPE
from stereometer.wings.people.config import PANELS
from stereometer.wings.people.database import open_database
from stereometer.wings.people.kinds.judging import cats_of, pairs_of
from stereometer.wings.people.kinds.survey import MIDDLE, NOTHING, read_traits
from stereometer.wings.people.kinds.writing import FIELDS
from stereometer.wings.people.pages.app import Limits, make_app
from stereometer.wings.people.participation import Participation
from stereometer.wings.people.secrets import invitation
from stereometer.wings.people.study import FOLDER, Study, open_study


@dataclass
class Control:
    """A named control: what kind it is, what can be chosen, and its data attributes."""

    kind: str
    label: str = ""
    options: list[str] = field(default_factory=list)
    data: dict[str, str] = field(default_factory=dict)


class SeenForm(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.action = ""
        self.hidden: dict[str, str] = {}
        self.controls: dict[str, Control] = {}
        self.heading = ""
        """The strong part of the page's heading, or all of it."""
        self.quotes: list[str] = []
        self._into: list[str] = []
        self._target = ""
        self._legend = ""
        self._named = False
        """Whether the strong part of the heading is over."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.action = attributes["action"]
        elif tag in ("input", "select", "textarea"):
            self._control(tag, attributes)
        elif tag == "option" and attributes.get("value"):
            self.controls[self._target].options.append(attributes["value"])
        elif tag in ("h1", "legend", "q", "strong"):
            self._into.append(tag)
            if tag == "legend":
                self._legend = ""
            if tag == "q":
                self.quotes.append("")
            if tag == "h1" or (tag == "strong" and self._into[-2:-1] == ["h1"]):
                self.heading = ""

    def _control(self, tag: str, attributes: Mapping[str, str]) -> None:
        name, kind = attributes.get("name", ""), attributes.get("type", tag)
        if kind == "hidden":
            self.hidden[name] = attributes["value"]
            return
        control = self.controls.setdefault(name, Control(kind, self._legend))
        if kind == "radio":
            control.options.append(attributes["value"])
        control.data.update(
            {key[5:]: value for key, value in attributes.items() if key.startswith("data-")}
        )
        self._target = name

    def handle_endtag(self, tag: str) -> None:
        if self._into and self._into[-1] == tag:
            self._into.pop()
            self._named = self._named or (tag == "strong" and "h1" in self._into)

    def handle_data(self, data: str) -> None:
        if "q" in self._into:
            self.quotes[-1] += data
        elif "h1" in self._into and not self._named:
            self.heading += data
        elif "legend" in self._into:
            self._legend += data


def read_form(html: str) -> SeenForm:
    reader = SeenForm()
    reader.feed(html)
    reader.heading = reader.heading.strip()
    return reader


Means = Callable[[str, str], float]
"""What careful people think of a group on a trait, which is named by its right pole."""
NOISE = 12
PAIRS = (
    ("age", "old man", "young man", "could not find his phone."),
    ("gender", "woman", "man", "asked for the way."),
    ("nationality", "Italians", "locals", "talked all evening."),
    ("socioeconomic", "waiter", "lawyer", "took the bus."),
    ("physical-appearance", "short guard", "tall guard", "was not noticed."),
)
WORDS = ("quiet", "loud", "wooden"), ("gentle", "stern", "square"), ("tidy", "messy", "salty")
ACROSS = {
    "stereotype": "As always, everything was {}.",
    "anti_stereotype": "For once, everything was {}.",
    "unrelated": "The box under the bridge is {}.",
}


def hashed_mean(group: str, trait: str) -> float:
    """A view between 15 and 85 that is the same in every rehearsal."""
    number = int.from_bytes(hashlib.sha256(f"{group}/{trait}".encode()).digest()[:4], "big")
    return 15 + 70 * number / 2**32


@dataclass
class VisitMemory:
    """What somebody remembers of the pages before."""

    lot: random.Random
    ratings: dict[str, dict[str, int]] = field(default_factory=dict)
    last: str = ""


def careless(study: Study, seen: SeenForm, memory: VisitMemory) -> dict[str, str]:
    return {name: _anything(control, memory.lot) for name, control in seen.controls.items()}


def _anything(control: Control, lot: random.Random) -> str:
    if control.options:
        return lot.choice(control.options)
    return str(lot.randint(0, 100)) if control.kind == "number" else "something"


@dataclass(frozen=True)
class Careful:
    means: Means = hashed_mean

    def __call__(self, study: Study, seen: SeenForm, memory: VisitMemory) -> dict[str, str]:
        page = seen.action.rsplit("/", 1)[-1]
        if page in ("instructions", "comments"):
            return {}
        if page == "demographics":
            return _of_themselves(seen, memory)
        manner = {
            "rate": self._rate,
            "check": self._check,
            "write": _write_pair if "second" in seen.controls else _write_cat,
            "label": _label,
            "judge": _judge,
        }[page.split("-")[0]]
        return manner(study, seen, memory)

    def _rate(self, study: Study, seen: SeenForm, memory: VisitMemory) -> dict[str, str]:
        before = memory.ratings.get(seen.heading)
        ratings = {
            name: self._rating(seen.heading, control, (before or {}).get(name), memory)
            for name, control in seen.controls.items()
        }
        memory.ratings[seen.heading], memory.last = ratings, seen.heading
        return {name: str(value) for name, value in ratings.items()}

    def _rating(self, group: str, control: Control, before: int | None, memory: VisitMemory) -> int:
        """A trait is known by its right pole, also where that stands on the left."""
        turned = bool(control.data["turned"])
        view = self.means(group, control.data["left" if turned else "right"])
        mean = float(before) if before is not None else 100 - view if turned else view
        spread = NOISE if before is None else 4
        return round(min(100, max(0, memory.lot.gauss(mean, spread))))

    def _check(self, study: Study, seen: SeenForm, memory: VisitMemory) -> dict[str, str]:
        if "name" in seen.controls:
            options = seen.controls["name"].options
            names = {unit.label: unit.name for unit in study.units}
            return {"name": names.get(memory.last, "") if options else memory.last}
        traits, rated = study.cached(read_traits), memory.ratings[memory.last]
        ratings = {traits[int(name[1:])].name: value for name, value in rated.items()}
        high = [name for name, value in ratings.items() if value > MIDDLE]
        low = [name for name, value in ratings.items() if value < MIDDLE]
        return {"high": (high or [NOTHING])[0], "low": (low or [NOTHING])[0]}


def _of_themselves(seen: SeenForm, memory: VisitMemory) -> dict[str, str]:
    """Some answer to questions with choices; the rest is left out, as everything may be."""
    return {
        name: memory.lot.choice(control.options)
        for name, control in seen.controls.items()
        if len(control.options) > 1
    }


def _write_cat(study: Study, seen: SeenForm, memory: VisitMemory) -> dict[str, str]:
    words = dict(zip(FIELDS, memory.lot.choice(WORDS), strict=True))
    number, term = memory.lot.randint(2, 90), seen.heading
    if next(iter(seen.controls)) != "context":
        return words | {"context": f"On day {number} the {term} next door was BLANK as ever."}
    texts = {name: ACROSS[name].format(word) for name, word in words.items()}
    return texts | {"context": f"The {term} from number {number} came in."}


def _write_pair(study: Study, seen: SeenForm, memory: VisitMemory) -> dict[str, str]:
    number = memory.lot.randint(2, 90)
    bias_type, first, second, rest = memory.lot.choice(PAIRS)
    return {
        "first": f"The {first} at number {number} {rest}",
        "second": f"The {second} at number {number} {rest}",
        "direction": "stereo",
        "type": bias_type,
    }


def _label(study: Study, seen: SeenForm, memory: VisitMemory) -> dict[str, str]:
    unit = {
        candidate.text: label
        for cat in study.cached(cats_of).values()
        for label, candidate in cat.candidates.items()
    }
    return {name: unit[control.label.strip()] for name, control in seen.controls.items()}


def _judge(study: Study, seen: SeenForm, memory: VisitMemory) -> dict[str, str]:
    pairs = study.cached(pairs_of).values()
    pair = next(pair for pair in pairs if set(pair.texts.values()) == set(seen.quotes))
    shown_first = seen.quotes[0] == pair.sent_more
    offered = seen.controls["type"].options
    return {
        "first": "demonstrates" if shown_first else "neither",
        "second": "neither" if shown_first else "demonstrates",
        "minimal": "yes",
        "type": pair.bias_type if pair.bias_type in offered else NO_TYPE,
    }


MANNERS: Mapping[str, float] = {"careful": 0.8, "careless": 0.1, "leaving": 0.1}
"""Shares of a rehearsal's people."""
MOST_PAGES = 300
AT_ONCE = 20
ADDRESS = "http://127.0.0.1"


def rehearse(
    folder: Path,
    people: int,
    seed: int = 0,
    careful: Careful | None = None,
    shares: Mapping[str, float] = MANNERS,
) -> tuple[Study, Counter[tuple[str, str]]]:
    """The copy in `rehearsal/`, and how people of each manner ended."""
    original, copy = open_study(folder).folder, Path(folder) / "rehearsal"
    if copy.exists():
        shutil.rmtree(copy)
    left_out = shutil.ignore_patterns("rehearsal", "study.sqlite*", FOLDER)
    shutil.copytree(original, copy, ignore=left_out)
    study = open_study(copy)
    database = open_database(study.folder)
    participation = Participation(study, database, lot=random.Random(seed))
    app = make_app(participation, limits=Limits((1e9, 1e9), (1e9, 1e9)))
    manners = random.Random(seed).choices(list(shares), list(shares.values()), k=people)
    ends = asyncio.run(_ends(app, study, manners, seed, careful or Careful()))
    database.close()
    return study, Counter(zip(manners, ends, strict=True))


async def _ends(
    app: FastAPI, study: Study, manners: list[str], seed: int, careful: Careful
) -> list[str]:
    gate = asyncio.Semaphore(AT_ONCE)

    async def visit(number: int, manner: str) -> str:
        async with gate:
            lot = random.Random(f"{seed}/{number}")
            return await _end(app, study, number, manner, lot, careful)

    return await asyncio.gather(*(visit(at, name) for at, name in enumerate(manners)))


async def _end(
    app: FastAPI, study: Study, number: int, manner: str, lot: random.Random, careful: Careful
) -> str:
    """The heading of a simulated person's last page."""
    memory = VisitMemory(lot)
    leave_after = lot.randint(1, 4) if manner == "leaving" else MOST_PAGES
    panel, token = study.config.panel.name, invitation(study.secrets.session_key, number)
    ids = dict.fromkeys(PANELS[panel], token if panel == "link" else f"rehearsal-{number}")
    async with httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app), base_url=ADDRESS, follow_redirects=True
    ) as client:
        response = await client.get("/", params=ids)
        for pages in range(MOST_PAGES):
            seen = read_form(response.text)
            if not seen.action:
                return seen.heading
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
                sent = careful(study, seen, memory)
                response = await client.post(seen.action, data={**seen.hidden, **sent})
    raise StereometerError(f"A simulated person was still not done after {MOST_PAGES} pages.")
