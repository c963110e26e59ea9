"""Stored runs of a model before and after a mitigation, and of its control, from scores that are
drawn with known preferences."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import stereometer
from stereometer.core.runs.store import folder_name
from stereometer.core.runs.stored import Run, Side
from stereometer.core.types import Result, Score
from stereometer.wings.mitigation.card import SETTING, MitigationCard
from tests.builders.little import QUICK, intra, stereoset_file
from tests.builders.stored import sealed

BASE = "b" * 64
DOMAINS = {"gender": 30, "profession": 25, "race": 24}
"""Target terms of each."""


def card(**changed: Any) -> MitigationCard:
    """Of a mitigation of gender."""
    known: dict[str, Any] = {
        "method": "leace",
        "form": "projection",
        "base": "small",
        "base_digest": BASE,
        "attribute": "gender",
        "domains": ("gender",),
        "words": ("she", "he", "woman", "man", "best man"),
        "rank": 1,
        "control": "leace.control.safetensors",
    }
    return MitigationCard(**known | changed)


def control_card(**changed: Any) -> MitigationCard:
    return card(**{"method": "random-projection", "control_of": "leace", "control": ""} | changed)


def model_card(of: MitigationCard | None, digest: str = "") -> dict[str, Any]:
    """As a result keeps it."""
    mitigation = {SETTING: of.as_json()} if of else {}
    own = digest or (BASE if of is None else "m" * 32 + f"{hash(of.method) & 0xFFFF:032x}")
    return {"digest": own, "family": "causal", "settings": mitigation}


@dataclass(frozen=True)
class Truth:
    """What a system prefers, in percent; other domains than those named are at `other`."""

    ss: Mapping[str, float]
    lms: float = 80.0
    other: float = 58.0


class Items:
    """CATs whose outcomes two systems share, but for a few that each draws for itself."""

    def __init__(
        self, seed: int, items: int = 20, churn: float = 0.1, domains: Mapping[str, int] = DOMAINS
    ) -> None:
        self.rng = np.random.default_rng(seed)
        self.churn = churn
        self.places = [
            (domain, f"{domain}-{term}", number)
            for domain, terms in domains.items()
            for term in range(terms)
            for number in range(items)
        ]
        self.common = self.rng.random((3, len(self.places)))

    def scores(self, truth: Truth, texts: Mapping[int, str] | None = None) -> tuple[Score, ...]:
        """Every item with a text that has a list word where its number is even."""
        fresh = self.rng.random(self.common.shape) < self.churn
        drawn = np.where(fresh, self.rng.random(self.common.shape), self.common)
        rows = zip(self.places, *drawn, strict=True)
        return tuple(
            self._score(at, place, lots, truth, texts) for at, (place, *lots) in enumerate(rows)
        )

    def _score(
        self,
        at: int,
        place: tuple[str, str, int],
        lots: Sequence[float],
        truth: Truth,
        texts: Mapping[int, str] | None,
    ) -> Score:
        (domain, target, number), (prefers, first, second) = place, lots
        ahead = 1.0 if 100 * prefers < truth.ss.get(domain, truth.other) else -1.0
        values = {"stereotype>anti-stereotype": 0.5 + ahead / 4}
        for name, lot in (("stereotype", first), ("anti-stereotype", second)):
            values[f"{name}>unrelated"] = 0.9 if 100 * lot < truth.lms else 0.1
        slices = {"task": "intrasentence", "domain": domain, "target": target}
        text = f"The {'woman' if number % 2 else 'clerk'} came." if texts is None else texts.get(at)
        whole = {"stereotype": -1.0 + ahead / 4, "anti-stereotype": -1.0, "unrelated": -2.0}
        return Score(f"i{at}", slices, whole | values, texts={"context": text} if text else {})


def side(
    name: str, scores: Sequence[Score], of: MitigationCard | None = None, **changed: Any
) -> Side:
    """A run that is not stored, as if its scores had been read."""
    known: dict[str, Any] = {
        "benchmark": "little",
        "measure": "cat-pseudo-likelihood@1",
        "variant": "sound",
        "model": name,
        "scoring": "computed",
        "model_card": model_card(of),
        "data": {"digest": "d", "title": "Little", "notice": ""},
        "settings": {"limit": None, "coverage": 0.9, "level": 0.95, "ties": 0.1},
        "versions": {},
        "notes": (),
        "estimates": (),
        "kind": "cat",
    }
    run = Run(Result(**known | changed), Path("nowhere", name))
    vars(run)["scores"] = tuple(scores)
    return Side(name, run)


def stamped(folder: Path, of: MitigationCard | None, **card_fields: Any) -> Path:
    """A stored run as if a model with this mitigation had given it."""
    changes = {**model_card(of), **card_fields}
    return sealed(folder, lambda value: value["model_card"].update(changes))


# ----------------------------------------------------------------------------------------- stored


SYSTEMS: Mapping[str, tuple[float, float, MitigationCard | None]] = {
    "small": (0.9, 1.5, None),
    "small+leace": (0.1, 1.4, card()),
    "small+control": (0.8, 1.3, control_card()),
}
"""How far each leans toward the stereotype, and away from what makes no sense."""


def stored(folder: Path, terms: int = 12, items: int = 12) -> dict[str, Path]:
    """Runs of a base, a mitigation and its control on CATs of two domains, in one folder."""
    places = [
        {"target": f"{domain}-{term}", "bias_type": domain}
        for domain in ("gender", "profession")
        for term in range(terms)
    ]
    numbered = list(enumerate(place for place in places for _ in range(items)))
    data = stereoset_file(
        folder / "cats.json",
        [
            intra(f"a{at}", f"The {('clerk', 'woman')[at % 2]} is BLANK today.", **place)
            for at, place in numbered
        ],
        [],
    )
    common = np.random.default_rng(5).normal(size=(len(numbered), 3))
    return {
        name: _replayed(folder, data, name, lean, sense, common, of)
        for name, (lean, sense, of) in SYSTEMS.items()
    }


def _replayed(
    folder: Path,
    data: Path,
    name: str,
    lean: float,
    sense: float,
    common: Any,
    of: MitigationCard | None,
) -> Path:
    own = np.random.default_rng(len(name)).normal(size=common.shape)
    drawn = 0.9 * common + 0.3 * own + [lean, 0.0, -sense]
    names = ("stereotype", "anti-stereotype", "unrelated")
    rows = [
        {"id": f"a{at}", **dict(zip(names, map(float, row), strict=True))}
        for at, row in enumerate(drawn - 5)
    ]
    file = folder / f"{name}.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    stereometer.replay(file, benchmark=str(data), name=name, out=folder / "runs", **QUICK)[0]
    return stamped(next((folder / "runs").glob(f"*-{folder_name(name)}-*")), of)
