"""Where data come from: a path, else STEREOMETER_DATA, else the user's folder. Never the
network."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from platformdirs import user_data_path

from stereometer.benchmarks.benchmark import Benchmark, Card, Source
from stereometer.errors import DataError, DataMissing

VARIABLE = "STEREOMETER_DATA"


def user_folder() -> Path:
    return user_data_path("stereometer", appauthor=False)


def folders() -> Iterator[Path]:
    if os.environ.get(VARIABLE):
        yield Path(os.environ[VARIABLE])
    yield user_folder()


def open_benchmark(source: Source, data: Path | None = None) -> Benchmark:
    """The benchmark read from the first place that has it."""
    return source.load(find(source, data))


def find(source: Source, data: Path | None = None) -> Sequence[Path]:
    if data is not None:
        return files_at(source.card, data)
    if source.packaged is not None:
        return source.packaged()
    for folder in folders():
        for name in (source.card.folder, source.name):
            files = [_plain_or_gz(folder / name / file) for file in source.card.files]
            present = [file for file in files if file is not None]
            if len(present) == len(files):
                return present
    raise DataMissing(_how_to_get(source.card, source.called))


def files_at(card: Card, data: Path) -> Sequence[Path]:
    if not data.exists():
        raise DataError(
            f"There is no {data}. The data of {card.name} should be there. Check the path."
        )
    if not data.is_dir():
        return [data]
    if len(card.files) == 1 and (parts := sorted(data.rglob("*.parquet"))):
        return parts
    files = [_plain_or_gz(data / name) for name in card.files]
    missing = [name for name, file in zip(card.files, files, strict=True) if file is None]
    if not card.files:
        raise DataError(
            f"{data} is a folder. {card.name} items come in a single file. Name the file."
        )
    if missing:
        raise DataError(
            f"{data} does not hold {', '.join(missing)}. {card.name} is made of {len(card.files)} "
            "file(s). Name the right folder or file."
        )
    return [file for file in files if file is not None]


def _plain_or_gz(path: Path) -> Path | None:
    packed = path.with_name(path.name + ".gz")
    return path if path.is_file() else packed if packed.is_file() else None


def _how_to_get(card: Card, name: str) -> str:
    pull = f"Run `stereometer data pull {name}` to fetch it, or " if card.urls else "Run "
    places = " and ".join(str(folder / card.folder) for folder in folders())
    path = "FILE" if len(card.files) == 1 else "FOLDER"
    return (
        f"{card.title} is not on this machine. Looked for {', '.join(card.files)} in {places}. "
        f"{pull}`stereometer data add {name} {path}` if you have it. ({card.get})"
    )
