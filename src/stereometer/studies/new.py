"""A new study: a folder that can be served at once."""

from __future__ import annotations

import random
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from stereometer.errors import UsageError
from stereometer.runs.open import open_benchmark
from stereometer.shapes.cat.items import Cat
from stereometer.shapes.pair.items import Pair
from stereometer.studies.kinds import kind_called
from stereometer.studies.kinds.kind import Source
from stereometer.studies.secrets import new_secrets, read_secrets, write_secrets
from stereometer.studies.study import Study, open_study
from stereometer.studies.texts import copy_texts
from stereometer.studies.written import written_items

T = TypeVar("T")
PEOPLE = {
    # judgements, units a person, pay, minutes
    "survey": (20, 4, 2.0, 10),
    "write-cats": (3, 4, 3.0, 12),
    "validate-cats": (5, 10, 2.5, 10),
    "write-pairs": (1, 4, 4.0, 15),
    "validate-pairs": (5, 10, 2.5, 10),
}
DEMOGRAPHICS = {"survey": ("gender", "race", "age", "education", "area", "state", "years")}
OPTIONS = {
    "survey": """\
society = "American society"   # whose view is asked for
name_check = "text"            # or "choice": name the first group, or pick it from four
name_distance = 2              # edits by which a typed name may differ
repeat_share = 0.8             # share of traits that must come out alike when a group is repeated
repeat_points = 20             # ratings this near to each other are alike
""",
    "write-cats": 'tasks = ["intrasentence", "intersentence"]\n',
    "validate-cats": "agree = 3   # how many must give an association the same label\n",
    "write-pairs": """\
wanted = 40         # pairs to be written in all
warn_above = 13     # edit distance, in characters
refuse_above = 25
bonus = 1.0         # for each four valid pairs of four different types
""",
    "validate-pairs": """\
wording = "{wording}"      # or {other}
rule = "{rule}"   # or {other_rule}
""",
}


def new_study(
    kind: str,
    folder: Path,
    source: str | None = None,
    sample: int | None = None,
    languages: Sequence[str] = ("en",),
    seed: int = 0,
) -> Study:
    """Write the folder of a new study, ready to serve with the starter set or with `source`."""
    chosen = kind_called(kind)
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(
            f"{folder} is not empty. A new study needs a folder of its own. Choose another name."
        )
    material = _source(kind, source, sample, seed)
    folder.mkdir(parents=True, exist_ok=True)
    chosen.start(folder, material)
    for language in languages:
        copy_texts(kind, language, folder / "texts" / language)
    (folder / "study.toml").write_text(
        _toml(kind, languages, source, len(material.cats or material.pairs)), encoding="utf-8"
    )
    write_secrets(folder, new_secrets(_person_key(source)))
    (folder / ".gitignore").write_text("secrets.json\nstudy.sqlite*\n", encoding="utf-8")
    return open_study(folder)


def _person_key(source: str | None) -> str | None:
    """That of the study it continues, so that its writers are known."""
    if source is None or not (Path(source) / "study.toml").is_file():
        return None
    return read_secrets(Path(source)).person_key


def _source(kind: str, source: str | None, sample: int | None, seed: int) -> Source:
    if source is None:
        return Source()
    if kind in ("write-cats", "write-pairs"):
        return Source(file=Path(source))
    if (Path(source) / "study.toml").is_file():
        cats, pairs, writers = written_items(open_study(source))
    else:
        shapes = open_benchmark(source).shapes
        items = [item for listed in shapes.values() for item in listed]
        cats = [item for item in items if isinstance(item, Cat)]
        pairs, writers = [item for item in items if isinstance(item, Pair)], {}
    if kind == "validate-pairs":
        pairs = pairs or [cat.as_pair() for cat in cats if cat.task == "intrasentence"]
        return Source(pairs=_sampled(pairs, sample, seed, source), writers=writers)
    return Source(cats=_sampled(cats, sample, seed, source), writers=writers)


def _sampled(items: Sequence[T], sample: int | None, seed: int, source: str) -> list[T]:
    if not items:
        raise UsageError(
            f"{source} has no items for this kind of study. CATs are judged by validate-cats, "
            "pairs by validate-pairs. Choose the other kind, or another source."
        )
    if sample is None:
        return list(items)
    if not 1 <= sample <= len(items):
        raise UsageError(
            f"--sample {sample} is not between 1 and {len(items)}, the number of items. "
            "Choose a smaller sample, or leave it out."
        )
    return random.Random(seed).sample(list(items), sample)


def _toml(kind: str, languages: Sequence[str], source: str | None, items: int) -> str:
    judgements, per_person, pay, minutes = PEOPLE[kind]
    per_person = min(per_person, items) if items else per_person
    codes = {outcome: secrets.token_hex(4).upper() for outcome in _OUTCOMES}
    listed = ", ".join(f'"{language}"' for language in languages)
    questions = ", ".join(f'"{name}"' for name in DEMOGRAPHICS.get(kind, ()))
    return f"""\
kind = "{kind}"
title = "{kind_called(kind).does}"
contact = ""              # whom participants can write to
languages = [{listed}]
demographics = [{questions}]   # asked last, every question optional
join_demographics = false # true only where the consent text allows it

[quota]
judgements = {judgements}    # for each group, term or item
per_person = {per_person}
lease_minutes = 45   # how long a place is kept for a person who sends nothing

[pay]
currency = "USD"
complete = {pay:.2f}
left = {pay / 4:.2f}
minutes = {minutes}

[codes]
{chr(10).join(f'{outcome} = "{code}"' for outcome, code in codes.items())}

[panel]
name = "open"        # or "link", "prolific", "mechanical-turk"
return_url = ""      # for Prolific: https://app.prolific.com/submissions/complete?cc={{code}}

[{kind}]
{_options(kind, source)}"""


_OUTCOMES = ("complete", "failed", "declined", "left")


def _options(kind: str, source: str | None) -> str:
    wording = "stereoset" if source == "stereoset" else "crows-pairs"
    second = source is not None and not (Path(source) / "study.toml").is_file()
    rules = ("majority", "writer-and-judges")
    return OPTIONS[kind].format(
        wording=wording,
        other='"crows-pairs"' if wording == "stereoset" else '"stereoset"',
        rule=rules[0] if second else rules[1],
        other_rule=f'"{rules[1] if second else rules[0]}"',
    )
