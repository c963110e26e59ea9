"""Answers of a conversation depend on the chat template: with another one, old answers are not
found."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stereometer import ask
from stereometer.core.asking.forced_choice import ChoiceOptions as ChoiceOptions
from stereometer.core.runs.cache import Cache
from stereometer.core.runs.open import open_benchmark
from stereometer.core.runs.runner import Serial, Tally
from stereometer.core.runs.stored import runs_of
from stereometer.core.types import Generate, ModelCard, digest_of
from stereometer.kinds.comments.recognition.method import ZERO_SHOT, RecognitionOptions
from stereometer.kinds.pairs.forced_choice import METHOD as PAIR
from stereometer.models.local.causal import Causal
from stereometer.models.local.checkpoint import load
from stereometer.models.local.generation import Writer
from stereometer.models.local.masked import Masked
from stereometer.report.load import groups_of
from tests.builders.asking import answered
from tests.builders.commands import assert_refused, call
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


TURNS = (
    "{% for m in messages %}<|{{ m.role }}|>\n{{ m['content'] | trim }}{{ eos_token }}{% endfor %}"
)
KINDS: dict[str, Any] = {
    "plain": PLAIN,
    "turns": TURNS + "{% if add_generation_prompt %}<|assistant|>{% endif %}",
    "a macro": "{% macro say(m) -%} [{{ m.role }}: {{ m.content }}] {%- endmacro %}"
    "{{ bos_token }}{% for m in messages %}{{ say(m) }}{% endfor %}",
    "a namespace": "{% set n = namespace(first='') %}{% for m in messages %}"
    "{% if m.role == 'system' %}{% set n.first = m.content %}{% continue %}{% endif %}"
    "{{ n.first }} {{ m.content }}{% endfor %}",
    "json and marked answers": "{{ messages | tojson }}{% generation %}{{ tools is none }}"
    "{% endgeneration %}{{ strftime_now('%Y') }}",
    "several": {"default": TURNS, "tool_use": PLAIN},
}


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_prompt_is_what_transformers_makes_of_it(zoo: Zoo, kind: str) -> None:
    backend = zoo.backend("gpt2")
    tokenizer = copy(backend.checkpoint.tokenizer)
    tokenizer.chat_template = KINDS[kind]
    writer = Writer(backend.split, replace(backend.tokens, tokenizer=tokenizer))
    said = (("system", "the  nurse\n"), ("user", " is “kind” <b>"))
    messages = [{"role": role, "content": content} for role, content in said]
    wanted = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    assert writer._render(messages) == wanted
    ids = tuple(tokenizer(wanted, add_special_tokens=False)["input_ids"])
    assert writer.ids(Generate(messages=said, max_tokens=2)) == ids


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
    assert measure.conversation.chat
    assert measure.conversation.template_by == backend.abilities.chat_template
    assert not PAIR.bind(zoo.backend("gpt2"), "sound", ChoiceOptions()).conversation.chat
    asked = ZERO_SHOT.bind(backend, "sound", RecognitionOptions())
    assert asked.recorded["chat_template"] == backend.abilities.chat_template
    for raw in (
        ZERO_SHOT.bind(backend, "sound", RecognitionOptions(chat=False)),
        ZERO_SHOT.bind(backend, "sound", RecognitionOptions(likelihood=True)),
        ZERO_SHOT.bind(backend, "paper", RecognitionOptions()),
        PAIR.bind(backend, "paper", ChoiceOptions()),
    ):
        assert raw.recorded["chat"] is False


@pytest.mark.long
def test_raw_text_and_conversations_never_share_a_column(zoo: Zoo, tmp_path: Path) -> None:
    templated(zoo, "gpt2", tmp_path / "m", PLAIN)
    asked = ("ask", "starter", "-m", tmp_path / "m", "--limit", 4, "--resamples", 100)
    for flags in ((), ("--no-chat",)):
        said = call(*asked, *flags, "--out", tmp_path / f"runs{len(flags)}")
        assert "Traceback" not in said.err
        assert said.code in (0, 3)
    raw_text = ask("starter", model=tmp_path / "m", chat=False, limit=4, out=tmp_path / "runs2")
    assert {result.asked_as for result in raw_text} == {"raw text"}
    chat, raw = (sorted((tmp_path / name).iterdir())[-1] for name in ("runs0", "runs1"))
    assert_refused(call("compare", chat, raw), 2, "asked as: conversation and raw text")
    assert len(groups_of([chat, raw])) == 2
    board = pytest.importorskip("stereometer.wings.board.tables")
    assert len(board.tables_of(runs_of([chat, raw]), {})) == 2
