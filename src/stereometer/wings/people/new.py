"""A new study: a folder that can be served at once."""

import random
import secrets
import shutil
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TypeVar

from stereometer.core.errors import StereometerError, UsageError
from stereometer.core.runs.open import open_benchmark
from stereometer.core.types import Item
from stereometer.kinds.cats.benchmarks import as_pairs
from stereometer.kinds.cats.items import Cat
from stereometer.kinds.pairs.items import Pair
from stereometer.wings.people.config import OUTCOMES, read_config
from stereometer.wings.people.kinds import kind_called
from stereometer.wings.people.kinds.judging import JUDGE_PAIRS
from stereometer.wings.people.kinds.kind import Judging, Kind, StudySource
from stereometer.wings.people.kinds.survey import SURVEY
from stereometer.wings.people.people import open_edition
from stereometer.wings.people.secrets import new_secrets, read_secrets, write_secrets
from stereometer.wings.people.study import Study, open_study
from stereometer.wings.people.texts import copy_texts


def written_items(study: Study) -> tuple[list[Cat | Pair], dict[str, str]]:
    """Of the version that people join now: versions are not joined."""
    written = [
        (item, participant.hash)
        for participant in open_edition(study).counted
        for item in study.kind.written(study, participant.person)
    ]
    if not written:
        raise UsageError(
            f"Nothing is written in {study.folder}, a {study.kind.name} study. A validation needs "
            "items. Name a writing study that people have filled, a file or a benchmark."
        )
    return [item for item, _ in written], {item.id: writer for item, writer in written}


T = TypeVar("T")
STARTER = "starter"
"""The set that ships, whose items a new study judges."""


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
    material = _source(chosen, source, sample, seed)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        chosen.start(folder, material)
        for language in languages:
            copy_texts(kind, language, folder / "texts" / language)
        _write_toml(folder / "study.toml", chosen, languages, source)
        # The key of the study that it continues: its writers are known.
        continues = source is not None and (Path(source) / "study.toml").is_file()
        key = read_secrets(Path(str(source))).person_key if continues else None
        write_secrets(folder, new_secrets(key))
        (folder / ".gitignore").write_text("secrets.json\nstudy.sqlite*\n", encoding="utf-8")
        return open_study(folder)
    except StereometerError:
        shutil.rmtree(folder)  # it was empty: half a study would stand in the way of the next try
        raise


def _write_toml(path: Path, kind: Kind, languages: Sequence[str], source: str | None) -> None:
    """With no more for each person than there is."""
    per_person = kind.defaults.per_person
    path.write_text(_toml(kind, languages, source, per_person), encoding="utf-8")
    count = len(Study(path.parent, read_config(path)).units)
    if count < per_person:
        path.write_text(_toml(kind, languages, source, max(1, count)), encoding="utf-8")


def _source(kind: Kind, source: str | None, sample: int | None, seed: int) -> StudySource:
    if isinstance(kind, Judging):
        return _items(kind, source or STARTER, sample, seed)
    if sample is not None:
        raise UsageError(
            f"--sample draws items to judge. A {kind.name} study has none. Leave it out."
        )
    if source is not None and kind is SURVEY:
        raise UsageError(
            f"A {kind.name} is not made from another study. Its groups and traits are tables in "
            "its folder. Leave out --from and edit groups.csv and traits.csv."
        )
    return StudySource(file=Path(source) if source else None)


def _items(kind: Judging, source: str, sample: int | None, seed: int) -> StudySource:
    items: Sequence[Item]
    if (Path(source) / "study.toml").is_file():
        items, writers = written_items(open_study(source))
    else:
        items, writers = list(chain(*open_benchmark(source).shapes.values())), {}
    cats = [item for item in items if isinstance(item, Cat)]
    chosen: Sequence[Cat | Pair] = cats
    if kind is JUDGE_PAIRS:
        pairs = [item for item in items if isinstance(item, Pair)]
        chosen = pairs or as_pairs(cats)
    return StudySource(items=_sampled(chosen, sample, seed, source), writers=writers)


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


def _toml(kind: Kind, languages: Sequence[str], source: str | None, per_person: int) -> str:
    template = Path(__file__).with_name("new_study.toml")
    codes = [f'{outcome} = "{secrets.token_hex(4).upper()}"' for outcome in OUTCOMES]
    text = template.read_text("utf-8").format(
        kind=kind.name,
        title=kind.does,
        languages=", ".join(f'"{name}"' for name in languages),
        questions=", ".join(f'"{name}"' for name in kind.defaults.demographics),
        per_person=per_person,
        defaults=kind.defaults,
        left=kind.defaults.pay / 4,
        codes="\n".join(codes),
    )
    return text + _options(kind.settings, source)


def _options(settings: str, source: str | None) -> str:
    """Items that others have released are judged in their wording, by the second rule."""
    if source == "stereoset":
        settings = settings.replace(
            '"crows-pairs"      # or "stereoset"', '"stereoset"        # or "crows-pairs"'
        )
    if source is not None and not (Path(source) / "study.toml").is_file():
        settings = settings.replace('"writer-and-judges"', '"majority"')
    return settings
