"""A run to be sent to a host: scores without texts, and a manifest of digests."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from stereometer import catalog
from stereometer.errors import DataError, UsageError
from stereometer.exports.board.packed import MANIFEST, RESULT, SCORES, SIGNATURE, Files, read_files
from stereometer.exports.board.signing import sign
from stereometer.files import finite, make_room, parse_json, to_json
from stereometer.options import Option, verb
from stereometer.runs import store
from stereometer.runs.stored import Run, run_of
from stereometer.shapes.shape import Contrast
from stereometer.types import Result, Score
from stereometer.types.document import Document, typed
from stereometer.types.shown import Told

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


# ------------------------------------------------------------------------------------------ writing


@verb
def submit(
    run: Annotated[str | Path, "The folder of a run."],
    *,
    output: Annotated[
        str | Path,
        Option("The bundle: a folder, or a .zip.", flags=("--output", "-o")),
    ],
    sign: Annotated[
        str | Path | None,
        "An SSH key to sign the bundle with, by ssh-keygen.",
    ] = None,
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
    shared = replace(result, scores_digest=digest, data=_without_paths(result.data))
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


def _without_paths(data: Mapping[str, Any]) -> dict[str, Any]:
    """Folders of this machine are nobody's business."""
    return {**data, "source": Path(str(data.get("source", ""))).name}


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


# ------------------------------------------------------------------------------------------ reading


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
