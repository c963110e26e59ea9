"""Every bench runs on its smallest setting: timings mean nothing here, that the code fits does."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import transformers
from bench import (
    asking,
    builds,
    causal,
    fill_in,
    masked,
    memory,
    models,
    next_sentence,
    replay,
    sensitivity,
    stream,
    timing,
    weights,
    workers,
)

from stereometer.runs.open import open_benchmark, open_model

pytestmark = pytest.mark.long

TINY: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
FEW = {"PAIRS": 2, "CATS": 2, "ROUNDS": 1, "PAIR_ROUNDS": 1, "LOOP_ROUNDS": 1, "PAIR_BLOCK": 2}


@pytest.fixture(autouse=True)
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two items, one round, models of two layers and matrices of 16."""
    for module in (asking, builds, causal, fill_in, masked, next_sentence, workers):
        for name, value in FEW.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(timing, "SIDE", 16)
    monkeypatch.setattr(timing, "THREADS", 1)
    monkeypatch.setenv("STEREOMETER_BENCH_CACHE", str(tmp_path))
    bert = partial(transformers.BertConfig, intermediate_size=64, **TINY)
    monkeypatch.setattr(transformers, "BertConfig", bert)


@pytest.fixture
def gpt2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> weights.Weights:
    """A GPT-2 of two layers with a byte-level vocabulary of its own."""
    from tokenizers import ByteLevelBPETokenizer

    texts = [
        text for item in open_benchmark("starter").items("cat") for text in item.texts.values()
    ]
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(texts, vocab_size=400, special_tokens=["<|endoftext|>"])
    files = tmp_path / "vocabulary"
    files.mkdir()
    trained.save_model(str(files))
    (files / "vocab.json").rename(files / "encoder.json")
    (files / "merges.txt").rename(files / "vocab.bpe")
    small_config = partial(transformers.GPT2Config, n_embd=32, n_layer=2, n_head=2)
    monkeypatch.setattr(transformers, "GPT2Config", small_config)
    monkeypatch.setattr(weights, "_npm_vocabulary", lambda: files)
    return weights.gpt2_small()


def assert_rows(rows: Any) -> None:
    listed = list(rows)
    assert listed
    for row in listed:
        assert row["what"]
        assert row["value"] is None or row["value"] >= 0


def test_masked_contests() -> None:
    peak = timing.Peak()
    assert_rows(masked.masked(models.items(), peak))
    assert_rows(fill_in.fill_in(models.items(), peak))


def test_causal_contests(gpt2: weights.Weights) -> None:
    assert_rows(causal.causal(models.items(), timing.Peak()))


def test_builds(gpt2: weights.Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    modernbert = partial(transformers.ModernBertConfig, intermediate_size=64, **TINY)
    monkeypatch.setattr(transformers, "ModernBertConfig", modernbert)
    monkeypatch.setattr(builds, "smollm2_folder", lambda: gpt2.folder)
    assert_rows(builds.builds(models.items(), timing.Peak()))


def test_workers_against_threads() -> None:
    assert_rows(workers.measure())


def test_states_of_sentence_pairs(gpt2: weights.Weights) -> None:
    items = [
        item
        for item in open_benchmark("starter").items("cat")
        if item.slices["task"] == "intersentence"
    ]
    for folder in (gpt2.folder, weights.bert_base().folder):
        assert_rows(next_sentence._rows(str(folder), items[:2], timing.Peak()))


def test_asking(gpt2: weights.Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PROMPTS", 4)
    monkeypatch.setattr(asking, "REQUESTS", 4)
    monkeypatch.setattr(
        asking,
        "open_model",
        lambda name, *more: open_model(str(gpt2.folder) if name == "smollm2-135m" else name, *more),
    )
    assert_rows(asking.measure())


def test_memory_of_scoring(capsys: pytest.CaptureFixture[str]) -> None:
    memory.main(str(weights.bert_base().folder), 2)
    assert '"tokens"' in capsys.readouterr().out


def test_generated_items(tmp_path: Path) -> None:
    assert stream._run(tmp_path, 40)["wall"] > 0
    assert replay._generated(tmp_path, 40)["wall"] > 0


def test_sensitivity(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"VOCABULARY": 200, "HIDDEN": 16, "ADJECTIVES": 4, "ROUNDS": 1}.items():
        monkeypatch.setattr(sensitivity, name, value)
    monkeypatch.setattr(sensitivity, "full_grid", list)
    assert_rows(sensitivity.measure())
