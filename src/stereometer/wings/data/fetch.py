"""How data get into the user's folder: from a file, or from the public place when asked."""

import http.client
import logging
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark, Source, files_at, user_folder
from stereometer.core.errors import DataError, UsageError
from stereometer.core.files import digest_of_content
from stereometer.core.shapes.sentences import SentenceShape

LOG = logging.getLogger("stereometer")
Announce = Callable[[str], None]
TIMEOUT_SECONDS = 60
LARGEST = 256 * 1024 * 1024
"""No set here is a tenth of this."""


@dataclass(frozen=True)
class Arrival:
    """What was kept, where, and how it differs from what was released."""

    benchmark: Benchmark
    files: tuple[Path, ...]
    differences: tuple[str, ...]

    @property
    def remarks(self) -> list[str]:
        """What `data pull` and `data add` print."""
        card = self.benchmark.card
        differs = [f"differs from the released {card.name}: {each}" for each in self.differences]
        place = f"{card.title}: kept in {self.files[0].parent}."
        return [*differs, place, f"Licence: {card.licence}. Cite: {card.citation}"]

    def as_json(self) -> dict[str, object]:
        files, differences = [str(file) for file in self.files], list(self.differences)
        return {"benchmark": self.benchmark.name, "files": files, "differences": differences}


def add(source: Source, paths: Sequence[Path], anyway: bool = False) -> Arrival:
    """Check the content of files and keep them under their released names."""
    _check_comes(source)
    is_folder = len(paths) == 1 and paths[0].is_dir()
    files = files_at(source.card, paths[0]) if is_folder else list(paths)
    in_parts = source.in_parts(files)
    if len(files) != len(source.card.files) and not in_parts:
        raise UsageError(
            f"{source.name} is made of {len(source.card.files)} file(s), {len(files)} given. They "
            f"are {', '.join(source.card.files)}. Name them all or their folder."
        )
    ordered = files if in_parts else _in_card_order(source, files)
    loaded = source.load(ordered)
    changed = loaded.differences
    if changed and not anyway:
        raise DataError(
            f"This is not {source.name} as released: {'; '.join(changed)}. It was changed, cut "
            "or is another version. Add --anyway to keep it all the same."
        )
    places = [user_folder() / source.card.folder / name for name in source.card.files]
    if in_parts:
        return Arrival(loaded, (_keep_items(loaded, places[0]),), changed)
    kept = [_keep(file, place) for file, place in zip(ordered, places, strict=True)]
    return Arrival(loaded, tuple(kept), changed)


def _check_comes(source: Source) -> None:
    is_own = source.packaged is None
    if not is_own or not source.card.files:
        whence = "stands for files of your own" if is_own else "ships with the package"
        raise UsageError(
            f"{source.name} {whence}. There is nothing to fetch or to add. Use "
            f"`stereometer run {'FILE' if is_own else source.called}`."
        )


def _keep_items(loaded: Benchmark, place: Path) -> Path:
    """In the released layout, so that whoever reads them later needs no more than that."""
    shapes = map(catalog.shape, loaded.shapes)
    shape = next(shape for shape in shapes if isinstance(shape, SentenceShape))
    kept = shape.write(place, loaded.shapes[shape.name])
    place.with_name(place.name + ".gz").unlink(missing_ok=True)
    return kept


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


def _keep(file: Path, place: Path) -> Path:
    """A whole copy or none, packed as it came."""
    with file.open("rb") as content:
        is_gzip = content.read(2) == b"\x1f\x8b"
    target = place.with_name(place.name + ".gz") if is_gzip else place
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


def pull(source: Source, urls: Sequence[str] = (), announce: Announce = LOG.info) -> Arrival:
    """Fetch, check the parsed content against the card, and keep it; from the second place where
    the first fails."""
    _check_comes(source)
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
    card = source.card
    counts = [f"{count:,} items of shape {shape}" for shape, count in card.counts.items()]
    digests = [f"digest {digest[:16]}" for digest in (card.digest, *card.sha256) if digest]
    checks = ", ".join([*counts, *digests])
    announce(f"{card.title}, licence {card.licence}. Checked before it is kept: {checks}.")
    try:
        return _pulled(source, wanted, announce)
    except DataError as error:
        if urls or not source.card.mirrors:
            raise
        announce(f"{error} Trying the second place.")
        return _pulled(source, source.card.mirrors, announce)


def _pulled(source: Source, urls: Sequence[str], announce: Announce) -> Arrival:
    names = [*source.card.files, *map(str, range(len(urls)))]  # a second place may have more files
    with tempfile.TemporaryDirectory(prefix="stereometer-") as folder:
        places = (Path(folder) / name for name in names)
        files = [_fetch(url, place, announce) for url, place in zip(urls, places, strict=False)]
        for file, digest in zip(files, source.card.sha256, strict=False):
            # Of what is inside, packed or not; an empty digest is not known.
            if digest and (actual := digest_of_content(file)) != digest:
                raise DataError(
                    f"{file.name} has the sha256 {actual[:16]} instead of {digest[:16]}. It is not "
                    "the file that the pack was made for, and was not kept. Check the address."
                )
        return add(source, files)


def _fetch(url: str, place: Path, announce: Announce) -> Path:
    if not url.startswith(("https://", "http://")):
        raise UsageError(
            f"'{url}' is not a web address. Only http and https addresses are fetched. Use "
            "`stereometer data add` for a file."
        )
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_SECONDS) as answer:
            size = f"{answer.length / 1e6:.2f} MB" if answer.length else "size not stated"
            announce(f"Fetching {url} ({size})")
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
