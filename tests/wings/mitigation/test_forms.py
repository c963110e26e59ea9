"""A projection in the weights is the projection of the states, saved and loaded again; what does
not belong onto a model is an error, never the base's numbers."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from stereometer.core.errors import ModelError
from stereometer.core.runs.open import model_spec, open_model
from stereometer.core.types import CausalTokens, Follows, MaskedTokens
from stereometer.models.local.opener import CHECKPOINT, backend_for
from stereometer.wings.mitigation.card import MitigationCard, card_of
from stereometer.wings.mitigation.forms.apply import Projection, fold, reading_layer
from stereometer.wings.mitigation.forms.stored import load, save
from tests.builders.models.zoo import Zoo

MASKED = ("bert", "roberta", "distilbert", "albert", "electra", "deberta", "modernbert")
CAUSAL = ("llama", "gpt2", "gemma3", "gemma3-wide", "qwen2", "qwen3")
WIDTH = 32
TEXT = "The man and the woman sat near the old bridge."
TEXTS = (TEXT, "A nurse came.", "He said that she would come to the house in the morning.")


def projection(rank: int = 2, seed: int = 0, width: int = WIDTH) -> Projection:
    """Oblique, with a mean."""
    rng = torch.Generator().manual_seed(seed)
    left, noise = (torch.randn(width, rank, generator=rng, dtype=torch.float64) for _ in range(2))
    left = torch.linalg.qr(left).Q
    right = left + 0.1 * noise
    mean = 0.1 * torch.randn(width, generator=rng, dtype=torch.float64)
    return Projection(left @ torch.linalg.inv(right.T @ left), right.T.contiguous(), mean)


def mitigation(zoo: Zoo, name: str, path: Path, made: Projection | None = None) -> Path:
    made = made or projection()
    base = CHECKPOINT.open(str(zoo.folder(name)), CHECKPOINT.options())
    card = MitigationCard("leace", "projection", name, base.weights, attribute="gender")
    save(replace(card, rank=made.rank), made.tensors, path)
    return path


def answers(backend: Any, *texts: str) -> list[float]:
    """Of all texts in one call, one after the other."""
    requests = {text: _request(backend, text) for text in texts or (TEXT,)}
    answered = dict(backend.answer(requests))
    return [value for text in requests for value in answered[text].column("logprob")]


def _request(backend: Any, text: str) -> Any:
    ids = backend.encode(text).ids
    if backend.checkpoint.family == "causal":
        return CausalTokens(ids, 1)
    return MaskedTokens(ids, tuple(((at,), at) for at in range(1, len(ids) - 1)))


@contextmanager
def hooked(backend: Any, made: Projection) -> Iterator[None]:
    """The states projected on their way into the head, as other tools do it."""

    def change(layer: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        return (made(inputs[0]), *inputs[1:])

    handle = reading_layer(backend).register_forward_pre_hook(change)
    try:
        yield
    finally:
        handle.remove()


@pytest.mark.parametrize("name", [*MASKED, *CAUSAL])
def test_folded_is_hooked_and_stays_so_one_text_at_a_time(
    zoo: Zoo, name: str, tmp_path: Path
) -> None:
    path = mitigation(zoo, name, tmp_path / "m.safetensors")
    mitigated = CHECKPOINT.open(f"{zoo.folder(name)}+{path}", CHECKPOINT.options())
    base = CHECKPOINT.open(str(zoo.folder(name)), CHECKPOINT.options())
    plain = answers(base, *TEXTS)
    with hooked(base, projection()):
        expected = [value for text in TEXTS for value in _one_by_one(base, text)]
    folded = answers(mitigated, *TEXTS)
    assert folded == pytest.approx(expected, abs=1e-5)
    assert folded != pytest.approx(plain, abs=1e-2)


def _one_by_one(backend: Any, text: str) -> list[float]:
    """By the model as transformers runs it, one text and one hidden position at a time."""
    ids = backend.encode(text).ids
    if backend.checkpoint.family == "causal":
        logits = backend.model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
        return [float(logits[at - 1, ids[at]]) for at in range(1, len(ids))]
    values = []
    for at in range(1, len(ids) - 1):
        hidden = list(ids)
        hidden[at] = backend.mask
        logits = backend.model(input_ids=torch.tensor([hidden])).logits[0, at].log_softmax(-1)
        values.append(float(logits[ids[at]]))
    return values


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_a_tied_output_matrix_becomes_its_own(zoo: Zoo, name: str, tmp_path: Path) -> None:
    path = mitigation(zoo, name, tmp_path / "m.safetensors")
    base = CHECKPOINT.open(str(zoo.folder(name)), CHECKPOINT.options())
    mitigated = CHECKPOINT.open(f"{zoo.folder(name)}+{path}", CHECKPOINT.options())
    assert torch.equal(
        mitigated.model.get_input_embeddings().weight, base.model.get_input_embeddings().weight
    )
    assert not torch.equal(
        mitigated.model.get_output_embeddings().weight, base.model.get_output_embeddings().weight
    )


def test_opened_again_it_is_the_same_to_the_bit(zoo: Zoo, tmp_path: Path) -> None:
    path = mitigation(zoo, "bert", tmp_path / "m.safetensors")
    spec = f"{zoo.folder('bert')}+{path}"
    left, right = (open_model(spec) for _ in range(2))
    assert left.card.identity == right.card.identity
    assert answers(left) == answers(right)
    stored = load(path)
    made = projection()
    assert all(torch.equal(stored.tensors[name], made.tensors[name]) for name in made.tensors)


def test_another_process_opens_the_same(zoo: Zoo, tmp_path: Path) -> None:
    path = mitigation(zoo, "llama", tmp_path / "m.safetensors")
    spec = model_spec(f"{zoo.folder('llama')}+{path}")
    there = pickle.loads(pickle.dumps(spec)).open()
    assert there.card.identity == spec.open().card.identity


def test_mitigations_can_follow_each_other(zoo: Zoo, tmp_path: Path) -> None:
    first = mitigation(zoo, "bert", tmp_path / "first.safetensors")
    spec = f"{zoo.folder('bert')}+{first}"
    card = MitigationCard("leace", "projection", "bert", open_model(spec).card.digest)
    save(card, projection(seed=1).tensors, tmp_path / "second.safetensors")
    both = open_model(f"{spec}+{tmp_path / 'second.safetensors'}")
    assert both.card.name.endswith("bert+first+second")
    with pytest.raises(ModelError, match="means nothing on other weights"):
        open_model(f"{zoo.folder('bert')}+{tmp_path / 'second.safetensors'}")


def test_the_card_reaches_the_result(zoo: Zoo, tmp_path: Path) -> None:
    path = mitigation(zoo, "bert", tmp_path / "little.safetensors")
    mitigated = open_model(f"{zoo.folder('bert')}+{path}")
    assert mitigated.card.name.endswith("bert+little")
    card = card_of({"settings": mitigated.card.settings})
    assert card == load(path).card
    assert any("Mitigated: leace of gender" in note for note in mitigated.card.notes)
    assert card_of({"settings": {}}) is None


@pytest.mark.usefixtures("at_rest")
def test_a_fingerprint_covers_the_mitigation(zoo: Zoo, tmp_path: Path) -> None:
    path = mitigation(zoo, "bert", tmp_path / "m.safetensors")
    spec = f"{zoo.folder('bert')}+{path}"
    first, base = model_spec(spec).fingerprint(), model_spec(str(zoo.folder("bert"))).fingerprint()
    mitigation(zoo, "bert", path, projection(seed=1))
    assert len({first, base, model_spec(spec).fingerprint()}) == 3


def test_no_next_sentence_head_answers_for_a_mitigated_model(zoo: Zoo, tmp_path: Path) -> None:
    path = mitigation(zoo, "bert", tmp_path / "m.safetensors")
    backend = CHECKPOINT.open(f"{zoo.folder('bert')}+{path}", CHECKPOINT.options())
    assert Follows.kind not in backend.abilities.kinds
    assert any(
        "Next-sentence heads of the model before are not used" in note
        for note in backend.card.notes
    )


# ------------------------------------------------------------------------------------------- errors


def test_a_mitigation_of_another_model_is_refused(zoo: Zoo, tmp_path: Path) -> None:
    path = mitigation(zoo, "bert", tmp_path / "m.safetensors")
    with pytest.raises(ModelError, match="means nothing on other weights"):
        open_model(f"{zoo.folder('roberta')}+{path}")
    with pytest.raises(ModelError, match="use --dtype float32"):
        open_model(f"{zoo.folder('bert')}+{path}", options={"dtype": "float64"})


def test_one_that_changes_nothing_is_refused(zoo: Zoo, tmp_path: Path) -> None:
    nothing = Projection(*(0 * part for part in projection().tensors.values()))
    path = mitigation(zoo, "bert", tmp_path / "m.safetensors", nothing)
    with pytest.raises(ModelError, match="changes nothing"):
        open_model(f"{zoo.folder('bert')}+{path}")


def test_a_file_that_is_cut_or_changed_is_refused(zoo: Zoo, tmp_path: Path) -> None:
    path = mitigation(zoo, "bert", tmp_path / "m.safetensors")
    whole = path.read_bytes()
    for end in (0, 4, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:end])
        with pytest.raises(ModelError, match="is not a mitigation that can be used"):
            open_model(f"{zoo.folder('bert')}+{path}")
    path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ModelError, match="does not hold what its card says"):
        open_model(f"{zoo.folder('bert')}+{path}")


def test_files_of_another_kind_are_refused(zoo: Zoo, tmp_path: Path) -> None:
    weights = zoo.folder("bert") / "model.safetensors"
    with pytest.raises(ModelError, match="it has no 'card'"):
        open_model(f"{zoo.folder('bert')}+{weights}")
    with pytest.raises(ModelError, match="is not a mitigation"):
        open_model(f"{zoo.folder('bert')}+{tmp_path}")
    base = backend_for(zoo.checkpoint("bert"))
    card = MitigationCard("future", "spell", "bert", base.weights)
    save(card, {}, tmp_path / "m.safetensors")
    with pytest.raises(ModelError, match="of form 'spell'"):
        open_model(f"{zoo.folder('bert')}+{tmp_path / 'm.safetensors'}")


def test_states_of_another_width_are_refused(zoo: Zoo) -> None:
    base = CHECKPOINT.open(str(zoo.folder("bert")), CHECKPOINT.options())
    with pytest.raises(ModelError, match="states of 8 numbers"):
        fold(base, projection(width=8))


def test_numbers_that_are_not_finite_are_not_written(tmp_path: Path) -> None:
    card = MitigationCard("leace", "projection", "m", "digest")
    with pytest.raises(ModelError, match="not finite"):
        save(card, {"left": torch.tensor([float("nan")])}, tmp_path / "m.safetensors")
    assert not (tmp_path / "m.safetensors").exists()
