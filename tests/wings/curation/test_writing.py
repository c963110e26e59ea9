"""Files appear whole or not at all."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from stereometer.core.errors import StereometerError
from stereometer.core.files import read_json, replacing, to_json, write_json
from tests.strategies import JSON, MODERATE


@settings(
    MODERATE, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(JSON)
def test_what_is_written_is_read_back(tmp_path: Path, value: Any) -> None:
    write_json(tmp_path / "file.json", value)
    assert read_json(tmp_path / "file.json") == value


def test_folders_are_made_on_the_way(tmp_path: Path) -> None:
    write_json(tmp_path / "a" / "b" / "file.json", [1])
    assert read_json(tmp_path / "a" / "b" / "file.json") == [1]


def test_a_line_is_one_line(tmp_path: Path) -> None:
    with replacing(tmp_path / "file") as file:
        file.write(to_json({"text": "two\nlines\u2028é"}, indent=None) + "\n")
    assert (tmp_path / "file").read_bytes() == '{"text": "two\\nlines\u2028é"}\n'.encode()


def write_half(path: Path, failure: type[BaseException]) -> None:
    with replacing(path) as file:
        file.write("half of the n")
        raise failure


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt])
def test_a_failure_in_the_middle_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, failure: type[BaseException]
) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(failure):
        write_half(path, failure)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_value_that_json_cannot_hold_leaves_the_old_file(tmp_path: Path) -> None:
    write_json(tmp_path / "file", {"a": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "file", {"a": float("nan")})
    assert read_json(tmp_path / "file") == {"a": 1}
    assert os.listdir(tmp_path) == ["file"]


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    write_json(tmp_path / "file", "old")
    with replacing(tmp_path / "file") as file:
        file.write('"n')
        file.flush()
        assert read_json(tmp_path / "file") == "old"
        file.write('ew"')
    assert read_json(tmp_path / "file") == "new"


def test_who_is_reading_the_old_file_goes_on_reading_it(tmp_path: Path) -> None:
    """The new file takes the old one's name, not its place on the disk."""
    write_json(tmp_path / "file", "old")
    with (tmp_path / "file").open() as reader:
        write_json(tmp_path / "file", "new")
        assert reader.read() == '"old"\n'


def test_a_kill_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    write_json(tmp_path / "file", "old")
    code = (
        "import os, signal; from pathlib import Path\n"
        "from stereometer.core.files import replacing\n"
        f"with replacing(Path({str(tmp_path / 'file')!r})) as file:\n"
        "    file.write('half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert read_json(tmp_path / "file") == "old"


def test_a_file_has_the_rights_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_json(tmp_path / "file", 1)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


@pytest.mark.parametrize("place", ["/dev/null/x/file", "/proc/file"])
def test_a_place_that_cannot_be_written_is_said(place: str) -> None:
    with pytest.raises(StereometerError, match=f"{place} cannot be written: .*--out"):
        write_json(Path(place), 1)


def test_a_failure_of_the_source_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConnectionError), replacing(tmp_path / "file"):
        raise ConnectionError("the server hung up")


def test_json_is_written_the_same_every_time_and_readable() -> None:
    value = {"b": 1, "a": [0.1, "é"]}
    assert to_json(value) == to_json(value) == json.dumps(value, indent=1, ensure_ascii=False)
