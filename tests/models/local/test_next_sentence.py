"""Next-sentence heads: trained, kept, refused, and the same numbers as the plain way."""

from __future__ import annotations

import json
import random
from copy import copy, deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
import transformers

import stereometer
from stereometer.core import catalog
from stereometer.core.errors import ModelError
from stereometer.core.runs.open import open_model
from stereometer.core.types import Follows, Skip
from stereometer.models.local.language_model import LanguageModel
from stereometer.models.local.next_sentence import (
    AddedHead,
    HeadCard,
    NextSentenceHead,
    Trained,
    add,
    load,
    rounded,
    save,
)
from stereometer.models.local.sentence_pairs import Features, read_pair
from stereometer.wings.training import fitting, next_sentence
from stereometer.wings.training.fitting import accuracy
from stereometer.wings.training.next_sentence import material, train
from stereometer.wings.training.recipe import Recipe
from tests.builders.commands import Said, assert_refused, call
from tests.builders.models.builders import SHAPE, seeded
from tests.builders.models.builders import save as save_model
from tests.builders.models.vocabularies import wordpiece
from tests.builders.models.zoo import Zoo
from tests.conftest import default_model

pytest.importorskip("sentencex")
PAIRS = [
    ("The cook left.", "He was tired."),
    ("My neighbour sings.", "She is loud and very kind."),
    ("The cook left.", "It rained."),
]


def silent(*told: object) -> None:
    """Nobody looks."""


def write_text(path: Path, count: int = 40) -> Path:
    """Articles of their own subject: what follows is about the same thing."""
    rng = random.Random(0)
    things = ["harbour", "engine", "choir", "orchard", "museum", "river", "bakery", "tower"]
    said = [
        " ".join(
            f"The {things[n % 8]} {'opened' if k % 2 else 'closed'} in {1800 + rng.randrange(200)}"
            f" near {n}."
            for k in range(6)
        )
        for n in range(count)
    ]
    path.write_text("\n\n".join(said))
    return path


def untrained(
    backend: Any, pooling: str, layer: int = 0, labels: tuple[str, ...] = ("follows", "random")
) -> Trained:
    width = Features(backend, pooling, layer).rows([read_pair(backend, *PAIRS[0])]).shape[1]
    torch.manual_seed(0)
    return Trained(
        HeadCard(backend.checkpoint.name, backend.weights, pooling, layer, labels),
        NextSentenceHead(width, 8).eval().requires_grad_(False),
    )


def slowly(backend: Any, trained: Trained, first: str, second: str) -> float:
    """One pair through the model as it is, pooled as the name says."""
    pair = read_pair(backend, first, second)
    inputs = {"input_ids": torch.tensor([pair.ids])}
    if pair.segments and backend.checkpoint.family != "causal":
        inputs["token_type_ids"] = torch.tensor([pair.segments])
    with torch.no_grad():
        states = backend.model.base_model(**inputs, output_hidden_states=True)
        rows = states.hidden_states[trained.card.layer][0] if trained.card.layer else states[0][0]
        a, b = (
            torch.stack([rows[at] for at in part]).mean(0) for part in (pair.first, pair.second)
        )
        pooled = {
            "first": rows[0],
            "last": rows[-1],
            "mean": torch.stack([rows[at] for at in (*pair.first, *pair.second)]).mean(0),
            "parts": torch.cat([a, b, a * b, (a - b).abs()]),
        }[trained.card.pooling]
        logits = trained.head(pooled[None])[0].double()
    at = trained.card.labels.index("follows")
    return float(logits[at] - logits[1 - at])


@pytest.mark.parametrize("pooling", ["first", "last", "mean", "parts"])
@pytest.mark.parametrize("model", ["bert", "roberta", "gpt2", "llama", "xlnet"])
def test_log_odds_are_those_of_the_slow_way(zoo: Zoo, model: str, pooling: str) -> None:
    backend = zoo.backend(model)
    for layer, labels in ((0, ("follows", "random")), (1, ("random", "follows"))):
        trained = untrained(backend, pooling, layer, labels)
        add(backend, AddedHead(backend, trained))
        requests = {str(number): Follows(*pair) for number, pair in enumerate(PAIRS * 2)}
        for key, answer in backend.answer(requests):
            wanted = slowly(backend, trained, requests[key].first, requests[key].second)
            assert answer.column("logodds")[0] == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("model", ["bert", "gpt2", "xlnet"])
def test_a_pair_is_read_as_two_parts(zoo: Zoo, model: str) -> None:
    backend = zoo.backend(model)
    pair = read_pair(backend, "The cook left.", "He was tired.")
    for part, letters in ((pair.first, "thecookleft"), (pair.second, "hewastired")):
        ids = [pair.ids[at] for at in part]
        told = "".join(backend.tokens.tokenizer.convert_ids_to_tokens(ids)).lower()
        assert "".join(one for one in told if one.isalpha() and one != "\u0121") == letters
    assert not set(pair.first) & set(pair.second)


def test_what_cannot_be_judged_is_skipped(zoo: Zoo) -> None:
    backend = zoo.backend("gpt2")
    with pytest.raises(Skip, match="no token"):
        read_pair(backend, "The cook left.", "")
    backend.tokens = type(backend.tokens)(backend.tokens.tokenizer, True, 10**6)
    with pytest.raises(Skip, match="256 tokens"):
        read_pair(backend, "The cook left. " * 100, "He was tired.")


# ----------------------------------------------------------------------------------------- training


def test_a_head_learns_what_can_be_learned(zoo: Zoo, tmp_path: Path) -> None:
    text, head = write_text(tmp_path / "text"), tmp_path / "head.safetensors"
    card = train(zoo.backend("llama"), text, head, Recipe(pooling="parts", pairs=400), silent)
    assert card.accuracy["value"] > 0.6  # chance is 0.5; rounding alone moves it by 0.04
    assert card.accuracy["low"] <= card.accuracy["value"] <= card.accuracy["high"]
    assert card.training["training_groups"] == 36
    assert card.training["held_out_groups"] == 4
    assert load(head).card == card
    assert [one.name for one in tmp_path.iterdir() if "work" in one.name] == []


def test_the_same_seed_gives_the_same_head(zoo: Zoo, tmp_path: Path) -> None:
    text, recipe = write_text(tmp_path / "text"), Recipe(pairs=100, epochs=2)
    for name in ("a", "b"):
        train(zoo.backend("bert"), text, tmp_path / name, recipe, silent)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert "seconds" not in str(load(tmp_path / "a").card), "how long it took is no part of a head"


class Killed(Exception):
    pass


@pytest.mark.long
@pytest.mark.parametrize("full", [False, True])
def test_a_run_that_was_killed_goes_on_and_ends_the_same(
    zoo: Zoo, tmp_path: Path, full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(next_sentence, "PART", 16)
    monkeypatch.setattr(fitting, "KEPT_EVERY", 2)
    text = write_text(tmp_path / "text")
    recipe = Recipe(pairs=400, epochs=2, full=full, accumulate=2 if full else 1, trunk_rate=1e-3)
    train(zoo.backend("bert"), text, tmp_path / "whole", recipe, silent)
    seen: list[int] = []

    def dies(what: str, done: int, total: int, how: str) -> None:
        seen.append(done)
        if len(seen) == 7:
            raise Killed

    with pytest.raises(Killed):
        train(zoo.backend("bert"), text, tmp_path / "again", recipe, dies)
    assert not (tmp_path / "again").exists()
    count: list[int] = []
    train(
        zoo.backend("bert"), text, tmp_path / "again", recipe, lambda *told: count.append(told[1])
    )
    whole, again = load(tmp_path / "whole"), load(tmp_path / "again")
    for part in ("head", "trunk"):
        left, right = (
            (one.head.state_dict() if part == "head" else one.trunk) for one in (whole, again)
        )
        assert left.keys() == right.keys()
        assert all(torch.equal(value, right[name]) for name, value in left.items())
    if full:
        assert count[0] > 1, "it went on from a kept step"


def test_fine_tuning_changes_the_trunk_and_is_used(zoo: Zoo, tmp_path: Path) -> None:
    backend = zoo.backend("bert")
    before, recipe = backend.weights, Recipe(pairs=100, epochs=1, full=True, trunk_rate=1e-2)
    train(backend, write_text(tmp_path / "text"), tmp_path / "head", recipe, silent)
    trained, own = load(tmp_path / "head"), backend.split.inner.state_dict()
    assert trained.card.fine_tuned
    assert any(not torch.equal(value, own[name]) for name, value in trained.trunk.items())
    assert type(backend).__name__ == "Masked"
    again = zoo.backend("bert")
    assert again.weights == before
    judged, frozen = (
        AddedHead(again, head).logodds([read_pair(again, *PAIRS[0])])
        for head in (trained, Trained(trained.card, trained.head))
    )
    assert judged != pytest.approx(frozen, abs=1e-6)


def test_gradients_in_parts_are_the_gradients_of_the_whole(
    zoo: Zoo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend, recipe = zoo.backend("bert"), Recipe(pairs=100, pooling="mean", full=True)
    training = material(write_text(tmp_path / "text"), recipe, backend).training
    gradients = []
    for chunk in (10**6, 1):
        monkeypatch.setattr(fitting, "CHUNK", chunk)
        features = Features(backend, "mean", 0, deepcopy(backend.split.inner))
        run = fitting.start(features, training, recipe, 1)
        fitting.add_gradients(run, features, training, torch.arange(40), 1)
        found = (one.grad for one in features.trunk.parameters())
        gradients.append([grad for grad in found if grad is not None])
    assert len(gradients[0]) > 10
    for whole, parts in zip(*gradients, strict=True):
        assert torch.allclose(whole, parts, atol=1e-6)


def test_a_head_keeps_means_and_scales_beyond_float16(zoo: Zoo, tmp_path: Path) -> None:
    trained = untrained(zoo.backend("bert"), "mean")
    trained.head.mean[0], trained.head.scale[1] = 1e6, 1e-8
    save(trained, tmp_path / "head")
    again, kept = load(tmp_path / "head").head, rounded(trained.head).state_dict()
    assert torch.equal(again.mean, trained.head.mean)
    assert torch.equal(again.scale, trained.head.scale)
    assert torch.equal(again.dense.weight, trained.head.dense.weight.half().float())
    assert all(torch.equal(value, kept[name]) for name, value in again.state_dict().items())


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e6])
def test_a_head_that_is_not_finite_is_not_written(zoo: Zoo, tmp_path: Path, number: float) -> None:
    trained = untrained(zoo.backend("bert"), "mean")
    with torch.no_grad():
        trained.head.out.weight[0, 0] = number
    with pytest.raises(
        ModelError, match=r"head.out.weight has numbers that are not finite in float16"
    ):
        save(trained, tmp_path / "head")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("full", [False, True])
def test_what_is_judged_is_what_is_written(zoo: Zoo, tmp_path: Path, full: bool) -> None:
    backend, recipe = zoo.backend("bert"), Recipe(pairs=100, epochs=1, pooling="mean", full=full)
    card = train(backend, write_text(tmp_path / "text"), tmp_path / "head", recipe, silent)
    judged = AddedHead(backend, load(tmp_path / "head"))
    held_out = material(tmp_path / "text", recipe, backend).held_out
    right = [
        (odds > 0) == bool(follows)
        for odds, follows in zip(judged.logodds(held_out.pairs), held_out.follows, strict=True)
    ]
    assert card.accuracy["value"] == pytest.approx(np.mean(right))


class Embedded(torch.nn.Module):
    """The plainest trunk."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, 8)

    def forward(self, input_ids: torch.Tensor, **other: object) -> tuple[torch.Tensor]:
        return (self.embedding(input_ids),)


def test_head_and_targets_are_where_the_model_is(zoo: Zoo, tmp_path: Path) -> None:
    """On torch's device without numbers, which refuses to mix with others as a GPU does."""
    backend, recipe = zoo.backend("bert"), Recipe(pairs=100, pooling="mean", full=True)
    training = material(write_text(tmp_path / "text"), recipe, backend).training
    nowhere = SimpleNamespace(split=copy(backend.split))
    nowhere.split.device = torch.device("meta")
    features = Features(
        cast(LanguageModel, nowhere), "mean", 0, Embedded(len(backend.tokens.tokenizer)).to("meta")
    )
    run = fitting.start(features, training, recipe, 1)
    assert {one.device.type for one in (*run.head.parameters(), run.head.mean, run.head.scale)} == {
        "meta"
    }
    with pytest.raises(
        RuntimeError, match="item"
    ):  # the value of the loss is nowhere; its gradients were computed
        fitting.add_gradients(run, features, training, torch.arange(40), 1)
    assert run.head.out.weight.grad is not None


def test_accuracy_has_an_interval_over_groups() -> None:
    correct = torch.tensor([True] * 30 + [False] * 10)
    spread = accuracy(correct, list(range(40)), 0)
    alike = accuracy(correct, [n // 10 for n in range(40)], 0)
    assert spread["value"] == alike["value"] == 0.75
    assert alike["high"] - alike["low"] > spread["high"] - spread["low"]
    rng = np.random.default_rng(0)
    plain = [np.mean(rng.choice(correct.numpy(), 40)) for _ in range(4000)]
    assert spread["low"] == pytest.approx(np.quantile(plain, 0.025), abs=0.03)


def test_training_and_held_out_pairs_are_of_other_articles(zoo: Zoo, tmp_path: Path) -> None:
    found = material(write_text(tmp_path / "text"), Recipe(pairs=200), zoo.backend("bert"))
    assert found.record["training_groups"] + found.record["held_out_groups"] == 40
    assert len(found.held_out.pairs) == 20
    assert found.training.follows.double().mean() == 0.5


# -------------------------------------------------------------------------------------------- using


def test_a_model_with_its_own_head(tmp_path: Path) -> None:
    tokenizer = wordpiece(True)
    config = transformers.BertConfig(vocab_size=len(tokenizer), **SHAPE)
    model = seeded(transformers.BertForPreTraining(config))
    backend: Any = open_model(str(save_model(model, tokenizer, tmp_path)))
    assert "follows" in backend.abilities.kinds
    assert backend.checkpoint.next_sentence.base_model.encoder is backend.model.base_model.encoder
    requests = {str(number): Follows(*pair) for number, pair in enumerate(PAIRS)}
    for key, answer in backend.answer(requests):
        given = tokenizer(requests[key].first, requests[key].second, return_tensors="pt")
        with torch.no_grad():
            logits = model(**given).seq_relationship_logits[0].double()
        assert answer.column("logodds")[0] == pytest.approx(float(logits[0] - logits[1]), abs=1e-5)
    document = judged_items(tmp_path)
    assert document["model_card"]["settings"]["next_sentence_head"]["kind"] == "the model's own"
    assert NO_HEAD not in json.dumps(document)


NO_HEAD = "cannot say whether a sentence follows"


def judged_items(model: Path, **options: Any) -> dict[str, Any]:
    (result,) = stereometer.run(
        "starter", model=str(model), measure=["cat-likelihood"], limit=24, resamples=100, **options
    )
    return result.as_json()


def test_a_trained_head_makes_the_measure_whole(zoo: Zoo, tmp_path: Path) -> None:
    save(untrained(zoo.backend("gpt2"), "mean"), tmp_path / "head")
    without = judged_items(zoo.folder("gpt2"))
    with_head = judged_items(zoo.folder("gpt2"), head=str(tmp_path / "head"))
    assert NO_HEAD in json.dumps(without)
    assert NO_HEAD not in json.dumps(with_head)
    assert with_head["model_card"]["settings"]["next_sentence_head"]["pooling"] == "mean"


@pytest.mark.long
@pytest.mark.parametrize("name", ["smollm2-135m", "minilm-mlm"])
def test_a_default_model_brings_its_head(name: str) -> None:
    backend = default_model(name)
    place = catalog.find("model", name).head
    assert place.stat().st_size <= 2_000_000
    card = load(place).card
    assert card.base_digest == backend.weights
    assert card.accuracy["low"] >= 0.8
    assert "follows" in backend.abilities.kinds
    follows, random_one = (
        dict(backend.answer({"k": Follows("The cat sat by the door of the barn.", second)}))[
            "k"
        ].column("logodds")[0]
        for second in (
            "It waited there for the farmer and his milk.",
            "Copper prices rose in the second quarter of 1987.",
        )
    )
    assert follows > random_one


@pytest.mark.parametrize(
    ("model", "options", "says"),
    [
        ("llama", {}, "other weights"),
        ("gpt2", {"dtype": "bfloat16"}, r"in bfloat16\).*use --dtype float32"),
    ],
)
def test_a_head_on_other_weights_is_refused_and_another_precision_is_named(
    zoo: Zoo, tmp_path: Path, model: str, options: dict[str, str], says: str
) -> None:
    head = {"head": str(tmp_path / "head")}
    save(untrained(zoo.backend("gpt2"), "mean"), tmp_path / "head")
    with pytest.raises(ModelError, match=says):
        open_model(str(zoo.folder(model)), options=head | options)


@pytest.mark.long
def test_in_another_precision_a_default_model_says_why_it_has_no_head() -> None:
    default_model("minilm-mlm")
    for dtype, said in (("bfloat16", True), ("float32", False)):
        backend: Any = open_model("minilm-mlm", options={"threads": 1, "dtype": dtype})
        assert ("follows" in backend.abilities.kinds) is not said
        assert (
            any(
                "was trained on its float32 weights; weights in bfloat16 are others" in note
                for note in backend.card.notes
            )
            is said
        )


def test_a_file_that_is_no_head(zoo: Zoo, tmp_path: Path) -> None:
    (tmp_path / "head").write_bytes(b"nothing")
    for head in (tmp_path / "head", tmp_path / "missing", zoo.folder("bert") / "model.safetensors"):
        said = call(
            "run starter --limit 2 --resamples 100", "--model", zoo.folder("bert"), "--head", head
        )
        assert_refused(said, 3, "not a next-sentence head")


def order(model: object, out: Path, text: object, more: str = "") -> Said:
    return call(f"train nsp {more} --model", model, "--out", out, "--text", text)


def test_the_command_trains_and_says_how_good_it_is(zoo: Zoo, tmp_path: Path) -> None:
    out = tmp_path / "head.safetensors"
    asked = (zoo.folder("bert"), out, write_text(tmp_path / "text"))
    said = order(*asked, "--pairs 100 --epochs 2")
    assert said.code == 0
    assert "held-out accuracy" in said.out
    assert out.stat().st_size < 2_000_000
    card = order(*asked, "--pairs 100 --epochs 2 --json").json["card"]
    assert card["pooling"] == "first"
    assert card["base_digest"] == zoo.backend("bert").weights


@pytest.mark.long
def test_what_is_typed_wins_over_a_recipe_that_says_what_it_could_not_do(
    zoo: Zoo, tmp_path: Path
) -> None:
    """Each of these is the default of the command, and not of the recipe."""
    text, out = write_text(tmp_path / "text"), tmp_path / "head"
    asked = ("--model", zoo.folder("bert"), "--text", text, "--out", out, "--recipe", "paper")
    typed = ("--trunk-rate", 2e-5, "--pairs", 20_000, "--epochs", 1)
    said = call("train nsp --json", *asked, *typed)
    trained = json.loads(said.out)["card"]["training"]
    recipe = trained["recipe"]
    assert [recipe[name] for name in ("trunk_rate", "pairs", "epochs")] == [2e-5, 20_000, 1]
    assert (recipe["rate"], recipe["dropout"]) == (1e-5, 0.0)
    (note,) = trained["notes"]
    assert "still rising at the end: it rises over 500 steps" in note


@pytest.mark.parametrize(
    ("more", "text", "out", "code", "says"),
    [
        ("--pooling median", "text", "head", 2, "no pooling 'median'"),
        ("--layer 9", "text", "head", 2, "no layer 9"),
        ("--pairs 1", "text", "head", 2, "At least 20 pairs"),
        ("--seed -1", "text", "head", 2, "The seed is -1"),
        (f"--seed {2**64}", "text", "head", 2, "The seed is"),
        ("--full --trunk-rate -1", "text", "head", 2, "A learning rate is -1"),
        ("--full --trunk-rate 0", "text", "head", 2, "A learning rate is 0"),
        ("", "nowhere", "head", 4, "was not found"),
        ("", "little", "head", 4, "too few"),
        ("", "text", "", 2, "is a folder"),
    ],
)
def test_bad_orders(
    zoo: Zoo, tmp_path: Path, more: str, text: str, out: str, code: int, says: str
) -> None:
    write_text(tmp_path / "text")
    (tmp_path / "little").write_text("One sentence only.\n\nAnother one here.")
    assert_refused(order(zoo.folder("bert"), tmp_path / out, tmp_path / text, more), code, says)
    assert {one.name for one in tmp_path.iterdir()} == {"text", "little"}


@pytest.mark.parametrize("place", ["file/head", "file/deeper/head"])
def test_a_place_that_cannot_be_written_is_refused_before_the_work(
    place: str, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    said = order("/nowhere", tmp_path / place, "/nowhere")
    assert_refused(said, 1, "cannot be written", "--out")
    assert_refused(order("random", tmp_path / "head", tmp_path / "file"), 2, "is a baseline")


@pytest.mark.parametrize(
    "model", ["bert", "albert", "gpt2", "llama", "gemma3", "xlnet", "modernbert"]
)
def test_a_layer_reached_early_is_the_layer(zoo: Zoo, model: str) -> None:
    backend = zoo.backend(model)
    pair = read_pair(backend, *PAIRS[1])
    for layer in (1, 2):
        features = Features(backend, "mean", layer)
        inputs = {
            "input_ids": torch.tensor([pair.ids]),
            "attention_mask": torch.ones(1, len(pair), dtype=torch.long),
        }
        if pair.segments and "token_type_ids" in backend.split.takes:
            inputs["token_type_ids"] = torch.tensor([pair.segments])
        with torch.inference_mode():
            assert torch.allclose(features.states([pair]), features._hidden(inputs), atol=1e-6)
    if model in ("bert", "llama"):
        assert features._block is None or layer == 2
        assert Features(backend, "mean", 1)._block is not None
