"""How data get into the user's folder: from a file, or from the public place when asked."""

from __future__ import annotations

import http.client
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stereometer.benchmarks.benchmark import Benchmark, Source
from stereometer.benchmarks.folders import files_at, user_folder
from stereometer.errors import DataError, UsageError
from stereometer.files import digest_of_content

TIMEOUT_SECONDS = 60
LARGEST = 256 * 1024 * 1024
"""No set here is a tenth of this."""


@dataclass(frozen=True)
class Arrival:
    """What was kept, where, and how it differs from what was released."""

    benchmark: Benchmark
    files: tuple[Path, ...]
    differences: tuple[str, ...]


def add(source: Source, paths: Sequence[Path], anyway: bool = False) -> Arrival:
    """Check the content of files and keep them under their released names."""
    if source.packaged is not None or not source.card.files:
        raise UsageError(
            f"{source.name} is not a set that can be added. The starter set ships with the "
            "package; your own files are named by their path. Nothing was done."
        )
    is_folder = len(paths) == 1 and paths[0].is_dir()
    files = files_at(source.card, paths[0]) if is_folder else list(paths)
    if len(files) != len(source.card.files):
        raise UsageError(
            f"{source.name} is made of {len(source.card.files)} file(s), {len(files)} given. They "
            f"are {', '.join(source.card.files)}. Name them all or their folder."
        )
    loaded = source.load(_in_card_order(source, files))
    changed = differences(loaded)
    if changed and not anyway:
        raise DataError(
            f"This is not {source.name} as released: {'; '.join(changed)}. It was changed, cut "
            "or is another version. Add --anyway to keep it all the same."
        )
    folder = user_folder() / source.card.folder
    kept = [
        _keep(file, folder / name)
        for file, name in zip(_in_card_order(source, files), source.card.files, strict=True)
    ]
    return Arrival(loaded, tuple(kept), changed)


def _in_card_order(source: Source, files: Sequence[Path]) -> list[Path]:
    """Several files are known by their names; a single one may have any."""
    if len(files) == 1:
        return list(files)
    by_name = {file.name.removesuffix(".gz"): file for file in files}
    missing = [name for name in source.card.files if name not in by_name]
    if missing:
        raise UsageError(
            f"{', '.join(missing)} is not among the files given. {source.name} needs each of its "
            "files under its released name. Name them all or their folder."
        )
    return [by_name[name] for name in source.card.files]


def differences(loaded: Benchmark) -> tuple[str, ...]:
    """How items differ from what their card says, in words; without a digest only in number."""
    if loaded.as_released:
        return ()
    known = loaded.card.digest
    counts = [
        f"{len(loaded.shapes.get(shape, ()))} items of shape {shape} instead of {expected}"
        for shape, expected in loaded.card.counts.items()
        if len(loaded.shapes.get(shape, ())) != expected
    ]
    other = [f"content digest {loaded.digest[:16]} instead of {known[:16]}"] if known else []
    return (*counts, *other)


def _keep(file: Path, place: Path) -> Path:
    """A whole copy or none, packed as it came."""
    target = place.with_name(place.name + ".gz") if _is_gzip(file) else place
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        shutil.copyfile(file, part)
        part.replace(target)
        for other in {place, place.with_name(place.name + ".gz")} - {target}:
            other.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(
            f"{target} cannot be written: {error.strerror}. The user data folder is read-only or "
            "full. Set STEREOMETER_DATA to a folder that holds the data."
        ) from None
    return target


def _is_gzip(file: Path) -> bool:
    with file.open("rb") as handle:
        return handle.read(2) == b"\x1f\x8b"


def pull(source: Source, urls: Sequence[str] = ()) -> Arrival:
    """Fetch, check the parsed content against the card, and keep it."""
    wanted = list(urls) or list(source.card.urls)
    if not wanted:
        raise UsageError(
            f"{source.name} cannot be pulled: its card names no public address. Get it from "
            f"{source.card.get}. Then run `stereometer data add {source.called} FILE`."
        )
    if len(wanted) != len(source.card.files):
        raise UsageError(
            f"{source.name} is made of {len(source.card.files)} file(s), {len(wanted)} address(es) "
            f"given. They are {', '.join(source.card.files)}. Name one for each."
        )
    with tempfile.TemporaryDirectory(prefix="stereometer-") as folder:
        files = [
            _fetch(url, Path(folder) / name)
            for url, name in zip(wanted, source.card.files, strict=True)
        ]
        for file, digest in zip(files, source.card.sha256, strict=False):
            _check_digest(file, digest)
        return add(source, files)


def _check_digest(file: Path, digest: str) -> None:
    """Of what is inside, packed or not; an empty digest is not known."""
    if digest and (actual := digest_of_content(file)) != digest:
        raise DataError(
            f"{file.name} has the sha256 {actual[:16]} instead of {digest[:16]}. It is not the "
            "file that the pack was made for, and was not kept. Check the address."
        )


def _fetch(url: str, place: Path) -> Path:
    if not url.startswith(("https://", "http://")):
        raise UsageError(
            f"'{url}' is not a web address. Only http and https addresses are fetched. Use "
            "`stereometer data add` for a file."
        )
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            content = answer.read(LARGEST + 1)
    except (urllib.error.URLError, http.client.HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise DataError(
            f"{url} could not be fetched: {reason}. The network or the server cannot be reached. "
            "Try again, or get the file yourself and run `stereometer data add`."
        ) from None
    if len(content) > LARGEST:
        raise DataError(
            f"{url} is larger than {LARGEST} bytes. No known set is that large. Check the address."
        )
    place.write_bytes(content)
    return place
