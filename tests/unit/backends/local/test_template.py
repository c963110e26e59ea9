"""Answers of a conversation depend on the chat template: with another one, old answers are not
found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stereometer.backends.local.causal import Causal
from stereometer.backends.local.checkpoint import load
from stereometer.backends.local.masked import Masked
from stereometer.measures.forced_choice.method import PAIR
from stereometer.measures.forced_choice.method import Options as ChoiceOptions
from stereometer.measures.recognition.method import ZERO_SHOT, Options
from stereometer.runs.cache import Cache
from stereometer.runs.engines.serial import Serial
from stereometer.runs.open import open_benchmark
from stereometer.runs.plan import Tally
from stereometer.types import Generate, ModelCard, digest_of
from tests.builders.asking import answered
from tests.builders.models.zoo import Zoo

PLAIN = "{% for one in messages %}{{ one['content'] }} {% endfor %}"
SHOUTED = "{% for one in messages %}{{ one['content'] | upper }} {% endfor %}"


def templated(zoo: Zoo, name: str, folder: Path, template: str) -> Any:
    found = load(str(zoo.folder(name)))
    found.tokenizer.chat_template = template
    found.model.save_pretrained(folder)
    found.tokenizer.save_pretrained(folder)
    return load(str(folder))


def without_template(card: ModelCard) -> str:
    settings = {name: value for name, value in card.settings.items() if name != "chat_template"}
    return digest_of([card.backend, card.digest, card.tokenizer_digest, card.dtype, settings])


def test_another_template_is_another_identity_and_finds_no_old_answers(
    zoo: Zoo, tmp_path: Path
) -> None:
    one = Causal(templated(zoo, "gpt2", tmp_path / "plain", PLAIN))
    other = Causal(templated(zoo, "gpt2", tmp_path / "shouted", SHOUTED))
    assert without_template(one.card) == without_template(other.card)
    assert one.card.identity != other.card.identity
    request = Generate(messages=(("user", "the nurse is"),), max_tokens=2)
    with Cache() as cache:
        for backend in (one, other):
            tally = Tally()
            answered({request.key: request}, Serial(backend), cache, tally)
            assert tally.from_cache == 0


def test_a_model_without_a_template_keeps_its_identity(zoo: Zoo) -> None:
    card = zoo.backend("gpt2").card
    assert "chat_template" not in card.settings
    assert card.identity == without_template(card)


def test_a_model_that_does_not_write_has_no_template(zoo: Zoo, tmp_path: Path) -> None:
    assert (
        Masked(templated(zoo, "bert", tmp_path / "bert", PLAIN)).card.identity
        == zoo.backend("bert").card.identity
    )


def test_a_model_with_a_template_is_asked_through_it(zoo: Zoo, tmp_path: Path) -> None:
    backend = Causal(templated(zoo, "gpt2", tmp_path / "plain", PLAIN))
    measure = PAIR.bind(backend, "sound", ChoiceOptions())
    (request,) = {
        type(request)
        for some in measure.plan(open_benchmark("starter").items("pair")[0]).values()
        for request in some
    }
    assert request is Generate
    assert measure.chat
    assert measure.template_by == backend.abilities.chat_template
    assert not PAIR.bind(zoo.backend("gpt2"), "sound", ChoiceOptions()).chat
    asked = ZERO_SHOT.bind(backend, "sound", Options(chat=True))
    assert asked.recorded["chat_template"] == backend.abilities.chat_template
