"""A whole run: several benchmarks and measures, the model loaded once, every distinct request asked
once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import stereometer
from stereometer.core.runs.open import open_model
from stereometer.core.types import Answer, Request
from stereometer.models.local import checkpoint, opener
from stereometer.models.local.language_model import LanguageModel
from tests.builders.commands import call
from tests.builders.little import little_stereoset, pairs_file
from tests.builders.models.agreement import expected
from tests.builders.models.items import starter
from tests.builders.models.zoo import BACKENDS, Zoo
from tests.builders.stored import only

Answering = Callable[[Any, Mapping[str, Request]], Iterator[tuple[str, Answer]]]


def test_a_model_is_called_by_the_last_part_of_its_path_everywhere(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results, folders and cards, none of them hidden; the whole spec is kept."""
    shutil.copytree(zoo.folder("llama"), tmp_path / "my-model")
    shutil.copytree(tmp_path / "my-model", tmp_path / "other" / "my-model")
    monkeypatch.chdir(tmp_path)
    how = ("--limit", 4, "--resamples", 100, "--measure", "pair-sentence-likelihood")
    assert call("run", "starter", "-m", "./my-model/", *how, "--out", "runs").code == 0
    stored = stereometer.load("runs")
    assert (stored.model, stored.model_card["spec"]) == ("my-model", "./my-model/")
    assert only(Path("runs")).name == "starter-my-model-pair-sentence-likelihood-limit4"
    assert call("export", "model-card", "runs", "--output", "card").code == 0
    card = Path("card", "my-model-stereotypes.md").read_text("utf-8")
    assert "stereometer run starter --model ./my-model/ " in card
    two = call("run", "starter", "-m", "my-model", "-m", "other/my-model", *how, "--out", "both")
    assert two.code == 0, two.err
    assert f"{tmp_path.name}/my-model" in two.out
    assert "other/my-model" in two.out


class Counted:
    """How often models were loaded, and what they were asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.loads: list[str] = []
        self.asked: list[str] = []
        monkeypatch.setattr(opener, "load", self.loading(checkpoint.load))
        for kind in BACKENDS.values():
            monkeypatch.setattr(kind, "answer", self.counting(kind.answer))

    def loading(self, load: Callable[..., Any]) -> Callable[..., Any]:
        def counted(spec: str, *more: Any) -> Any:
            self.loads.append(spec)
            return load(spec, *more)

        return counted

    def counting(self, answer: Answering) -> Answering:
        def counted(
            model: LanguageModel, requests: Mapping[str, Request]
        ) -> Iterator[tuple[str, Answer]]:
            self.asked += requests
            return answer(model, requests)

        return counted


@pytest.mark.parametrize("model", ["bert", "gpt2", "xlnet"])
def test_the_starter_set_gives_results(zoo: Zoo, model: str, tmp_path: Path) -> None:
    results = stereometer.run(
        "starter", model=str(zoo.folder(model)), limit=24, resamples=200, out=tmp_path
    )
    assert [result.benchmark for result in results] == ["starter", "starter"]
    for result in results:
        assert result.scoring == "computed"
        assert result.model_card["digest"] == zoo.backend(model).card.digest
        assert all(one.value is not None or one.why for one in result.estimates)
    assert results[0].estimate("icat").value is not None
    assert results[1].estimate("pair_preference").value is not None


def test_several_benchmarks_and_measures_ask_each_request_once(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(monkeypatch)
    cats, pairs = little_stereoset(tmp_path / "dev.json", 3), pairs_file(tmp_path / "pairs.csv")
    measures = [
        "cat-likelihood",
        "cat-pseudo-likelihood",
        "pair-likelihood",
        "pair-modified-likelihood",
    ]
    results = stereometer.run(
        "starter",
        str(cats),
        str(pairs),
        model=str(zoo.folder("bert")),
        measure=measures,
        limit=10,
        resamples=100,
        out=tmp_path / "out",
    )
    assert [(result.benchmark, result.measure.split("@")[0]) for result in results] == [
        *(("starter", measure) for measure in measures),
        *(("custom", measure) for measure in measures[:2]),
        *(("custom", measure) for measure in measures[2:]),
    ]
    assert len(counted.loads) == 1
    assert len(counted.asked) == len(set(counted.asked)) > 50


def test_a_second_run_asks_nothing(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = stereometer.run(
        "starter", model=str(zoo.folder("gpt2")), limit=6, resamples=100, out=tmp_path / "a"
    )
    counted = Counted(monkeypatch)
    again = stereometer.run(
        "starter", model=str(zoo.folder("gpt2")), limit=6, resamples=100, out=tmp_path / "b"
    )
    assert counted.asked == []
    assert again == first


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "measure"),
    [
        ("bert", "pair-likelihood"),
        ("llama", "pair-after-change-likelihood"),
        ("xlnet", "cat-likelihood"),
    ],
)
def test_the_scores_on_disk_are_those_of_the_slow_way(
    zoo: Zoo, model: str, measure: str, tmp_path: Path
) -> None:
    stereometer.run(
        "starter",
        model=str(zoo.folder(model)),
        measure=[measure],
        limit=16,
        resamples=100,
        out=tmp_path,
    )
    lines = [
        json.loads(line) for line in (only(tmp_path) / "scores.jsonl").read_text().splitlines()
    ]
    by_id = {item.id: item for shape in ("cat", "pair") for item in starter(shape)}
    for line in lines:
        wanted = expected(zoo.reference(model), measure, "sound", by_id[line["item"]])
        if isinstance(wanted, str):
            assert line["skipped"] == wanted
        else:
            assert line["values"] == pytest.approx(
                {label: one.value for label, one in wanted.items()}, abs=1e-4
            )
    assert sum(line["skipped"] is None for line in lines) >= 4


def test_within_word_is_another_measure_by_name(zoo: Zoo, tmp_path: Path) -> None:
    (result,) = stereometer.run(
        "starter",
        model=str(zoo.folder("bert")),
        measure=["pair-likelihood"],
        limit=4,
        resamples=100,
        within_word=True,
        out=tmp_path,
    )
    assert result.measure == "pair-likelihood@1+within-word"


def edited(folder: Path, file: str, **entries: object) -> Path:
    found = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps(found | entries))
    return folder


@pytest.mark.parametrize(
    ("name", "file", "entries"),
    [
        ("gpt2", "config.json", {"n_head": 2}),
        ("bert", "config.json", {"hidden_act": "relu"}),
        ("bert", "tokenizer_config.json", {"mask_token": "[UNK]"}),
    ],
)
def test_the_same_weights_read_in_another_way_are_another_model(
    zoo: Zoo, name: str, file: str, entries: dict[str, Any], tmp_path: Path
) -> None:
    first, same, other = (
        shutil.copytree(zoo.folder(name), tmp_path / one) for one in ("first", "same", "other")
    )
    cards = [open_model(str(one)).card for one in (first, same, edited(other, file, **entries))]
    assert len({card.digest for card in cards}) == 1
    assert cards[0].identity == cards[1].identity != cards[2].identity
