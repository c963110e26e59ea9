"""Every bench runs on its smallest setting: timings mean nothing here, that the code fits does."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from bench import (
    asking,
    builds,
    causal,
    fill_in,
    house,
    masked,
    memory,
    models,
    next_sentence,
    numbers,
    replay,
    sensitivity,
    stream,
    timing,
    weights,
    workers,
)
from tokenizers import ByteLevelBPETokenizer
from transformers.models.bert import modeling_bert

from stereometer.core.runs.open import open_benchmark, open_model

pytestmark = pytest.mark.long

TINY: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
CONFIGS = {
    "BertConfig": {"intermediate_size": 64, **TINY},
    "ModernBertConfig": {"intermediate_size": 64, **TINY},
    "GPT2Config": {"n_embd": 32, "n_layer": 2, "n_head": 2},
}
WHERE = modeling_bert.__name__.partition(".")[0]
"""transformers puts another module in its own place when it first imports a model: by name, and
after that, or what is patched is not what the benches import."""
FEW = {"PAIRS": 2, "CATS": 2, "ROUNDS": 1, "PAIR_ROUNDS": 1, "LOOP_ROUNDS": 1, "PAIR_BLOCK": 2}


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Byte pairs of the starter set, as npm has GPT-2's."""
    texts = [
        text for item in open_benchmark("starter").items("cat") for text in item.texts.values()
    ]
    trained = ByteLevelBPETokenizer()
    trained.train_from_iterator(texts, vocab_size=400, special_tokens=["<|endoftext|>"])
    files = tmp_path_factory.mktemp("vocabulary")
    trained.save_model(str(files))
    (files / "vocab.json").rename(files / "encoder.json")
    (files / "merges.txt").rename(files / "vocab.bpe")
    return files


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, vocabulary: Path) -> Path:
    """Every model of the benches, of two layers; once for all tests."""
    folder = tmp_path_factory.mktemp("weights")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STEREOMETER_BENCH_CACHE", str(folder))
        patch.setattr(weights, "_npm_vocabulary", lambda: vocabulary)
        for name, sizes in CONFIGS.items():
            whole = getattr(sys.modules[WHERE], name)
            patch.setattr(f"{WHERE}.{name}", partial(whole, **sizes))
        every = (weights.bert_base(), weights.modernbert_base(), weights.gpt2_small())
    assert max(each.parameters for each in every) < 2_000_000
    return folder


@pytest.fixture(autouse=True)
def small(made: Path, vocabulary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two items, one round, models of two layers and matrices of 16."""
    for module in (asking, builds, causal, fill_in, masked, next_sentence, workers):
        for name, value in FEW.items():
            if hasattr(module, name):
                monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(timing, "SIDE", 16)
    monkeypatch.setattr(timing, "THREADS", 1)
    monkeypatch.setenv("STEREOMETER_BENCH_CACHE", str(made))
    monkeypatch.setattr(weights, "_npm_vocabulary", lambda: vocabulary)


@pytest.fixture
def gpt2() -> weights.Weights:
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


def test_causal_contests() -> None:
    assert_rows(causal.causal(models.items(), timing.Peak()))


def test_builds(gpt2: weights.Weights, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_sizes_and_hops_of_the_house(capsys: pytest.CaptureFixture[str]) -> None:
    house.main([str(Path(house.__file__).parent), "--hops"])
    figures = dict(line.split(": ", 1) for line in capsys.readouterr().out.splitlines())
    assert int(figures["class names used twice"]) < int(figures["functions"])
    assert {"run", "report", "compare", "align", "show"} <= {*figures}


def test_the_house_beside_what_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "me")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "me@example.org")
    core = tmp_path / "src" / "stereometer" / "core"
    for kind, lines in (("cats", 2), ("traits", 3)):
        (folder := core.parent / "kinds" / kind).mkdir(parents=True)
        (folder / "items.py").write_text("one = 1\n" * lines, "utf-8")
    core.mkdir()
    (core / "run.py").write_text("def run():\n    return 1\n", "utf-8")
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    (core / "other.py").write_text("class Other: ...\n", "utf-8")
    house.main([str(tmp_path / "src"), "--before", "HEAD"])
    told = capsys.readouterr().out
    assert "files: 4 (before: 3)" in told
    assert "core and the largest kind: 6 (before: 5)" in told
    assert "core and cats: 5 (before: 4)" in told


def test_numbers_are_the_same_again_under_a_map_of_names(tmp_path: Path) -> None:
    file, names = tmp_path / "kept.json", tmp_path / "names.toml"
    assert numbers.main(["keep", str(file), "--few"]) == 0
    kept = file.read_text("utf-8")
    for new, old in {
        "likelihood@1": "likelihood@9",
        '"asked"': '"n_asked"',
        "runs@": "all@",
    }.items():
        kept = kept.replace(new, old)
    file.write_text(kept, "utf-8")
    written = (
        '[names]\n"pair-likelihood@9" = "pair-likelihood@1"\n'
        '"cat-pseudo-likelihood@9" = "cat-pseudo-likelihood@1"\n'
        '"pair-sentence-likelihood@9" = "pair-sentence-likelihood@1"\n'
        '[prefixes]\n"all@" = "runs@"\n[keys]\nn_asked = "asked"\n'
    )
    for text, code in ((written, 0), (written.replace("n_asked =", "by ="), 1)):
        names.write_text(text, "utf-8")
        assert numbers.main(["check", str(file), "--few", "--names", str(names)]) == code


KEPT = numbers.reduced(
    {"case": {"rows": [{"name": "ss", "value": 1.5, "skipped": {"too long": 2}}], "notes": ["a"]}}
)


@pytest.mark.parametrize(
    ("row", "notes", "found"),
    [
        ({"value": 1.5 + 1e-10, "skipped": {"too long": 2}}, ["b"], ""),
        ({"value": 1.5 + 1e-7, "skipped": {"too long": 2}}, ["b"], "rows[ss]/value: 1.5 -> 1.5"),
        ({"value": None, "skipped": {"too long": 2}}, ["b"], "value: 1.5 -> nothing"),
        ({"value": 1.5, "skipped": {"too long": 3}}, ["b"], "too long: 2 -> 3"),
        ({"value": 1.5, "skipped": {"long": 2}}, ["b"], "skipped/long: nothing -> 2"),
        ({"value": 1.5, "skipped": {"too long": 2}}, ["b", "c"], "notes: 1 -> 2"),
        ({"value": 1.5, "skipped": {"too long": 2}, "verdict": "x"}, ["b"], "nothing -> 'x'"),
    ],
)
def test_every_change_of_a_number_is_found(
    row: dict[str, Any], notes: list[str], found: str
) -> None:
    new = numbers.reduced({"case": {"rows": [{"name": "ss"} | row], "notes": notes}})
    assert found in "\n".join(numbers.differences(KEPT, new, {}))
    assert bool(found) == bool(numbers.differences(KEPT, new, {}))


@pytest.mark.parametrize(
    ("old", "new", "names", "found"),
    [
        ({"a": {"x": 1}}, {}, {}, "a: only kept"),
        ({}, {"a": {"x": 1}}, {}, "a: only made now"),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2}}, {"keys": {"x": "y"}}, "the name of others"),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 2}}, {"drop": ["x"]}, ""),
        ({"a": {"x": 1}}, {"a": {"b": {"x": 1}}}, {"paths": {"^a/(.)": r"a/b/\1"}}, ""),
    ],
)
def test_a_map_hides_nothing_that_it_does_not_name(
    old: dict[str, Any], new: dict[str, Any], names: dict[str, Any], found: str
) -> None:
    told = numbers.differences(old, new, names)
    assert found in "\n".join(told)
    assert bool(found) == bool(told)
