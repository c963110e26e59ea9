"""How simulated people fill in a form: with care, at random, or not to the end."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from stereometer.curation.aggregate.pairs import NO_TYPE
from stereometer.studies.kinds import judge_cats, judge_pairs
from stereometer.studies.kinds.survey import MIDDLE, NOTHING, read_traits
from stereometer.studies.rehearsal.forms import Control, SeenForm
from stereometer.studies.study import Study

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


def hashed_mean(group: str, trait: str) -> float:
    """A view between 15 and 85 that is the same in every rehearsal."""
    number = int.from_bytes(hashlib.sha256(f"{group}/{trait}".encode()).digest()[:4], "big")
    return 15 + 70 * number / 2**32


@dataclass
class Memory:
    """What somebody remembers of the pages before."""

    lot: random.Random
    ratings: dict[str, dict[str, int]] = field(default_factory=dict)
    last: str = ""


def careless(study: Study, seen: SeenForm, memory: Memory) -> dict[str, str]:
    return {name: _anything(control, memory.lot) for name, control in seen.controls.items()}


def _anything(control: Control, lot: random.Random) -> str:
    if control.options:
        return lot.choice(control.options)
    return str(lot.randint(0, 100)) if control.kind == "number" else "something"


@dataclass(frozen=True)
class Careful:
    means: Means = hashed_mean

    def __call__(self, study: Study, seen: SeenForm, memory: Memory) -> dict[str, str]:
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

    def _rate(self, study: Study, seen: SeenForm, memory: Memory) -> dict[str, str]:
        before = memory.ratings.get(seen.heading)
        ratings = {
            name: self._rating(seen.heading, control, (before or {}).get(name), memory)
            for name, control in seen.controls.items()
        }
        memory.ratings[seen.heading], memory.last = ratings, seen.heading
        return {name: str(value) for name, value in ratings.items()}

    def _rating(self, group: str, control: Control, before: int | None, memory: Memory) -> int:
        """A trait is known by its right pole, also where that stands on the left."""
        turned = bool(control.data["turned"])
        view = self.means(group, control.data["left" if turned else "right"])
        mean = float(before) if before is not None else 100 - view if turned else view
        spread = NOISE if before is None else 4
        return round(min(100, max(0, memory.lot.gauss(mean, spread))))

    def _check(self, study: Study, seen: SeenForm, memory: Memory) -> dict[str, str]:
        if "name" in seen.controls:
            options = seen.controls["name"].options
            names = {unit.label: unit.name for unit in study.units}
            return {"name": names.get(memory.last, "") if options else memory.last}
        traits, rated = study.cached(read_traits), memory.ratings[memory.last]
        ratings = {traits[int(name[1:])].name: value for name, value in rated.items()}
        high = [name for name, value in ratings.items() if value > MIDDLE]
        low = [name for name, value in ratings.items() if value < MIDDLE]
        return {"high": (high or [NOTHING])[0], "low": (low or [NOTHING])[0]}


def _of_themselves(seen: SeenForm, memory: Memory) -> dict[str, str]:
    """Some answer to questions with choices; the rest is left out, as everything may be."""
    return {
        name: memory.lot.choice(control.options)
        for name, control in seen.controls.items()
        if len(control.options) > 1
    }


def _write_cat(study: Study, seen: SeenForm, memory: Memory) -> dict[str, str]:
    stereotype, against, unrelated = memory.lot.choice(WORDS)
    number, term = memory.lot.randint(2, 90), seen.heading
    within = next(iter(seen.controls)) != "context"
    if within:
        context = f"On day {number} the {term} next door was BLANK as ever."
        return {
            "stereotype": stereotype,
            "anti_stereotype": against,
            "unrelated": unrelated,
            "context": context,
        }
    return {
        "context": f"The {term} from number {number} came in.",
        "stereotype": f"As always, everything was {stereotype}.",
        "anti_stereotype": f"For once, everything was {against}.",
        "unrelated": f"The box under the bridge is {unrelated}.",
    }


def _write_pair(study: Study, seen: SeenForm, memory: Memory) -> dict[str, str]:
    number = memory.lot.randint(2, 90)
    bias_type, first, second, rest = memory.lot.choice(PAIRS)
    return {
        "first": f"The {first} at number {number} {rest}",
        "second": f"The {second} at number {number} {rest}",
        "direction": "stereo",
        "type": bias_type,
    }


def _label(study: Study, seen: SeenForm, memory: Memory) -> dict[str, str]:
    unit = {
        candidate.text: label
        for cat in study.cached(judge_cats.read_items).values()
        for label, candidate in cat.candidates.items()
    }
    return {name: unit[control.label.strip()] for name, control in seen.controls.items()}


def _judge(study: Study, seen: SeenForm, memory: Memory) -> dict[str, str]:
    pairs = study.cached(judge_pairs.read_items).values()
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
