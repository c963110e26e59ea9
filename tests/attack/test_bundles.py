"""Bundles from strangers: bombs, links, pipes, odd names and noise are refused in a sentence."""

from __future__ import annotations

import json
import os
import struct
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stereometer
from stereometer.core.errors import DataError, StereometerError
from stereometer.wings.board import bundle
from stereometer.wings.board.bundle import LARGEST, read_files
from stereometer.wings.board.bundle import write_bundle as submit
from stereometer.wings.board.check import check
from tests.builders.bundles import forged

EXAMPLES = 40
few = settings(max_examples=EXAMPLES, suppress_health_check=[*HealthCheck])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("bundle")
    stereometer.run(
        "starter",
        model="fake",
        measure="pair-likelihood",
        resamples=100,
        out=home / "run",
        cache=False,
    )
    submit(home / "run", home / "bundle")
    return home / "bundle"


@pytest.fixture(scope="module")
def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def zipped(path: Path, files: dict[str, bytes], kind: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", kind) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_the_bundle_itself_is_fine(files: dict[str, bytes], tmp_path: Path) -> None:
    assert read_files(zipped(tmp_path / "bundle.zip", files)) == files


# ---------------------------------------------------------------------------------- names and links


@pytest.mark.parametrize(
    "name",
    [
        "../evil.txt",
        "/etc/cron.d/evil",
        "..\\evil.txt",
        "C:\\evil.txt",
        "inner/result.json",
        "result.json/",
        "RESULT.JSON",
        "__init__.py",
        "setup.py",
        "checks.jsonl",
        "\u202egnp.json",
        "a" * 5000,
    ],
)
def test_a_name_that_no_bundle_has_is_refused(
    files: dict[str, bytes], tmp_path: Path, name: str
) -> None:
    before = sorted(tmp_path.parent.rglob("*"))
    path = zipped(tmp_path / "bundle.zip", {**files, name: b"import os"})
    with pytest.raises(DataError, match="is not a bundle"):
        read_files(path)
    assert sorted(tmp_path.parent.rglob("*")) == sorted([*before, path])


def test_a_link_in_a_folder_is_not_followed(files: dict[str, bytes], tmp_path: Path) -> None:
    bundle, secret = tmp_path / "bundle", tmp_path / "secret"
    bundle.mkdir()
    for name, content in files.items():
        (bundle / name).write_bytes(content)
    secret.write_bytes(files["scores.jsonl"])
    (bundle / "scores.jsonl").unlink()
    (bundle / "scores.jsonl").symlink_to(secret)
    with pytest.raises(DataError, match="is not a bundle"):
        read_files(bundle)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir], ids=["pipe", "folder"])
def test_a_pipe_or_a_folder_in_place_of_a_file_is_refused(
    files: dict[str, bytes], tmp_path: Path, make: Callable[[Path], None]
) -> None:
    for name in ("manifest.json", "result.json"):
        (tmp_path / name).write_bytes(files[name])
    make(tmp_path / "scores.jsonl")
    with pytest.raises(DataError, match="is not a bundle"):
        read_files(tmp_path)


def test_a_pipe_in_place_of_a_bundle_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "bundle.zip")
    with pytest.raises(DataError, match="neither a folder nor a file"):
        read_files(tmp_path / "bundle.zip")


def test_a_link_in_a_zip_is_refused(files: dict[str, bytes], tmp_path: Path) -> None:
    path = tmp_path / "bundle.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o120777 if name == "scores.jsonl" else 0o100644) << 16
            archive.writestr(entry, content)
    with pytest.raises(DataError, match="link"):
        read_files(path)


def test_a_folder_of_a_million_files_is_not_listed(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / str(number)).touch()
    with pytest.raises(DataError, match="is not a bundle"):
        read_files(tmp_path)


# -------------------------------------------------------------------------------------------- bombs


def test_a_bomb_is_refused_before_it_goes_off(
    files: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two hundred megabytes of zeros in 200 kB, and an entry that lies about its size."""
    held: list[int] = []
    limited = bundle._limited

    def counted(file: Any, path: Path, name: str) -> bytes:
        read = file.read

        def noted(size: int) -> bytes:
            held.append(size)
            return bytes(read(size))

        file.read = noted
        return limited(file, path, name)

    monkeypatch.setattr(bundle, "_limited", counted)
    bomb = zipped(tmp_path / "bomb.zip", {**files, "scores.jsonl": bytes(200 * 1024**2)})
    assert bomb.stat().st_size < 400_000
    with pytest.raises(DataError, match="is larger than"):
        read_files(bomb)
    assert max(held) <= max(LARGEST.values()) + 1


def test_an_entry_that_lies_about_its_size_is_refused(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    path = zipped(tmp_path / "bundle.zip", files)
    content = bytearray(path.read_bytes())
    size = struct.pack("<L", len(files["scores.jsonl"]))
    at = content.rfind(size)
    content[at : at + 4] = struct.pack("<L", 10)
    path.write_bytes(bytes(content))
    with pytest.raises(DataError):
        read_files(path)


def test_a_directory_of_many_entries_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zipped(tmp_path / "many.zip", {str(number): b"" for number in range(5000)})
    monkeypatch.setattr(zipfile, "ZipFile", pytest.fail)
    with pytest.raises(DataError, match="directory"):
        read_files(path)


@pytest.mark.parametrize("end", [b"comment", b"PK\x05\x06" + bytes(17)])
def test_a_zip_with_something_behind_it_is_refused(
    files: dict[str, bytes], tmp_path: Path, end: bytes
) -> None:
    path = zipped(tmp_path / "bundle.zip", files)
    path.write_bytes(path.read_bytes() + end)
    with pytest.raises(DataError, match="is not a bundle"):
        read_files(path)


def test_an_entry_twice_encrypted_or_oddly_packed_is_refused(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    twice = zipped(tmp_path / "twice.zip", {**files, "result.jsox": b"{}"})
    twice.write_bytes(twice.read_bytes().replace(b"result.jsox", b"result.json"))
    odd = zipped(tmp_path / "odd.zip", files, zipfile.ZIP_BZIP2)
    for path in (twice, odd):
        with pytest.raises(DataError, match="is not a bundle"):
            read_files(path)


# ------------------------------------------------------------------------------------------ content


def test_names_that_lead_to_files_of_the_host_are_refused(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "private.csv"
    file.write_text("id,sent_more,sent_less,stereo_antistereo,bias_type\n", "utf-8")

    def pointing(result: dict[str, Any], scores: object) -> None:
        result["benchmark"] = str(file)

    with pytest.raises(DataError, match="knows no such benchmark"):
        check(forged(folder, tmp_path / "pointing", pointing))


@pytest.mark.parametrize("value", [1e308, -1e300, float("nan"), float("inf"), "1", None, True])
def test_a_score_that_is_no_moderate_number_is_refused(
    folder: Path, tmp_path: Path, value: object
) -> None:
    def odd(result: object, scores: list[dict[str, Any]]) -> None:
        scores[3]["values"]["sent_more"] = value

    with pytest.raises(DataError):
        check(forged(folder, tmp_path / "odd", odd))


def test_texts_and_answers_do_not_come_in(folder: Path, tmp_path: Path) -> None:
    def texts(result: object, scores: list[dict[str, Any]]) -> None:
        scores[0]["texts"] = {"context": "A text."}

    def answers(result: object, scores: list[dict[str, Any]]) -> None:
        scores[0]["answers"] = [{"text": "A text."}]

    for number, change in enumerate((texts, answers)):
        with pytest.raises(DataError, match="holds texts"):
            check(forged(folder, tmp_path / str(number), change))


@pytest.mark.parametrize("name", ["\x1b[2J", "", "x" * 300, "two\nlines"])
def test_a_name_that_is_none_is_refused(folder: Path, tmp_path: Path, name: str) -> None:
    def named(result: dict[str, Any], scores: object) -> None:
        result["model"] = name

    with pytest.raises(DataError, match="an invalid name"):
        check(forged(folder, tmp_path / "named", named))


@pytest.mark.parametrize("limit", [0, -3, 10**30])
def test_a_limit_that_is_none_is_refused_or_all(folder: Path, tmp_path: Path, limit: int) -> None:
    def limited(result: dict[str, Any], scores: object) -> None:
        result["settings"]["limit"] = limit

    path = forged(folder, tmp_path / "limited", limited)
    if limit < 1:
        with pytest.raises(DataError, match="nothing to count"):
            check(path)
    else:
        assert check(path).tier == "reported"


# -------------------------------------------------------------------------------------------- noise


@few
@given(data=st.data())
def test_a_zip_with_flipped_bytes_is_whole_or_refused(
    files: dict[str, bytes], tmp_path: Path, data: st.DataObject
) -> None:
    path = zipped(tmp_path / "noise.zip", files)
    content = bytearray(path.read_bytes())
    for at in data.draw(st.lists(st.integers(0, len(content) - 1), min_size=1, max_size=8)):
        content[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.none() | st.integers(1, len(content)))
    path.write_bytes(bytes(content[:cut]))
    with suppress(DataError):
        assert read_files(path).keys() <= LARGEST.keys()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner),
    max_leaves=12,
)


@few
@given(data=st.data())
def test_any_field_may_be_anything_without_a_traceback(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A field of the manifest, the result or a score is replaced by any JSON."""
    place = tmp_path_factory.mktemp("noise") / "bundle"
    value = data.draw(JSON)

    def noise(result: dict[str, Any], scores: list[dict[str, Any]]) -> None:
        target = data.draw(
            st.sampled_from(
                [scores[0], scores[0]["values"], result["estimates"][0], scores[1]["slices"]]
            )
        )
        target[data.draw(st.sampled_from(sorted(target)) | st.text(max_size=5))] = value

    try:
        forged(folder, place, noise)
    except (TypeError, ValueError, KeyError, AttributeError):
        return  # no longer a result that a manifest could be written for
    manifest = json.loads((place / "manifest.json").read_text("utf-8"))
    if data.draw(st.booleans()):
        manifest[data.draw(st.sampled_from(sorted(manifest)))] = value
        (place / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with suppress(StereometerError):
        check(place)


def test_a_bundle_that_is_not_there_is_not_called_broken(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere.zip does not exist\. .* Check the path\."):
        read_files(tmp_path / "nowhere.zip")
