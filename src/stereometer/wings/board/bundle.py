"""A run to be sent to a host: scores without texts, and a manifest of digests.

A bundle from a stranger is a folder or a zip with known names only, within limits, read and never
unpacked: nothing is written to disk, no link is followed, and of a zip nothing is parsed before its
directory is known to be small.
"""

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import IO, Annotated

from stereometer.core import catalog
from stereometer.core.errors import DataError, UsageError
from stereometer.core.files import finite, make_room, parse_json, to_json
from stereometer.core.options import Option, verb
from stereometer.core.runs import store
from stereometer.core.runs.stored import Run, run_of
from stereometer.core.shapes.shape import Contrast
from stereometer.core.types import Result, Score
from stereometer.core.types.document import Document, typed
from stereometer.core.types.shown import Told
from stereometer.wings.board.seals import sign

MANIFEST, SIGNATURE = "manifest.json", "manifest.json.sig"
RESULT, SCORES = "result.json", "scores.jsonl"
MEGABYTE = 1024**2
LARGEST = {
    MANIFEST: MEGABYTE // 16,
    RESULT: 8 * MEGABYTE,
    SCORES: 64 * MEGABYTE,
    SIGNATURE: MEGABYTE // 16,
}
"""Bytes of each file once unpacked: 64 MB of scores are about 200,000 items."""
NEEDED = frozenset(LARGEST) - {SIGNATURE}
END = struct.Struct("<4s4H2LH")
"""The end of a zip: signature, disks, entries, size and place of the directory, comment."""
END_MARK, LARGE_MARK, LARGE_SIZE = b"PK\x05\x06", b"PK\x06\x07", 20
LARGEST_DIRECTORY = 4096
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
Files = Mapping[str, bytes]


def read_files(path: Path) -> Files:
    """The files by name; raises where one is missing, foreign, too large or no plain file."""
    try:
        if not path.exists():
            raise DataError(
                f"{path} does not exist. A bundle is what `stereometer submit` writes. Check the "
                "path."
            )
        known = path.stat()
        if stat.S_ISDIR(known.st_mode):
            files = _from_folder(path)
        elif stat.S_ISREG(known.st_mode):
            files = _from_zip(path, known.st_size)
        else:
            raise _refused(path, "it is neither a folder nor a file")
    except (OSError, ValueError, zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise _refused(path, f"it cannot be read: {error}") from None
    except NotImplementedError as error:  # zipfile's word for a zip that it does not know
        raise _refused(path, str(error)) from None
    if lacking := sorted(NEEDED - files.keys()):
        raise _refused(path, f"it lacks {', '.join(lacking)}")
    return files


def _refused(path: Path, why: str) -> DataError:
    return DataError(
        f"{path} is not a bundle: {why}. A bundle is what `stereometer submit` writes. Ask for it "
        "again."
    )


def _check_names(path: Path, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name not in LARGEST or name in seen:
            raise _refused(path, f"it holds {name[:80]!r}{' twice' if name in seen else ''}")
        seen.add(name)


def _limited(file: IO[bytes], path: Path, name: str) -> bytes:
    """A file may be larger than its entry says."""
    content = file.read(LARGEST[name] + 1)
    if len(content) > LARGEST[name]:
        raise _refused(path, f"{name} is larger than {LARGEST[name]} bytes")
    return content


def _from_folder(path: Path) -> Files:
    with os.scandir(path) as entries:
        names = [entry.name for entry, _ in zip(entries, range(len(LARGEST) + 1), strict=False)]
    _check_names(path, names)
    return {name: _plain_file(path, name) for name in sorted(names)}


def _plain_file(path: Path, name: str) -> bytes:
    """Not through a link, and not from a pipe that never ends."""
    if not stat.S_ISREG((path / name).lstat().st_mode):
        raise _refused(path, f"{name} is not a file")
    # Should it have become a link or a pipe meanwhile; Windows has neither flag.
    more = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(path / name, "rb", opener=lambda file, flags: os.open(file, flags | more)) as file:
        return _limited(file, path, name)


def _from_zip(path: Path, size: int) -> Files:
    if size > sum(LARGEST.values()):
        raise _refused(path, f"it has {size} bytes")
    with path.open("rb") as file:
        _check_directory(path, file, size)
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            _check_names(path, (entry.filename for entry in entries))
            return {entry.filename: _entry(path, archive, entry) for entry in entries}


def _check_directory(path: Path, file: IO[bytes], size: int) -> None:
    """A directory of millions of entries would fill the memory before the first could be refused:
    the end of the file says how large it is, and only the plain form is taken."""
    tail_size = END.size + LARGE_SIZE
    file.seek(max(0, size - tail_size))
    tail = file.read(tail_size)
    if len(tail) < END.size or tail[-END.size :][:4] != END_MARK:
        raise _refused(path, "it is not a zip file, or has a comment at its end")
    *_, entries, directory, _, comment = END.unpack(tail[-END.size :])
    if tail[:4] == LARGE_MARK or comment or entries > len(LARGEST):
        raise _refused(path, "its directory is not that of a few files")
    if directory > LARGEST_DIRECTORY:
        raise _refused(path, f"its directory has {directory} bytes")
    file.seek(0)


def _entry(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    mode = entry.external_attr >> 16
    plain = not mode or stat.S_IFMT(mode) in (0, stat.S_IFREG)
    if not plain or entry.flag_bits & 1 or entry.compress_type not in METHODS:
        raise _refused(path, f"{entry.filename} is a link, encrypted or packed in a rare way")
    with archive.open(entry) as file:
        return _limited(file, path, entry.filename)


SCHEMA = "bundle@1"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""So that a run always gives the same zip."""
LONGEST_NAME = 200


@dataclass(frozen=True)
class Manifest(Document):
    """What a bundle says of itself; a signature is of its bytes."""

    benchmark: str
    data_digest: str
    kind: str
    measure: str
    variant: str
    model: str
    model_digest: str
    scoring: str
    digests: Mapping[str, str]
    """SHA-256 of each file."""
    stereometer: str
    schema: str = SCHEMA


def manifest_of(result: Result, digests: Mapping[str, str], made_by: str) -> Manifest:
    return Manifest(
        benchmark=result.benchmark,
        data_digest=str(result.data["digest"]),
        kind=result.kind,
        measure=result.measure,
        variant=result.variant,
        model=result.model,
        model_digest=str(result.model_card["digest"]),
        scoring=result.scoring,
        digests=dict(digests),
        stereometer=made_by,
    )


@verb
def submit(
    run: Annotated[str | Path, "The folder of a run."],
    *,
    output: Annotated[
        str | Path, Option("The bundle: a folder, or a .zip.", flags=("--output", "-o"))
    ],
    sign: Annotated[str | Path | None, "An SSH key to sign the bundle with, by ssh-keygen."] = None,
) -> Told:
    """Write a run as a bundle for a leaderboard: scores without texts, and digests."""
    manifest = write_bundle(run, output, sign)
    signed = "signed" if sign else "not signed"
    said = f"Written to {output}, {signed}. It holds scores and digests, no texts."
    return Told(said, **manifest.as_json())


def write_bundle(run: str | Path, out: str | Path, key: str | Path | None = None) -> Manifest:
    """The bundle of a stored run, a folder or a `.zip`; with `key` it is signed."""
    stored, place = run_of(run), Path(out)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UsageError(f"{place} already exists. A bundle is written once. Choose another.")
    result = stored.result
    store.check_whole([result])
    scores = _lines(stored)
    digest = sha256(scores).hexdigest()
    # Folders of this machine are nobody's business.
    data = {**result.data, "source": Path(str(result.data.get("source", ""))).name}
    shared = replace(result, scores_digest=digest, data=data)
    whole = _encoded(shared.as_json())
    digests = {RESULT: sha256(whole).hexdigest(), SCORES: digest}
    manifest = manifest_of(shared, digests, version("stereometer"))
    files = {MANIFEST: _encoded(manifest.as_json()), RESULT: whole, SCORES: scores}
    if key is not None:
        files[SIGNATURE] = sign(files[MANIFEST], Path(key))
    _write(place, files)
    read_files(place)  # what a host would refuse is not handed out
    return manifest


def _lines(run: Run) -> bytes:
    if not isinstance(run.shape, Contrast):
        raise UsageError(
            f"A run of kind {run.result.kind} cannot be submitted. A host counts CATs and pairs "
            "again from their scores. Name a run on those."
        )
    if not all(score.texts for score in run.scores):
        raise UsageError(
            "The run holds items without texts. They are hidden, and their target terms would "
            "leave with the scores. `stereometer board judge` is for hidden items."
        )
    bare = (replace(score, texts={}, answers=()) for score in run.scores)
    return "".join(to_json(score.as_json(), indent=None) + "\n" for score in bare).encode()


def _encoded(value: object) -> bytes:
    return (to_json(value) + "\n").encode()


def _write(place: Path, files: Files) -> None:
    if place.suffix == ".zip":
        make_room(place)
        with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
        return
    for name, content in files.items():
        make_room(place / name)
        (place / name).write_bytes(content)


@dataclass(frozen=True)
class Bundle:
    """What a stranger sent, its digests checked; nothing in it is believed yet."""

    manifest: Manifest
    result: Result
    scores: tuple[Score, ...]
    digest: str
    """SHA-256 of the manifest, which holds those of the files."""
    signature: bytes | None
    signed: bytes


def read_bundle(path: Path) -> Bundle:
    files = read_files(path)
    manifest = _manifest(path, files[MANIFEST])
    for name in (RESULT, SCORES):
        if manifest.digests.get(name) != sha256(files[name]).hexdigest():
            raise _edited(path, f"{name} does not have the digest that {MANIFEST} gives it")
    result = _result(path, files[RESULT])
    if manifest_of(result, manifest.digests, manifest.stereometer) != manifest:
        raise _edited(path, f"{MANIFEST} and {RESULT} do not speak of the same run")
    if result.scores_digest != manifest.digests[SCORES]:
        raise _edited(path, f"{RESULT} was counted from other scores")
    scores = tuple(_scores(path, files[SCORES], result))
    signature = files.get(SIGNATURE)
    digest = sha256(files[MANIFEST]).hexdigest()
    return Bundle(manifest, result, scores, digest, signature, files[MANIFEST])


def _edited(path: Path, why: str) -> DataError:
    return DataError(
        f"{path} contradicts itself: {why}. It was edited or cut off. Refuse it, or ask for it "
        "again."
    )


def _text(path: Path, content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise _edited(path, f"{name} is not UTF-8 text") from None


def _manifest(path: Path, content: bytes) -> Manifest:
    value = parse_json(_text(path, content, MANIFEST), f"{path}: {MANIFEST}")
    try:
        manifest = typed(Manifest, value)
    except (TypeError, ValueError) as error:
        raise _edited(path, f"{MANIFEST}: {error}") from None
    if manifest.schema != SCHEMA:
        raise _edited(path, f"{MANIFEST} is of schema {manifest.schema[:40]!r}")
    return manifest


def _result(path: Path, content: bytes) -> Result:
    value = parse_json(_text(path, content, RESULT), f"{path}: {RESULT}")
    result = store.result_from(value, f"{path}: {RESULT}")
    for name in (result.benchmark, result.measure, result.model, result.scoring):
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            raise _edited(path, f"{RESULT} holds an invalid name: {name[:40]!r}")
    return result


def _scores(path: Path, content: bytes, result: Result) -> Iterator[Score]:
    shape = catalog.shape(result.kind)
    if not isinstance(shape, Contrast):
        raise _edited(path, f"a run of kind {result.kind[:40]!r} cannot be counted again")
    for number, line in enumerate(_text(path, content, SCORES).splitlines(), 1):
        where = f"{path}: {SCORES}, line {number}"
        score = store.score_from(parse_json(line, where), shape, where)
        for value in (*score.values.values(), *score.derived.values()):
            finite(value, where)
        if score.texts or score.answers:
            raise _edited(path, f"line {number} of {SCORES} holds texts")
        if len(score.skipped or "") > LONGEST_NAME:
            raise _edited(path, f"line {number} of {SCORES} has an endless reason for skipping")
        yield score
