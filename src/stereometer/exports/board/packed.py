"""The files of a bundle from a stranger: known names only, within limits, read and never unpacked.

A bundle is a folder or a zip. Nothing is written to disk, no link is followed, and of a zip nothing
is parsed before its directory is known to be small.
"""

from __future__ import annotations

import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO

from stereometer.errors import DataError

MANIFEST, RESULT, SCORES, SIGNATURE = (
    "manifest.json",
    "result.json",
    "scores.jsonl",
    "manifest.json.sig",
)
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


# ------------------------------------------------------------------------------------------ folders


def _from_folder(path: Path) -> Files:
    with os.scandir(path) as entries:
        names = [entry.name for entry, _ in zip(entries, range(len(LARGEST) + 1), strict=False)]
    _check_names(path, names)
    return {name: _plain_file(path, name) for name in sorted(names)}


def _plain_file(path: Path, name: str) -> bytes:
    """Not through a link, and not from a pipe that never ends."""
    if not stat.S_ISREG((path / name).lstat().st_mode):
        raise _refused(path, f"{name} is not a file")
    with open(path / name, "rb", opener=_directly) as file:
        return _limited(file, path, name)


def _directly(path: str, flags: int) -> int:
    """Should it have become a link or a pipe meanwhile; Windows has neither flag."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


# --------------------------------------------------------------------------------------------- zips


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
