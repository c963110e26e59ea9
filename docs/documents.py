"""The JSON documents that commands print, collected by running them on the starter set.

So a page describes the fields that a user gets, whichever class writes them.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from stereometer.core.runs import store
from stereometer.wings.mitigation.card import Measured, MitigationCard, Perplexity, Probe

Document = Mapping[str, Any]
QUICK = ("--resamples", "100")
GROUPS = "man,woman,Black,White"
COMMENTS = [f"Bus number {number} is late." for number in range(72)]


def collect(app: Any) -> list[Document]:
    """Every document, in the order of the commands that print them."""
    with tempfile.TemporaryDirectory() as folder, _own_folders(Path(folder)):
        return [*_measured(app), *_people(app), *_studied(app), *_data(app)]


def _measured(app: Any) -> Iterator[Document]:
    for model in ("fake", "random", "ideal"):
        yield _printed(app, "run", "starter", "-m", model, "--out", model, *QUICK)
    runs = [str(next(Path(model).glob("*-cat-*"))) for model in ("fake", "random", "ideal")]
    yield _printed(app, "run", "starter", "-m", "fake", "--dry-run", "--workers", "2")
    yield _printed(app, "run", "starter", "-m", "fake", "--shard", "1/2", "--out", "parts-of-a-run")
    yield json.loads(Path("parts-of-a-run/shard-1-of-2.json").read_text("utf-8"))
    yield _printed(app, "cache", "merge", "parts-of-a-run")
    swept = ("--measure", "cat-likelihood", "--limit", "40", "--out", "swept", *QUICK)
    yield _printed(app, "sweep", "starter", "-m", "fake", "-m", "random", *swept)
    yield _printed(app, "compare", *_mitigated(runs), *QUICK)
    Path("bars.toml").write_text(
        '[[bars]]\nrequire = "lms>=0"\n\n[[bars]]\nno_worse = "lms"\nmargin = 1.0\n'
    )
    yield _printed(app, "gate", runs[0], "--bars", "bars.toml", "--against", runs[0], *QUICK)
    yield _printed(app, "ensemble", *runs[:2], "--out", "both", *QUICK)
    yield _printed(app, "relate", *runs, *QUICK)
    yield _printed(app, "analyze", "starter", "--run", runs[0], *QUICK)
    yield _printed(app, "split", "starter", "--out", "parts")
    Path("query.csv").write_text("itemLabel\nnurse\nnight nurse\n", "utf-8")
    yield _printed(app, "terms", "query.csv", "--property", "P106")
    yield _printed(app, "audit", "starter", "--run", runs[0], *QUICK)
    yield json.loads((Path(runs[0]) / "audit.json").read_text("utf-8"))
    yield json.loads((Path(runs[0]) / "run.json").read_text("utf-8"))
    yield _printed(app, "pack", "check", "abc-german")
    yield _printed(app, "published", "crows-pairs", "--model", "bert-base-uncased")
    yield _printed(app, "report", *runs, "-o", "report.html")
    yield _printed(app, "export", "csv", *runs, "-o", "tables")
    yield from _board(app, runs)
    choice = _printed(app, "ask", "starter", "-m", "fake", "--likelihood", "--out", "said", *QUICK)
    yield choice
    yield from choice["calibration"]
    _write_comments(Path("comments.csv"))
    columns = ("--column", "comment=text", "--column", "label=gold", "--size", "3")
    asked = ("--setting", "zero-shot", "--setting", "few-shot-mixed", "--repeats", "2", *columns)
    yield _printed(app, "ask", "comments.csv", "-m", "fake", *asked, "--likelihood", *QUICK)


def _mitigated(runs: list[str]) -> list[str]:
    """The first three runs as a base, a mitigation of it with a full card, and its control."""
    folders = [Path(shutil.copytree(run, Path("mitigated", Path(run).name))) for run in runs]
    results = [store.load_result(folder) for folder in folders]
    value = Measured(50.0, 48.0, 52.0, 100)
    probe, ratio = Probe(value, value, 50.0), Perplexity(20.0, 20.0, Measured(1.0, 0.9, 1.1, 100))
    card = MitigationCard(
        "leace",
        "projection",
        "fake",
        results[0].model_card["digest"],
        attribute="gender",
        domains=("gender",),
        probe=probe,
        earlier=probe,
        perplexity=ratio,
    )
    control = replace(card, method="random-projection", control_of="leace")
    for folder, result, of in zip(folders[1:], results[1:], (card, control), strict=True):
        settings = {**result.model_card["settings"], "mitigation": of.as_json()}
        changed = replace(result, model_card={**result.model_card, "settings": settings})
        store.keep(folder, changed, json.loads((folder / store.RUN).read_text("utf-8")))
    first, second, third = map(str, folders)
    return [first, second, "--control", third]


def _board(app: Any, runs: list[str]) -> Iterator[Document]:
    yield _printed(app, "board", "judge", "fake", "--hidden", "parts", "--submitter", "Ada")
    yield _printed(app, "board", "build", *runs, "-o", "site", "--hidden", "parts")
    yield _printed(app, "submit", runs[0], "-o", "bundle")
    yield _printed(app, "board", "check", "bundle", "-m", "fake", "--into", "accepted")


def _people(app: Any) -> Iterator[Document]:
    chosen = ("--groups", GROUPS, "--templates", "singular")
    run = ("run", "abc", "-m", "fake", "--measure", "ilps", *chosen, "--out", "abc", *QUICK)
    profiles = _printed(app, *run)
    yield profiles
    _write_ratings(Path("ratings.csv"), profiles["results"][0]["estimates"])
    aligned = ("align", "abc", "--ratings", "ratings.csv", "--out", "aligned", *QUICK)
    yield _printed(app, *aligned)
    crossed = (
        "--groups",
        GROUPS,
        "--templates",
        "singular",
        "--measure",
        "ilps",
        "--out",
        "crossed",
    )
    yield _printed(app, "intersect", "-m", "fake", *crossed, *QUICK)


def _studied(app: Any) -> Iterator[Document]:
    for arguments in (
        ("new", "validate-pairs", "judging"),
        ("new", "survey", "survey"),
        ("rehearse", "judging", "--people", "30"),
    ):
        _run(app, "study", *arguments)
    yield _printed(app, "study", "check", "survey")
    yield _printed(app, "study", "status", "judging/rehearsal")
    yield _printed(app, "study", "export", "judging/rehearsal", "--out", "judged")
    labels = ("judged/labels.csv", "--items", "judging/pairs.csv", "--rule", "majority")
    yield _printed(app, "aggregate", *labels, "--out", "kept")


def _data(app: Any) -> Iterator[Document]:
    yield _printed(app, "show", "starter")
    yield _printed(app, "list")
    yield _printed(app, "doctor", "-m", "fake")
    yield _printed(app, "doctor")
    Path("pairs.csv").write_text(
        ",sent_more,sent_less,stereo_antistereo,bias_type,annotations,anon_writer,anon_annotators\n"
        "0,She likes tea.,He likes tea.,stereo,gender,[],a0,[]\n",
        "utf-8",
    )
    yield _printed(app, "data", "add", "crows-pairs", "pairs.csv", "--anyway")
    yield _printed(app, "data", "where")
    yield _printed(app, "cache", "info")
    yield _printed(app, "cache", "clear")


def _printed(app: Any, *arguments: str) -> Any:
    return json.loads(_run(app, *arguments, "--json"))


def _run(app: Any, *arguments: str) -> str:
    outcome = CliRunner().invoke(app, list(arguments))
    if outcome.exit_code != 0:
        raise SystemExit(
            f"stereometer {' '.join(arguments)}: {outcome.output}{outcome.exception!r}"
        )
    return outcome.stdout


def _write_comments(path: Path) -> None:
    labels = ("cheerful", "gloomy", "neither")
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("text", "gold"))
        rows.writerows((text, labels[at % len(labels)]) for at, text in enumerate(COMMENTS))


def _write_ratings(path: Path, estimates: list[Document]) -> None:
    """Four people who do not quite agree, on every group and trait that was scored."""
    cells = [row["slice"] for row in estimates if {"group", "trait"} <= row["slice"].keys()]
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("participant", "group", "trait", "rating"))
        for at, cell in enumerate(cells):
            for person in range(4):
                rating = (at * 37 + person * 11) % 101
                rows.writerow((f"p{person}", cell["group"], cell["trait"], rating))


@contextmanager
def _own_folders(folder: Path) -> Iterator[None]:
    """No document is made with, or leaves anything in, the user's folders."""
    here, environment = Path.cwd(), dict(os.environ)
    os.environ.update(
        STEREOMETER_CACHE=str(folder / "cache"),
        STEREOMETER_DATA=str(folder / "released"),
        XDG_DATA_HOME=str(folder / "data"),
        XDG_CACHE_HOME=str(folder / "xdg"),
    )
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(environment)
