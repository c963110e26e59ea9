"""JSON, JSONL and CSV in and out: validated on the way in, written atomically on the way out."""

from __future__ import annotations

import csv
import errno
import fcntl
import glob
import gzip
import io
import json
import math
import os
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NoReturn

from stereometer.errors import DataError, StereometerError

LARGEST = 1024**3
"""Bytes of a file once unpacked: no data set is near it, and a packed one may pretend."""
csv.field_size_limit(16 * 1024 * 1024)


def empty_file(path: Path) -> DataError:
    return DataError(
        f"{path} has no rows. There is nothing to measure in it. Check that it is the right file."
    )


def read_text(path: Path) -> str:
    """A plain or gzip-compressed UTF-8 file, without a byte-order mark, lines ending in \\n."""
    try:
        raw = path.read_bytes()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.GzipFile(fileobj=io.BytesIO(raw)).read(LARGEST + 1)
    except IsADirectoryError:
        message = f"{path} is a folder. A file is needed here. Name the file inside it."
        raise DataError(message) from None
    except FileNotFoundError:
        message = f"{path} does not exist. There is nothing to read. Check the path."
        raise DataError(message) from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{path} cannot be read: {error}. The file may be cut off or protected. Fetch it again."
        ) from None
    if len(raw) > LARGEST:
        raise DataError(
            f"{path} is larger than {LARGEST} bytes once unpacked. No data set is. Check that it "
            "is the right file."
        )
    if not raw.strip():
        raise DataError(
            f"{path} is empty. There is nothing to measure in it. Fetch or export it again."
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path} is not UTF-8 text (byte {error.start}). It was probably saved in another "
            "encoding. Save it as UTF-8."
        ) from None
    return text.replace("\r\n", "\n")


def parse_json(text: str, source: str) -> Any:
    """JSON without NaN, infinities or repeated keys, which would silently change a score."""
    try:
        value = json.loads(
            text,
            parse_constant=_no_constant,
            parse_float=_finite_float,
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
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{source} cannot be used: {error}. Only finite numbers and unique keys are accepted."
        ) from None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"it holds the number {name}")


def _finite_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"it holds the number {text[:20]}")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    unique = dict(pairs)
    if len(unique) != len(pairs):
        raise ValueError("an object has the same key twice")
    return unique


def read_json(path: Path) -> Any:
    return parse_json(read_text(path), str(path))


def read_jsonl(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line number and object of each line that is not blank."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            where = f"{path}, line {number}"
            yield number, _object(parse_json(line, where), where)


def _read_list(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and object of each entry of a JSON list."""
    for number, value in enumerate(read_json(path), 1):
        yield number, _object(value, f"{path}, entry {number}")


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{where} is not a JSON object. Each row is one object. Repair that row.")
    return value


def read_rows(
    path: Path, required: Iterable[str], mend: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The same of a table, of JSON lines or of a JSON list, whose entries are counted; `mend` says
    what to do where a required field is missing."""
    wanted = list(required)
    begins = read_text(path).lstrip()[:1]
    if begins not in ("{", "["):
        yield from read_table(path, wanted, mend)
        return
    for line, row in read_jsonl(path) if begins == "{" else _read_list(path):
        missing = [name for name in wanted if name not in row]
        if missing:
            raise DataError(
                f"{path}, line {line} has no {', '.join(missing)}. Its fields are "
                f"{', '.join(row)}. {mend}"
            )
        yield line, row


def read_table(
    path: Path, required: Iterable[str], mend: str = "Rename or export it again."
) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and fields of each row; commas, semicolons or tabs separate them."""
    text = read_text(path)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        header = next(reader)
        _check_header(path, header, required, mend)
        for row in reader:
            if row and len(row) != len(header):
                raise DataError(
                    f"{path}, line {reader.line_num} does not have {len(header)} fields. It is cut "
                    "off or badly quoted. Repair it."
                )
            if row:
                yield reader.line_num, dict(zip(header, row, strict=True))
    except csv.Error as error:
        raise DataError(
            f"{path}, line {reader.line_num}: {error}. It is cut off or badly quoted. Repair it."
        ) from None


def _check_header(path: Path, header: list[str], required: Iterable[str], mend: str) -> None:
    missing = [name for name in required if name not in header]
    if missing:
        columns = ", ".join(repr(name) for name in header)[:300]
        raise DataError(
            f"{path} has no column {', '.join(missing)}. Its columns are {columns}. {mend}"
        )
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise DataError(
            f"{path} has the column {twice[0]!r} twice. It is not clear which is meant. Rename or "
            "leave out one."
        )


def _delimiter(text: str) -> str:
    header = text.split("\n", 1)[0]
    return max(",;\t", key=header.count)


def finite(
    value: object,
    where: str,
    wanted: str = "Every score must be one. Repair or leave out that row.",
) -> float:
    """A finite number, or the text of one; `wanted` says what it should be and what to do."""
    if isinstance(value, str):
        with suppress(ValueError):
            value = float(value)
    with suppress(OverflowError):
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    shown = repr(value)[:60]
    raise DataError(f"{where}: {shown} is not a finite number. {wanted}")


# ------------------------------------------------------------------------------------------ writing


@contextmanager
def replacing(path: Path) -> Iterator[IO[str]]:
    """A file that appears under its name only when it is whole."""
    with _explained(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _clear_parts(path)
        handle, begun = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        fcntl.flock(handle, fcntl.LOCK_EX)  # held while it is written: nobody clears it
        name = f"{begun}.part"
        os.rename(begun, name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.chmod(name, 0o666 & ~_umask())
            os.replace(name, path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def _clear_parts(path: Path) -> None:
    """Removes what processes left of this file that were killed while writing it."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        with suppress(OSError), part.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def to_json(value: object, *, indent: int | None = 1) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)


def write_json(path: Path, value: object) -> None:
    with replacing(path) as file:
        file.write(to_json(value) + "\n")
