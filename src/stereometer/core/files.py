"""Text, JSON and JSONL in and out: validated on the way in, written atomically on the way out."""

from __future__ import annotations

import errno
import glob
import gzip
import io
import json
import math
import os
import stat
import tempfile
import zlib
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from shutil import rmtree
from typing import IO, TYPE_CHECKING, Any

from stereometer.core.errors import DataError, StereometerError

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

LARGEST = 1024**3
"""Bytes of a file once unpacked: no data set is near it, and a packed one may pretend."""
CHUNK = 1024**2
LARGEST_NUMBER = 1e100
LONGEST_NUMBER = 400
"""Digits of a whole number: more than any float holds."""
WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"$FL2")
"""How .xlsx, .xls and SPSS's .sav files begin."""
UTF8 = "utf-8-sig"
"""With or without a byte-order mark."""


# --------------------------------------------------------------------------------------------- text


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """The bytes of a plain or gzip-compressed file that is small enough, unpacked as they are
    read."""
    try:
        try:
            known = path.stat()
        except FileNotFoundError:
            raise DataError(f"{path} was not found. Check the path.") from None
        if stat.S_ISDIR(known.st_mode):
            raise DataError(f"{path} is a folder. A file is needed here. Name the file inside it.")
        if not stat.S_ISREG(known.st_mode):
            raise DataError(
                f"{path} is a pipe or a device. It cannot be read twice, and may never end. Save "
                "what it gives to a file, and name that."
            )
        if known.st_size > LARGEST:
            raise _too_large(path)
        with path.open("rb") as file:
            is_packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            with gzip.GzipFile(fileobj=file) if is_packed else file as content:
                start = content.read(4)
                if start in WORKBOOKS:
                    raise DataError(
                        f"{path} is a workbook, an archive or an SPSS file, not text. Tables are "
                        "read as CSV. Open it in the program that wrote it and save it as CSV "
                        "(UTF-8)."
                    )
                size = len(start)
                # Counted before anything is kept: a small packed file may unpack to any size.
                while is_packed and (chunk := content.read(CHUNK)):
                    size += len(chunk)
                    if size > LARGEST:
                        raise _too_large(path)
                content.seek(0)
                yield content
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{path} cannot be read: {error}. The file may be cut off or protected. Fetch it again."
        ) from None


def _too_large(path: Path) -> DataError:
    return DataError(
        f"{path} is larger than {LARGEST} bytes once unpacked. No data set is that large. Check "
        "that it is the right file."
    )


def read_lines(
    path: Path, encoding: str = UTF8, newline: str = "\n", digest: Hash | None = None
) -> Generator[str]:
    """The lines of a file, one at a time; they end in \\n. A digest is of what is in the file."""
    number, blank, name = 0, True, "UTF-8" if encoding == UTF8 else encoding
    with _opened(path) as file, io.TextIOWrapper(file, encoding, newline=newline) as lines:
        try:
            for line in lines:
                number, blank = number + 1, blank and not line.strip()
                if digest is not None:
                    digest.update(line.encode(encoding))
                yield line[:-2] + "\n" if line.endswith("\r\n") else line
        except UnicodeDecodeError:
            place = f" (after line {number})" if number else ""
            raise DataError(
                f"{path} is not {name} text{place}. It was probably saved in another encoding. "
                "Save it as UTF-8, or name its encoding with --encoding."
            ) from None
    if blank:
        raise DataError(
            f"{path} is empty: no text was found in it. Fetch, export or write it again."
        )


def read_text(path: Path, encoding: str = UTF8) -> str:
    """A plain or gzip-compressed text file, without a byte-order mark, lines ending in \\n."""
    return "".join(read_lines(path, encoding))


def begins_with(path: Path, encoding: str = UTF8) -> str:
    """The first character of a file that is not white space."""
    with closing(read_lines(path, encoding)) as lines:
        return next(line.lstrip()[0] for line in lines if line.strip())


def digest_of_content(path: Path) -> str:
    """The sha256 of a file's bytes, unpacked."""
    digest = sha256()
    with _opened(path) as file:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


# --------------------------------------------------------------------------------------------- JSON


def parse_json(text: str, source: str) -> Any:
    """JSON without NaN, infinities or repeated keys, which would silently change a score."""
    try:
        value = json.loads(
            text,
            parse_constant=_finite_float,
            parse_float=_finite_float,
            parse_int=_short_int,
            object_pairs_hook=_unique_keys,
        )
        if "\\ud" in text or "\\uD" in text:
            to_json(value).encode("utf-8")  # half a surrogate pair could be read but never written
        return value
    except json.JSONDecodeError as error:
        raise DataError(
            f"{source} is not valid JSON: {error.msg} at line {error.lineno}, column "
            f"{error.colno}. The file is cut off or is something else. Fetch or export it again."
        ) from None
    except RecursionError:
        raise DataError(
            f"{source} cannot be used: lists or objects are nested too deeply. No data set is "
            "like that. Check that it is the right file."
        ) from None
    except ValueError as error:
        raise DataError(
            f"{source} cannot be used: {error}. Only finite numbers and unique keys are accepted."
        ) from None


def _finite_float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"it holds the number {text[:20]}")
    return value


def _short_int(text: str) -> int:
    if len(text) > LONGEST_NUMBER:
        raise ValueError(f"it holds a number of {len(text)} digits")
    return int(text)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise ValueError("an object has the same key twice")
    return unique


def read_json(path: Path, encoding: str = UTF8) -> Any:
    return parse_json("".join(read_lines(path, encoding)), str(path))


def read_jsonl(
    path: Path, encoding: str = UTF8, digest: Hash | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and object of each line that is not blank."""
    for number, line in enumerate(read_lines(path, encoding, digest=digest), 1):
        if line.strip():
            where = f"{path}, line {number}"
            yield number, _object(parse_json(line, where), where)


def read_list(path: Path, encoding: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and object of each entry of a JSON list."""
    for number, value in enumerate(read_json(path, encoding), 1):
        yield number, _object(value, f"{path}, entry {number}")


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{where} is not a JSON object. Each row is one object. Fix that row.")
    return value


def finite(
    value: object, where: str, wanted: str = "Every score must be one. Fix or leave out that row."
) -> float:
    """A finite number, or the text of one; `wanted` says what it should be and what to do."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value)
    with suppress(OverflowError):
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return _moderate(float(value), where)
    raise DataError(f"{where}: {value!r:.60} is not a finite number. {wanted}")


def _moderate(value: float, where: str) -> float:
    """Sums and differences of larger numbers would not be finite any more."""
    if abs(value) > LARGEST_NUMBER:
        raise DataError(
            f"{where}: {value:g} is too large to compute with. No score is beyond "
            f"{LARGEST_NUMBER:g}. Fix or leave out that row."
        )
    return value


# ------------------------------------------------------------------------------------------ writing


@contextmanager
def replacing(path: Path) -> Iterator[IO[str]]:
    """A file that appears under its name only when it is whole."""
    with _explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _clear_parts(path)
        handle, name = _new_part(path)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A folder that appears under its name only when it is whole, in place of the one before; what
    a killed process left of it goes too."""
    path = path.resolve()
    part, before = (path.with_name(f".{path.name}.{end}") for end in ("part", "before"))
    with _explained(path):
        if path.exists() and not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            yield part
            if path.exists():
                path.replace(before)
            part.replace(path)
        finally:
            rmtree(part, ignore_errors=True)
            rmtree(before, ignore_errors=True)


def _new_part(path: Path) -> tuple[int, str]:
    """Locked while it is written, so that nobody clears it; one that was cleared before it could be
    locked is begun again. Windows removes no open file, locked or not."""
    from filelock import lock_descriptor  # slow to import, and a page of help writes no file

    while True:
        handle, name = tempfile.mkstemp(".part", f".{path.name}.", path.parent)
        with suppress(OSError):  # a file system without locks
            lock_descriptor(handle)
        if os.fstat(handle).st_nlink:
            return handle, name
        os.close(handle)


def _clear_parts(path: Path) -> None:
    """Removes what processes left of this file that were killed while writing it."""
    from filelock import lock_descriptor

    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError):
            with part.open("rb") as file:
                if not lock_descriptor(file.fileno(), blocking=False):
                    continue
                with suppress(PermissionError):
                    part.unlink()
            part.unlink()  # Windows: only once it is closed


def make_room(path: Path) -> None:
    """Make the folder of a file now, so that one that cannot be written fails before the work."""
    with _explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass


ERRORS = "ENOSPC EDQUOT EFBIG EROFS EACCES EPERM ENOTDIR EISDIR ENOENT EEXIST EIO ENAMETOOLONG"
UNWRITABLE = {getattr(errno, name) for name in ERRORS.split()}
"""What a place that cannot be written says; any other error is of whoever fills the file."""


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in UNWRITABLE:
            raise
        raise StereometerError(
            f"{path} cannot be written: {error.strerror or error}. The folder is read-only, full "
            "or not a folder. Choose another with --out."
        ) from None


def to_json(value: object, *, indent: int | None = 1) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)


def write_json(path: Path, value: object) -> None:
    with replacing(path) as file:
        file.write(to_json(value) + "\n")
