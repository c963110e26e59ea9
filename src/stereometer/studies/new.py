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
from stereometer.studies.config import OUTCOMES
from stereometer.studies.kinds import kind_called
from stereometer.studies.kinds.kind import Source
from stereometer.studies.secrets import new_secrets, read_secrets, write_secrets
from stereometer.studies.study import Study, open_study
from stereometer.studies.texts import copy_texts
from stereometer.studies.written import written_items

T = TypeVar("T")


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
    chosen = kind_called(kind)
    defaults, pay = chosen.defaults, chosen.defaults.pay
    per_person = min(defaults.per_person, items or defaults.per_person)
    codes = {outcome: secrets.token_hex(4).upper() for outcome in OUTCOMES}
    listed = ", ".join(f'"{language}"' for language in languages)
    questions = ", ".join(f'"{name}"' for name in defaults.demographics)
    return f"""\
kind = "{kind}"
title = "{chosen.does}"
contact = ""              # whom participants can write to
languages = [{listed}]
demographics = [{questions}]   # asked last, every question optional
join_demographics = false # true only where the consent text allows it

[quota]
judgements = {defaults.judgements}    # for each group, term or item
per_person = {per_person}
lease_minutes = 45   # how long a place is kept for a person who sends nothing

[pay]
currency = "USD"
complete = {pay:.2f}
left = {pay / 4:.2f}
minutes = {defaults.minutes}

[codes]
{chr(10).join(f'{outcome} = "{code}"' for outcome, code in codes.items())}

[panel]
name = "open"        # or "link", "prolific", "mechanical-turk"
return_url = ""      # for Prolific: https://app.prolific.com/submissions/complete?cc={{code}}

[{kind}]
{_options(chosen.settings, source)}"""


def _options(settings: str, source: str | None) -> str:
    """Items that others have released are judged in their wording, by the second rule."""
    if source == "stereoset":
        settings = settings.replace(
            '"crows-pairs"      # or "stereoset"', '"stereoset"        # or "crows-pairs"'
        )
    if source is not None and not (Path(source) / "study.toml").is_file():
        settings = settings.replace('"writer-and-judges"', '"majority"')
    return settings
