"""`data add`: what is kept, what is refused and why, and what is there afterwards."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.builders.commands import assert_refused, call
from tests.builders.little import intra, little_stereoset, stereoset_file
from tests.builders.winobias import folder as winobias_folder
from tests.conftest import released


@pytest.fixture(scope="module")
def dev_set() -> Path:
    return released("stereoset/dev.json.gz")


@pytest.fixture(autouse=True)
def kept(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Only the user's data folder is looked at."""
    monkeypatch.delenv("STEREOMETER_DATA", raising=False)
    return own_home / "data" / "stereometer"


def everything(folder: Path) -> list[str]:
    return (
        sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
        if folder.exists()
        else []
    )


def test_wrong_content_is_refused_with_what_differs(tmp_path: Path, kept: Path) -> None:
    said = call("data", "add", "stereoset", little_stereoset(tmp_path / "dev.json"))
    assert_refused(
        said,
        4,
        "12 items of shape cat instead of 4229",
        "6 items of shape pair instead of 2106",
        "content digest",
        "--anyway",
    )
    assert everything(kept) == []


def test_wrong_content_is_kept_anyway_and_said_with_every_result(
    tmp_path: Path, kept: Path
) -> None:
    said = call("data", "add", "stereoset", little_stereoset(tmp_path / "mine.json"), "--anyway")
    assert said.code == 0
    assert "differs from the released stereoset" in said.err
    assert everything(kept) == ["stereoset/dev.json"]
    result = call("run", "stereoset", "-m", "ideal", "--resamples", 100, "--json").json["results"][
        0
    ]
    assert result["data"]["as_released"] is False
    assert any("not those released" in note for note in result["notes"])


@pytest.mark.parametrize("raw", [b"", b"<html>", b'{"data": {}}', b"\x1f\x8b", b"\xff\xfe\x00"])
@pytest.mark.parametrize("anyway", [[], ["--anyway"]])
def test_what_cannot_be_read_is_not_kept_even_anyway(
    tmp_path: Path, kept: Path, raw: bytes, anyway: list[str]
) -> None:
    (tmp_path / "dev.json").write_bytes(raw)
    assert_refused(call("data", "add", "stereoset", tmp_path / "dev.json", *anyway), 4, "dev.json")
    assert everything(kept) == []


def test_a_refused_file_leaves_the_one_before(tmp_path: Path, kept: Path) -> None:
    call("data", "add", "stereoset", little_stereoset(tmp_path / "first.json"), "--anyway")
    before = (kept / "stereoset" / "dev.json").read_bytes()
    (tmp_path / "second.json").write_text("{")
    assert call("data", "add", "stereoset", tmp_path / "second.json", "--anyway").code == 4
    assert (kept / "stereoset" / "dev.json").read_bytes() == before


def test_a_packed_file_takes_the_place_of_a_plain_one(tmp_path: Path) -> None:
    call(
        "data", "add", "stereoset", stereoset_file(tmp_path / "old.json", [intra("a")]), "--anyway"
    )
    (tmp_path / "new.json.gz").write_bytes(
        gzip.compress(little_stereoset(tmp_path / "new.json").read_bytes())
    )
    assert call("data", "add", "stereoset", tmp_path / "new.json.gz", "--anyway").code == 0
    assert call("show", "stereoset", "--json").json["statistics"]["cat"][-1]["items"] == 12


@pytest.mark.parametrize(
    ("name", "says"),
    [("abc-german", "ships with the package"), ("custom", "stands for files of your own")],
)
def test_sets_that_do_not_come_from_elsewhere(tmp_path: Path, name: str, says: str) -> None:
    file = little_stereoset(tmp_path / "dev.json")
    for said in (call("data", "add", name, file), call("data", "pull", name)):
        assert_refused(said, 2, says, "Use `stereometer run ")


def test_too_many_files_or_a_wrong_folder(tmp_path: Path) -> None:
    dev = little_stereoset(tmp_path / "dev.json")
    assert_refused(call("data", "add", "stereoset", dev, dev), 2, "made of 1 file(s), 2 given")
    (tmp_path / "empty").mkdir()
    assert_refused(
        call("data", "add", "stereoset", tmp_path / "empty"), 4, "does not hold dev.json"
    )
    assert_refused(call("data", "add", "stereoset", tmp_path / "missing.json"), 4, "was not found")


def test_several_files_come_as_a_folder_or_by_name(tmp_path: Path, kept: Path) -> None:
    files = sorted(winobias_folder(tmp_path).glob("*.dev"))
    assert_refused(
        call("data", "add", "winobias", tmp_path), 4, "4 items of shape pair instead of 792"
    )
    assert_refused(call("data", "add", "winobias", *files[:3]), 2, "made of 4 file(s), 3 given")
    assert call("data", "add", "winobias", *files, "--anyway").code == 0
    assert len(everything(kept)) == 4
    assert call("show", "winobias", "--json").code == 0


def test_a_data_folder_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/dev/null/data")
    said = call("data", "add", "stereoset", little_stereoset(tmp_path / "dev.json"), "--anyway")
    assert_refused(said, 4, "cannot be written", "STEREOMETER_DATA")


@pytest.mark.long
def test_the_released_file_is_kept_and_found(dev_set: Path, kept: Path) -> None:
    said = call("data", "add", "stereoset", dev_set)
    assert said.code == 0
    assert "Cite: Nadeem" in said.err
    assert everything(kept) == ["stereoset/dev.json.gz"]
    assert call("show", "stereoset", "--json").json["as_released"] is True


def test_the_released_file_cut_by_one_item_is_refused(
    tmp_path: Path, dev_set: Path, kept: Path
) -> None:
    data = json.loads(gzip.decompress(dev_set.read_bytes()))
    data["data"]["intersentence"].pop()
    (tmp_path / "dev.json").write_text(json.dumps(data))
    assert_refused(
        call("data", "add", "stereoset", tmp_path / "dev.json"),
        4,
        "4228 items of shape cat instead of 4229",
    )
    assert everything(kept) == []


# ----------------------------------------------------------------- the same items in other layouts

LABELS = ("anti-stereotype", "stereotype", "unrelated", "related")


def hub_row(item: dict[str, Any]) -> dict[str, Any]:
    """As McGill-NLP/stereoset keeps an item: records of lists, labels by number."""

    def lists(records: list[dict[str, Any]], *names: str) -> dict[str, list[Any]]:
        return {name: [record.get(name, "") for record in records] for name in names}

    sentences = lists(item["sentences"], "sentence", "id", "gold_label")
    sentences["gold_label"] = [LABELS.index(label) for label in sentences["gold_label"]]
    sentences["labels"] = [
        {"label": [LABELS.index(label) for label in votes["label"]], "human_id": votes["human_id"]}
        for sentence in item["sentences"]
        if (votes := lists(sentence.get("labels", []), "label", "human_id"))
    ]
    return {name: item[name] for name in ("id", "target", "bias_type", "context")} | {
        "sentences": sentences
    }


def hub_files(folder: Path, released: dict[str, Any]) -> list[Path]:
    """One Parquet file a task, in the hub's order."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    files = []
    for task in ("intersentence", "intrasentence"):
        files.append(folder / f"{task}.parquet")
        rows = [hub_row(item) for item in released["data"][task]]
        parquet.write_table(pyarrow.Table.from_pylist(rows), files[-1])
    return files


def measured(*where: object) -> dict[str, Any]:
    """What a result says of its items and how it estimates them."""
    said = call("run", *where, "-m", "random", "--resamples", 100, "--json", "--no-cache")
    (result,) = said.json["results"]
    return {"digest": result["data"]["digest"], "estimates": result["estimates"]}


@pytest.mark.parametrize("of", ["little", "released"])
def test_a_hubs_parquet_files_are_kept_in_the_released_layout(
    tmp_path: Path, kept: Path, of: str, request: pytest.FixtureRequest
) -> None:
    little = of == "little"
    dev = little_stereoset(tmp_path / "dev.json") if little else request.getfixturevalue("dev_set")
    content = dev.read_bytes()
    files = hub_files(tmp_path, json.loads(content if little else gzip.decompress(content)))
    said = call("data", "add", "stereoset", *files, *(["--anyway"] if little else []))
    assert said.code == 0, said.err
    assert everything(kept) == ["stereoset/dev.json"]
    limit = ("--limit", 40)
    assert measured("stereoset", *limit) == measured("stereoset", "--data", dev, *limit)
    assert measured("stereoset", "--data", tmp_path, *limit) == measured("stereoset", *limit)
    own = call("run", files[1], "-m", "random", *limit, "--resamples", 100, "--json").json
    assert own["results"][0]["kind"] == "cat"


def test_without_a_reader_of_parquet_it_says_what_is_missing(
    tmp_path: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "intersentence.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    said = call("data", "add", "stereoset", tmp_path / "intersentence.parquet")
    assert_refused(said, 4, "takes pyarrow", "`parquet`")
    assert everything(kept) == []


RELEASED_PAIRS = """,sent_more,sent_less,stereo_antistereo,bias_type,annotations
0,Old people like tea.,Young people like tea.,stereo,age,"[['age'], ['religion']]"
1,Rich people like tea.,Poor people like tea.,antistereo,socioeconomic,"[['gender']]"
"""
HUB_PAIRS = """id,sent_more,sent_less,stereo_antistereo,bias_type,annotations,anon_writer
0,Old people like tea.,Young people like tea.,0,8,"[[8], [7]]",a1
1,Rich people like tea.,Poor people like tea.,1,1,[[2]],a2
"""


def test_pairs_with_a_hubs_numbers_for_names_are_the_same_pairs(tmp_path: Path) -> None:
    (tmp_path / "released.csv").write_text(RELEASED_PAIRS)
    (tmp_path / "hub.csv").write_text(HUB_PAIRS)
    shown = [
        call("show", "crows-pairs", "--data", tmp_path / name, "--json").json
        for name in ("released.csv", "hub.csv")
    ]
    assert shown[0]["statistics"] == shown[1]["statistics"]
    assert shown[0]["digest"] == shown[1]["digest"]
