"""Bundles: what leaves with a run, and what is refused on the way out."""

from __future__ import annotations

import json
import shutil
import subprocess
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest

import stereometer
from stereometer.core.errors import DataError, StereometerError, UsageError
from stereometer.wings.board.bundle import read_bundle
from stereometer.wings.board.bundle import write_bundle as submit
from stereometer.wings.board.check import check
from tests.builders.commands import assert_refused, call

needs_ssh = pytest.mark.skipif(
    shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed"
)


def test_it_holds_scores_and_digests_and_no_texts(bundle: Path, runs: Path) -> None:
    names = {"manifest.json", "result.json", "scores.jsonl"}
    assert {file.name for file in bundle.iterdir()} == names
    manifest = json.loads((bundle / "manifest.json").read_text("utf-8"))
    for name, digest in manifest["digests"].items():
        assert sha256((bundle / name).read_bytes()).hexdigest() == digest
    run = runs / "starter-fake-cat-pseudo-likelihood"
    lines = (run / "scores.jsonl").read_text("utf-8").splitlines()
    texts = [text for line in lines for text in json.loads(line)["texts"].values()]
    everything = "".join(file.read_text("utf-8") for file in bundle.iterdir())
    assert not [text for text in texts if len(text) > 20 and text in everything]
    stored = [json.loads(line)["values"] for line in lines]
    assert [dict(score.values) for score in read_bundle(bundle).scores] == stored


def test_a_zip_holds_the_same_and_is_the_same_each_time(runs: Path, tmp_path: Path) -> None:
    run = runs / "starter-fake-cat-pseudo-likelihood"
    for name in ("first.zip", "second.zip"):
        submit(run, tmp_path / name)
    assert (tmp_path / "first.zip").read_bytes() == (tmp_path / "second.zip").read_bytes()
    submit(run, tmp_path / "folder")
    assert read_bundle(tmp_path / "first.zip") == read_bundle(tmp_path / "folder")
    with zipfile.ZipFile(tmp_path / "first.zip") as archive:
        assert archive.namelist() == ["manifest.json", "result.json", "scores.jsonl"]


def test_the_folders_of_this_machine_stay_here(tmp_path: Path) -> None:
    file = tmp_path / "pairs.csv"
    rows = [f"{n},She likes tea {n}.,He likes tea {n}.,stereo,gender" for n in range(20)]
    head = "id,sent_more,sent_less,stereo_antistereo,bias_type"
    file.write_text("\n".join([head, *rows]), "utf-8")
    stereometer.run(file, model="fake", out=tmp_path / "run", resamples=100)
    submit(tmp_path / "run", tmp_path / "bundle")
    assert str(tmp_path) not in (tmp_path / "bundle" / "result.json").read_text("utf-8")
    with pytest.raises(UsageError, match="--data"):
        check(tmp_path / "bundle")
    assert check(tmp_path / "bundle", data=file).tier == "reported"


def test_hidden_items_are_not_handed_out(tmp_path: Path) -> None:
    stereometer.split("starter", out=tmp_path / "parts")
    part = tmp_path / "parts" / "test-cat.json"
    stereometer.run(part, model="fake", out=tmp_path / "run", resamples=100)
    with pytest.raises(UsageError, match="hidden"):
        submit(tmp_path / "run", tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


@pytest.mark.long
def test_a_kind_that_cannot_be_counted_anew_is_refused(every: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be submitted"):
        submit(every / "asked", tmp_path / "bundle")


def test_a_bundle_is_written_once(bundle: Path, runs: Path) -> None:
    run = runs / "starter-fake-cat-pseudo-likelihood"
    with pytest.raises(UsageError, match="written once"):
        submit(run, bundle)
    assert_refused(call("submit", run, "-o", bundle), 2, "written once")


# --------------------------------------------------------------------------------------- signatures


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)]
    subprocess.run(made, check=True)
    return path


def allowed(key: Path, who: str = "ada@example.org") -> Path:
    public = key.with_suffix(".pub").read_text("utf-8")
    file = key.with_name(f"{key.name}-signers")
    file.write_text(f"{who} {public}", "utf-8")
    return file


@pytest.mark.long
@needs_ssh
def test_a_signature_says_who_submitted(runs: Path, key: Path, tmp_path: Path) -> None:
    run = runs / "starter-fake-cat-pseudo-likelihood"
    submit(run, tmp_path / "bundle.zip", key)
    assert check(tmp_path / "bundle.zip", signers=allowed(key)).signer == "ada@example.org"
    nobody_vouches = check(tmp_path / "bundle.zip").signer
    assert nobody_vouches is not None
    assert nobody_vouches.startswith("SHA256:")
    said = call("board", "check", tmp_path / "bundle.zip", "--signers", allowed(key))
    assert "Signed by ada@example.org" in said.err


@needs_ssh
def test_a_signature_of_other_bytes_is_refused(runs: Path, key: Path, tmp_path: Path) -> None:
    submit(runs / "starter-fake-cat-pseudo-likelihood", tmp_path / "ours", key)
    submit(runs / "starter-ideal-cat-pseudo-likelihood", tmp_path / "theirs")
    shutil.copy(tmp_path / "ours" / "manifest.json.sig", tmp_path / "theirs")
    for signers in (None, allowed(key)):
        with pytest.raises(DataError, match="not of this manifest"):
            check(tmp_path / "theirs", signers=signers)
    (tmp_path / "theirs" / "manifest.json.sig").write_bytes(b"-----BEGIN SSH SIGNATURE-----\n\x00")
    with pytest.raises(DataError):
        check(tmp_path / "theirs")


@needs_ssh
def test_where_signers_are_named_nobody_else_may_submit(
    runs: Path, bundle: Path, key: Path, tmp_path: Path
) -> None:
    submit(runs / "starter-fake-cat-pseudo-likelihood", tmp_path / "bundle", key)
    other = tmp_path / "other"
    made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(other)]
    subprocess.run(made, check=True)
    with pytest.raises(DataError, match="Nobody in"):
        check(tmp_path / "bundle", signers=allowed(other))
    with pytest.raises(DataError, match="not signed"):
        check(bundle, signers=allowed(key))


@needs_ssh
def test_a_key_that_cannot_be_read_is_named(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(StereometerError, match="cannot be signed"):
        submit(
            runs / "starter-fake-cat-pseudo-likelihood", tmp_path / "bundle", tmp_path / "no-key"
        )
