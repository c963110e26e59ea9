"""What is asked of a tokenizer and of the weights: leading space, case, first token, window,
digests. Nothing depends on a name."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

import stereometer
from stereometer.core.runs.cache import Cache
from stereometer.core.runs.runner import Serial, Tally, computed
from stereometer.core.types import Asking, Skip
from stereometer.kinds.pairs.items import Pair
from stereometer.models.local.checkpoint import LoadingOptions, load
from stereometer.models.local.files import tokenizer_digest, weights_digest
from stereometer.models.local.masked import Masked
from stereometer.models.local.tokens import Tokens, canaries
from tests.builders.models import items
from tests.builders.models.agreement import assert_agree, bound, family, rows, slow
from tests.builders.models.builders import POSITIONS, build
from tests.builders.models.vocabularies import VOCABULARIES, minilm_folder
from tests.builders.models.zoo import Zoo

QUICK: dict[str, Any] = {"resamples": 100, "cache": False}


@cache
def tokens(name: str, causal: bool = False) -> Tokens:
    return Tokens(VOCABULARIES[name].make(), causal, 10**6)


def pieces(found: Tokens, text: str) -> list[str]:
    return list(found.tokenizer.convert_ids_to_tokens(list(found.encode(text).ids)))


# ------------------------------------------------------------------------------------------ reading


@pytest.mark.parametrize(
    ("name", "space"),
    [
        ("wordpiece-uncased", False),
        ("wordpiece-cased", False),
        ("real-bert", False),
        ("byte-level", True),
        ("byte-level-space", False),
        ("unigram", False),
    ],
)
def test_whether_the_leading_space_decides_the_token_is_asked_of_the_tokenizer(
    name: str, space: bool
) -> None:
    assert tokens(name).leading_space is space


@pytest.mark.parametrize(
    ("name", "cased"),
    [
        ("wordpiece-uncased", False),
        ("real-bert", False),
        ("wordpiece-cased", True),
        ("byte-level", True),
        ("unigram", True),
    ],
)
def test_so_is_case(name: str, cased: bool) -> None:
    assert tokens(name).cased is cased


def test_a_tokenizer_of_single_letters_has_no_leading_space() -> None:
    letters = {
        piece: number
        for number, piece in enumerate(
            [
                "[UNK]",
                *"abcdefghijklmnopqrstuvwxyz",
                *(f"##{one}" for one in "abcdefghijklmnopqrstuvwxyz"),
            ]
        )
    }
    found = Tokenizer(models.WordPiece(letters, unk_token="[UNK]"))
    found.normalizer, found.pre_tokenizer = (
        normalizers.BertNormalizer(),
        pre_tokenizers.BertPreTokenizer(),
    )
    assert (
        Tokens(
            PreTrainedTokenizerFast(tokenizer_object=found, unk_token="[UNK]"), False, 99
        ).leading_space
        is False
    )


def test_the_space_before_a_filler_is_that_before_the_blank(zoo: Zoo) -> None:
    backend = zoo.backend("roberta")
    measure = bound("cat-likelihood", "sound", backend)
    inside, first, glued = (
        measure.plan(item)["stereotype"][0]
        for item in (
            items.intra("a", "A BLANK cook.", "the", "a", "he"),
            items.intra("b", "BLANK cook.", "the", "a", "he"),
            items.intra("c", "A (BLANK) cook.", "the", "a", "he"),
        )
    )
    scored = [
        [backend.checkpoint.tokenizer.convert_ids_to_tokens(one.ids[at]) for _, at in one.steps]
        for one in (inside, first, glued)
    ]
    assert scored[0] == ["Ġthe"]
    assert scored[1] == scored[2]
    assert "".join(scored[1]) == "the"


def test_the_released_way_encodes_a_filler_without_its_space(zoo: Zoo) -> None:
    backend = zoo.backend("roberta")
    plan = bound("cat-likelihood", "paper", backend).plan(
        items.intra("a", "A BLANK cook.", "the", "a", "he")
    )
    revealed = [request.ids[request.steps[0][1]] for request in plan["stereotype"]]
    assert "".join(backend.checkpoint.tokenizer.convert_ids_to_tokens(revealed)) == "the"


@pytest.mark.parametrize(
    ("name", "first", "says"),
    [
        ("adds-bos", "<bos>", "the tokenizer adds <bos>"),
        ("adds-both", "<bos>", "the tokenizer adds <bos>"),
        ("has-bos", "<|endoftext|>", "<|endoftext|> (bos_token) is put first"),
        ("has-eos", "<|end|>", "<|end|> (eos_token) is put first"),
        ("has-neither", None, "none: the first token of a text is not scored"),
    ],
)
def test_what_stands_before_a_causal_text_is_derived_and_recorded(
    name: str, first: str | None, says: str
) -> None:
    found = tokens(name, causal=True)
    assert found.settings["first_token"] == says
    plain = found.tokenizer.tokenize("The cook left.")
    assert pieces(found, "The cook left.") == ([first] if first else []) + plain
    assert found.encode("The cook left.").words[0] == (None if first else 0)


def test_a_first_token_stands_once_and_no_end_is_scored() -> None:
    found = pieces(tokens("adds-both", causal=True), "The cook left.")
    assert found.count("<bos>") == 1
    assert "<eos>" not in found


def test_an_empty_causal_text_is_its_first_token() -> None:
    assert pieces(tokens("has-bos", causal=True), "") == ["<|endoftext|>"]
    assert pieces(tokens("adds-both", causal=True), "") == ["<bos>"]
    assert pieces(tokens("has-neither", causal=True), "") == []


# ----------------------------------------------------------------------------------------- canaries


def test_a_tokenizer_without_a_space_before_the_first_word_is_told_apart() -> None:
    assert any("64.1" in warning for warning in list(canaries(tokens("byte-level"))))


def test_a_tokenizer_with_a_space_before_the_first_word_is_told_apart() -> None:
    assert any(
        "puts a space before the first word" in warning
        for warning in list(canaries(tokens("byte-level-space")))
    )


def test_a_tokenizer_that_keeps_combining_marks_is_told_apart() -> None:
    assert any("normalise accents" in warning for warning in list(canaries(tokens("byte-level"))))
    assert list(canaries(tokens("real-bert"))) == []
    assert list(canaries(tokens("unigram"))) == []


# ------------------------------------------------------------------------------------------- window


def text_of(backend: Any, length: int) -> str:
    """A text of exactly so many tokens, special ones included."""
    text = "The"
    while len(backend.tokens.tokenizer(text)["input_ids"]) < length:
        text += " the"
    assert len(backend.tokens.tokenizer(text)["input_ids"]) == length
    return text


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("bert", POSITIONS),
        ("roberta", POSITIONS - 2),
        ("xlm-roberta", POSITIONS - 2),
        ("gpt2", POSITIONS),
        ("llama", POSITIONS),
    ],
)
def test_the_window_is_what_the_positions_allow(zoo: Zoo, model: str, window: int) -> None:
    assert zoo.backend(model).tokens.window == zoo.backend(model).card.settings["window"] == window


def test_a_tokenizer_can_say_less(zoo: Zoo, tmp_path: Path) -> None:
    folder = tmp_path / "short"
    shutil.copytree(zoo.folder("bert"), folder)
    tokenizer = load(str(folder)).tokenizer
    tokenizer.model_max_length = 40
    tokenizer.save_pretrained(folder)
    assert Masked(load(str(folder))).tokens.window == 40


@pytest.mark.parametrize("model", ["bert", "roberta", "albert", "xlm-roberta"])
def test_a_text_that_fills_the_window_is_scored_and_one_token_more_is_not(
    zoo: Zoo, model: str
) -> None:
    backend = zoo.backend(model)
    full = text_of(backend, backend.tokens.window)
    pair = Pair("full", full, full[:-3] + "a", "x")
    assert_agree("pair-modified-likelihood", "sound", backend, zoo.reference(model), [pair])
    with pytest.raises(Skip, match="longer than the model's window"):
        backend.encode(f"{full} the")


def test_texts_too_long_are_counted_with_their_reason(zoo: Zoo, tmp_path: Path) -> None:
    long = "very " * POSITIONS
    file = tmp_path / "pairs.csv"
    lines = ["sent_more,sent_less,bias_type", f"The {long}loud cook.,The {long}shy cook.,x"]
    file.write_text(
        "\n".join([*lines, *(f"The loud cook {n}.,The shy cook {n}.,x" for n in range(9))])
    )
    (result,) = stereometer.run(str(file), model=str(zoo.folder("bert")), **QUICK)
    one = result.estimate("pair_preference")
    assert (one.n, one.asked) == (9, 10)
    assert one.skipped == {"longer than the model's window": 1}


def test_a_filler_that_grows_a_text_beyond_the_window_is_skipped(zoo: Zoo) -> None:
    backend = zoo.backend("bert")
    context = text_of(backend, backend.tokens.window - 3).replace("The the", "The BLANK", 1)
    item = items.intra("long", context, "loud", items.TEN_PIECES, "shy")
    assert_agree("cat-likelihood", "paper", backend, zoo.reference("bert"), [item])


# ------------------------------------------------------------------------------------------ digests


def changed(folder: Path, to: Path) -> Path:
    """A copy of a model in which one number is another."""
    shutil.copytree(folder, to)
    tensors = load_file(to / "model.safetensors")
    tensors["bert.embeddings.LayerNorm.weight"][0] += 1e-3
    save_file(tensors, to / "model.safetensors", metadata={"format": "pt"})
    return to


def test_the_same_weights_in_other_files_have_the_same_digest(zoo: Zoo, tmp_path: Path) -> None:
    found = zoo.checkpoint("bert")
    found.model.save_pretrained(tmp_path / "parts", max_shard_size="60KB")
    found.tokenizer.save_pretrained(tmp_path / "parts")
    assert len(list((tmp_path / "parts").glob("model-*.safetensors"))) > 1
    again = Masked(load(str(tmp_path / "parts"))).card
    assert again.name != Masked(found).card.name
    assert (again.digest, again.identity) == (
        Masked(found).card.digest,
        Masked(found).card.identity,
    )


def test_one_changed_weight_is_another_digest(zoo: Zoo, tmp_path: Path) -> None:
    other = load(str(changed(zoo.folder("bert"), tmp_path / "other")))
    assert weights_digest(other.model) != weights_digest(zoo.checkpoint("bert").model)


def test_the_same_seed_is_the_same_model(zoo: Zoo, tmp_path: Path) -> None:
    again = load(str(build("bert", tmp_path / "again")))
    assert weights_digest(again.model) == weights_digest(zoo.checkpoint("bert").model)


def test_a_weight_that_is_a_single_number_has_a_digest() -> None:
    assert weights_digest(torch.nn.ParameterDict({"scale": torch.nn.Parameter(torch.tensor(2.0))}))


def test_another_precision_is_another_identity(zoo: Zoo) -> None:
    assert zoo.backend("bert", dtype="bfloat16").card.identity != zoo.backend("bert").card.identity


def test_another_tokenizer_is_another_identity(zoo: Zoo, tmp_path: Path) -> None:
    folder = tmp_path / "cased"
    shutil.copytree(zoo.folder("bert"), folder)
    load(str(zoo.folder("distilbert"))).tokenizer.save_pretrained(folder)
    assert Masked(load(str(folder))).card.identity != zoo.backend("bert").card.identity


def test_reading_a_text_does_not_change_the_digest_of_the_tokenizer() -> None:
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(minilm_folder() / "tokenizer.json"), pad_token="[PAD]"
    )
    before = tokenizer_digest(tokenizer)
    tokenizer("The cook left.")
    assert tokenizer_digest(tokenizer) == before


def test_a_tokenizer_file_that_asks_for_truncation_and_padding_gets_neither() -> None:
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=str(minilm_folder() / "tokenizer.json"), pad_token="[PAD]"
    )
    found = Tokens(tokenizer, False, 10**6)
    assert len(found.encode("cook " * 300).ids) == 302
    assert len(found.encode("cook").ids) == 3


def test_answers_of_another_revision_of_the_weights_are_not_used(zoo: Zoo, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(zoo.folder("bert"), folder)
    some = items.starter("pair")[:3]
    values, kept = [], []
    with Cache(tmp_path / "answers.sqlite") as cache:
        for revision in (folder, changed(zoo.folder("bert"), tmp_path / "second")):
            shutil.copytree(revision, tmp_path / "here", dirs_exist_ok=True)
            backend, tally = Masked(load(str(tmp_path / "here"))), Tally()
            values.append(
                [
                    score.values
                    for score in computed(
                        Asking(some, bound("pair-likelihood", "sound", backend), backend),
                        Serial(backend),
                        cache,
                        tally,
                    )
                ]
            )
            kept.append(tally.from_cache)
    assert kept == [0, 0]
    assert values[0] != values[1]


# -------------------------------------------------------------------------------------------- notes


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float64"])
def test_another_precision_is_named_in_the_result(zoo: Zoo, dtype: str) -> None:
    (result,) = stereometer.run(
        "starter",
        model=str(zoo.folder("gpt2")),
        measure=["pair-sentence-likelihood"],
        limit=4,
        dtype=dtype,
        **QUICK,
    )
    assert f"Computed in {dtype}, not float32." in result.notes
    assert result.model_card["dtype"] == dtype


def test_float32_needs_no_label(zoo: Zoo) -> None:
    assert not any("Computed in" in note for note in zoo.backend("gpt2").card.notes)


def test_reduced_precision_is_close_and_not_the_same(zoo: Zoo) -> None:
    requests = family(5, 5, 3)
    exact, reduced = (
        rows(zoo.backend("gpt2"), requests),
        rows(zoo.backend("gpt2", dtype="bfloat16"), requests),
    )
    errors = [abs(a - b) for key in requests for a, b in zip(exact[key], reduced[key], strict=True)]
    assert 1e-4 < max(errors) < 0.5


def test_float64_is_float64_to_the_end(zoo: Zoo) -> None:
    backend, requests = zoo.backend("gpt2", dtype="float64"), family(5, 5, 3)
    found, wanted = rows(backend, requests), slow(backend.model, requests)
    assert all(found[key] == pytest.approx(wanted[key], abs=1e-10) for key in requests)


def test_quantized_storage_is_named(zoo: Zoo) -> None:
    card = Masked(replace(zoo.checkpoint("bert"), quantized="Q4_1", options=LoadingOptions())).card
    assert "Weights were stored as Q4_1 and are not those of the full model." in card.notes
