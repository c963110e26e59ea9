"""CDA as LoRA: nothing trained is the model itself, merged is unmerged, a folder is read back to
the bit, and the seed decides everything."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
import torch

from stereometer.core.errors import DataError, ModelError, UsageError
from stereometer.core.runs.open import open_model
from stereometer.models.local.adapter import merged
from stereometer.models.local.files import weights_digest
from stereometer.wings.mitigation.attribute import load as load_attribute
from stereometer.wings.mitigation.card import MitigationCard
from stereometer.wings.mitigation.forms import adapter
from stereometer.wings.mitigation.forms.stored import CARD, CONFIG, WEIGHTS, load, save
from stereometer.wings.mitigation.methods.cda import METHOD, batch_of, read_example
from stereometer.wings.mitigation.methods.export import export_mitigated
from stereometer.wings.mitigation.methods.method import CdaOptions, MitigationFit, MitigationOrder
from stereometer.wings.mitigation.methods.sentences import LabelledSentence, TrainingSentences
from stereometer.wings.mitigation.swapping import Swaps
from tests.builders.models.zoo import Zoo

MODELS = ["bert", "gpt2", "llama"]
PLACES = ("near the bridge", "in the old house", "at the lake", "by the road", "in town")
Fit = Callable[..., MitigationFit]


def silent(*report: Any) -> None:
    """Progress that nobody watches."""


def order(zoo: Zoo, model: str, seed: int = 0, **options: Any) -> MitigationOrder:
    """To be trained on a few sentences."""
    attribute = load_attribute("gender")
    swaps = Swaps(attribute)
    texts = [f"{who} sang {where}." for who in ("She", "He", "The girl") for where in PLACES]
    fit = []
    for text in texts:
        label, versions = swaps.label(text), swaps.versions(text)
        assert label is not None
        assert versions is not None
        fit.append(LabelledSentence(label, versions))
    sentences = TrainingSentences(Swaps(attribute), fit=tuple(fit))
    chosen = CdaOptions(**{"rate": 1e-2, **options})
    return MitigationOrder(zoo.backend(model), attribute, sentences, "sound", chosen, seed, silent)


def logits(model: Any) -> torch.Tensor:
    with torch.inference_mode():
        made: torch.Tensor = model(input_ids=torch.tensor([[5, 9, 14, 30, 7]])).logits
    return made


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS)
def test_without_a_step_the_model_is_the_base(zoo: Zoo, model: str) -> None:
    base = zoo.backend(model).model
    tuned = adapter.begun(deepcopy(base), 4, 8.0)
    assert torch.equal(logits(tuned.eval()), logits(base))
    whole = merged(tuned)
    assert torch.equal(logits(whole), logits(base))
    assert weights_digest(whole) == weights_digest(base)


@pytest.mark.parametrize("model", MODELS)
def test_merged_is_unmerged_and_read_back_to_the_bit(zoo: Zoo, model: str, tmp_path: Path) -> None:
    asked = order(zoo, model)
    base, before = asked.backend.model, asked.backend.checkpoint.weights
    fitted = METHOD.fit(asked)
    assert weights_digest(base) == before, "training changed the base"
    unmerged = logits(adapter.with_adapter(deepcopy(base), fitted.tensors).eval())
    whole = merged(adapter.with_adapter(deepcopy(base), fitted.tensors))
    assert torch.allclose(logits(whole), unmerged, rtol=0, atol=1e-5 * float(unmerged.abs().max()))
    assert not torch.allclose(unmerged, logits(base), rtol=0, atol=1e-2)
    opened = open_model(f"{zoo.folder(model)}+{written(asked, fitted, tmp_path / 'cda')}")
    assert opened.card.digest == weights_digest(whole)
    assert opened.card.digest != before
    assert opened.card.name == f"{zoo.folder(model).name}+cda"


def written(asked: MitigationOrder, fitted: MitigationFit, path: Path, **change: Any) -> Path:
    card = MitigationCard("cda", "adapter", "tiny", asked.backend.weights, settings=fitted.settings)
    save(replace(card, **change), fitted.tensors, path)
    return path


@pytest.mark.parametrize("model", ["bert", "llama"])
def test_an_exported_folder_is_the_merged_model(zoo: Zoo, model: str, tmp_path: Path) -> None:
    asked = order(zoo, model)
    spec = f"{zoo.folder(model)}+{written(asked, METHOD.fit(asked), tmp_path / 'cda')}"
    done = export_mitigated(spec, out=tmp_path / "folder")
    assert done.notes == ()
    assert done.weights == open_model(spec).card.digest
    assert open_model(str(tmp_path / "folder")).card.digest == done.weights


def test_peft_reads_the_folder(zoo: Zoo, tmp_path: Path) -> None:
    import peft

    asked = order(zoo, "bert")
    fitted = METHOD.fit(asked)
    path = written(asked, fitted, tmp_path / "cda")
    theirs = peft.PeftModel.from_pretrained(deepcopy(asked.backend.model), path).eval()
    ours = adapter.with_adapter(deepcopy(asked.backend.model), fitted.tensors).eval()
    assert torch.allclose(logits(theirs), logits(ours), rtol=0, atol=1e-5)
    assert sorted(file.name for file in path.iterdir()) == sorted([CARD, CONFIG, WEIGHTS])
    assert json.loads((path / CONFIG).read_text())["base_model_name_or_path"] == "bert"


@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_the_seed_decides(zoo: Zoo, model: str) -> None:
    first, again, other = (METHOD.fit(order(zoo, model, seed)).tensors for seed in (1, 1, 2))
    assert first.keys() == again.keys() == other.keys()
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert any(not torch.equal(first[name], other[name]) for name in first if name != CONFIG)


def test_the_control_sees_the_same_sentences_as_often_without_swaps(
    zoo: Zoo, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = order(zoo, "bert")
    seen: list[list[str]] = []

    def note(backend: Any, examples: Any, rng: Any) -> Any:
        seen[-1] += [backend.decode(example.ids[1:-1]) for example in examples]
        return batch_of(backend, examples, rng)

    monkeypatch.setattr("stereometer.wings.mitigation.methods.cda.batch_of", note)
    seen.append([])
    fitted = METHOD.fit(asked)
    seen.append([])
    control = METHOD.control(asked, fitted)
    swapped, plain = map(sorted, seen)
    assert len(swapped) == len(plain) == 30
    assert swapped.count("he sang in town.") == swapped.count("she sang in town.") == 2
    assert plain.count("he sang in town.") == plain.count("she sang in town.") == 2
    assert swapped.count("the boy sang in town.") == 1
    assert plain.count("the boy sang in town.") == 0
    assert plain.count("the girl sang in town.") == 2
    assert fitted.settings["steps"] == control.settings["steps"] == 2
    assert (fitted.settings["swaps"], control.settings["swaps"]) == (True, False)
    assert control.settings["control"] == "fine-tuning"


def test_no_more_tokens_than_allowed(zoo: Zoo) -> None:
    fitted = METHOD.fit(order(zoo, "bert", tokens=60))
    assert 0 < fitted.settings["trained_tokens"] <= 60
    assert any("only those in 60 tokens were trained on" in note for note in fitted.notes)
    assert 2 * sum(fitted.sentences.values()) == fitted.settings["trained_texts"] < 30
    with pytest.raises(DataError, match="--tokens"):
        METHOD.fit(order(zoo, "bert", tokens=3))


@pytest.mark.parametrize("model", MODELS)
def test_dropout_is_raised_without_swaps(zoo: Zoo, model: str) -> None:
    asked = order(zoo, model, dropout=0.3)
    fitted = METHOD.fit(asked)
    assert fitted.settings["method"] == "dropout"
    assert fitted.settings["swaps"] is False
    assert bool(fitted.notes) == (model == "llama")
    control = METHOD.control(asked, fitted)
    assert control.settings["dropout"] is None
    assert any(
        not torch.equal(fitted.tensors[name], control.tensors[name]) for name in fitted.tensors
    )


@pytest.mark.parametrize("model", ["bert", "gpt2"])
def test_a_step_teaches_what_it_is_shown(zoo: Zoo, model: str) -> None:
    """The loss of the trained texts falls."""
    asked = order(zoo, model)
    asked = replace(asked, sentences=replace(asked.sentences, fit=asked.sentences.fit * 8))
    losses: list[str] = []
    METHOD.fit(replace(asked, progress=lambda *said: losses.append(said[-1])))
    numbers = [float(loss.removeprefix("loss ")) for loss in losses]
    assert mean(numbers[-3:]) < mean(numbers[:3])


def test_masked_batches_ask_some_words_and_no_special_token(zoo: Zoo) -> None:
    backend = zoo.backend("bert")
    examples = [read_example(backend, text) for text in ("She sang in town.", "He is loud today.")]
    batch = batch_of(backend, examples * 200, torch.Generator().manual_seed(0))
    assert bool(batch.asked.any(1).all())
    assert not batch.asked[:, 0].any()
    hidden = (batch.ids == backend.mask) & batch.asked
    share = float(hidden.sum() / batch.asked.sum())
    assert 0.7 < share < 0.9
    assert not (batch.asked & (batch.mask == 0)).any()


def test_causal_batches_ask_every_word_after_those_before_it(zoo: Zoo) -> None:
    backend = zoo.backend("gpt2")
    short, long = (read_example(backend, text) for text in ("He sang.", "She sang in town today."))
    batch = batch_of(backend, [short, long], torch.Generator())
    assert int(batch.asked[0].sum()) == len(short) - 1
    assert int(batch.asked[1].sum()) == len(long) - 1
    assert batch.targets.tolist() == [*short.ids[1:], *long.ids[1:]]


# ------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dropout": 1.5}, "between 0 and 1"),
        ({"rank": 0}, "out of range"),
        ({"rate": -1.0}, "out of range"),
    ],
)
def test_orders_that_make_no_sense(zoo: Zoo, options: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        METHOD.fit(order(zoo, "bert", **options))


def test_an_adapter_that_changes_nothing_is_an_error(zoo: Zoo, tmp_path: Path) -> None:
    asked = order(zoo, "bert")
    tuned = adapter.begun(deepcopy(asked.backend.model), 4, 8.0)
    path = written(asked, MitigationFit(adapter.tensors_of(tuned, "bert")), tmp_path / "cda")
    with pytest.raises(ModelError, match="changes nothing"):
        open_model(f"{zoo.folder('bert')}+{path}")


def test_without_its_card_it_is_an_adapter_like_any_other(
    zoo: Zoo, whole: Path, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(whole, tmp_path / "cda"))
    with_card = open_model(f"{zoo.folder('bert')}+{copy}").card
    (copy / CARD).unlink()
    card = open_model(f"{zoo.folder('bert')}+{copy}").card
    assert card.digest == with_card.digest
    assert card.settings["adapter"]["peft_type"] == "LORA"
    assert "mitigation" not in card.settings


@pytest.fixture(scope="module")
def whole(zoo: Zoo, tmp_path_factory: pytest.TempPathFactory) -> Path:
    asked = order(zoo, "bert")
    return written(asked, METHOD.fit(asked), tmp_path_factory.mktemp("whole") / "cda")


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        (WEIGHTS, Path.unlink, "not a mitigation that can be used"),
        (WEIGHTS, _cut, "not a mitigation that can be used"),
        (CONFIG, Path.unlink, "not a mitigation that can be used"),
        (CONFIG, _cut, "does not hold what its card says"),
        (CARD, _cut, "not a mitigation that can be used"),
    ],
)
def test_a_damaged_folder_is_an_error(
    zoo: Zoo, whole: Path, tmp_path: Path, name: str, damage: Callable[[Path], None], said: str
) -> None:
    copy = tmp_path / "cda"
    copy.mkdir()
    for file in whole.iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    damage(copy / name)
    with pytest.raises(ModelError, match=said):
        open_model(f"{zoo.folder('bert')}+{copy}")


def test_the_adapter_of_another_model_is_an_error(zoo: Zoo, whole: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="was fitted on"):
        open_model(f"{zoo.folder('gpt2')}+{whole}")
    stored = load(whole)
    card = replace(stored.card, base_digest=zoo.backend("gpt2").weights)
    save(card, stored.tensors, tmp_path / "forged")
    with pytest.raises(ModelError, match="does not fit"):
        open_model(f"{zoo.folder('gpt2')}+{tmp_path / 'forged'}")
