"""Models that vLLM runs, with a stand-in for vLLM: the numbers and words of the local path, small
batches, what vLLM is started with, who the model is, and what is refused."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from transformers import LlamaConfig

from stereometer.core.errors import ModelError, StereometerError, UsageError
from stereometer.core.runs.open import open_model
from stereometer.core.types import (
    TOO_LONG,
    Answer,
    CausalTokens,
    Generate,
    NextTokens,
    Options,
    Request,
    Skip,
    SpanVectors,
)
from stereometer.models.local.places import Gpu
from stereometer.models.vllm import engine
from tests.builders.commands import call
from tests.builders.models import items
from tests.builders.models.agreement import assert_agree
from tests.builders.models.builders import names
from tests.builders.models.zoo import Zoo
from tests.models.vllm.conftest import StandIn

TEXTS = ("The nurse is kind.", "A nurse said that she was late again.", " We met a man, café.")


def opened(folder: Path | str, **options: Any) -> Any:
    return open_model(f"vllm:{folder}", 0, options)


def keyed(*requests: Request) -> dict[str, Request]:
    return {request.key: request for request in requests}


def asked(model: Any) -> dict[str, Request]:
    """Texts whole and in part, what follows them, and what is written after them."""
    read = [model.encode(text).ids for text in TEXTS]
    return keyed(
        *(CausalTokens(ids, start) for ids in read for start in (1, 3)),
        *(NextTokens(ids[:4], (7, 8, 9, 7)) for ids in read),
        *(Generate(text, max_tokens=5) for text in TEXTS),
        Generate("The cat", max_tokens=12, stop=(" ", "e")),
        Generate("The cat", max_tokens=3, top=4),
        Options("The cat", options=("s", "t", "e")),
        Options("The cat", options=("s", "no token of this model")),
    )


def assert_alike(left: Mapping[str, Answer], right: Mapping[str, Answer]) -> None:
    assert left.keys() == right.keys()
    for key, answer in left.items():
        assert (answer.text, answer.end) == (right[key].text, right[key].end)
        assert len(answer.rows) == len(right[key].rows)
        for ours, theirs in zip(answer.rows, right[key].rows, strict=True):
            for column, values in ours.items():  # those of classes of words are not given
                assert values.tolist() == pytest.approx(theirs[column].tolist(), abs=1e-4)


@pytest.mark.parametrize("name", names("causal"))
def test_numbers_and_words_are_those_of_the_local_path(
    zoo: Zoo, stand_in: StandIn, name: str
) -> None:
    """Whatever a tokenizer puts before the first token of a text."""
    local, served = zoo.backend(name), opened(zoo.folder(name))
    requests = asked(local)
    assert [served.encode(text) for text in TEXTS] == [local.encode(text) for text in TEXTS]
    assert_alike(dict(served.answer(requests)), dict(local.answer(requests)))


@pytest.mark.parametrize("model", ["llama", "qwen2"])
def test_measures_are_those_of_the_slow_way(zoo: Zoo, stand_in: StandIn, model: str) -> None:
    served, slow = opened(zoo.folder(model)), zoo.reference(model)
    for measure in ("cat-likelihood", "cat-pseudo-likelihood"):
        assert_agree(measure, "sound", served, slow, items.cats())
    for measure in ("pair-sentence-likelihood", "pair-after-change-likelihood"):
        assert_agree(measure, "sound", served, slow, items.pairs())


def test_prompts_go_in_small_batches_and_each_text_once(zoo: Zoo, stand_in: StandIn) -> None:
    served = opened(zoo.folder("llama"))
    texts = [(1, *(each % 500 + 5 for each in range(at, at + 6))) for at in range(150)]
    requests = keyed(*(CausalTokens(ids, start) for ids in texts for start in (1, 2, 4)))
    assert dict(served.answer(requests)).keys() == requests.keys()
    distinct = len(set(texts))
    assert sum(stand_in.batches[1:]) == distinct < len(requests), "the first is the known sentence"
    assert max(stand_in.batches) <= 64 < distinct


def test_more_tokens_than_vllm_names_at_once_are_asked_in_parts(
    zoo: Zoo, stand_in: StandIn
) -> None:
    local, served = zoo.backend("llama"), opened(zoo.folder("llama"))
    requests = keyed(NextTokens(local.encode(TEXTS[0]).ids, tuple(range(300))))
    assert_alike(dict(served.answer(requests)), dict(local.answer(requests)))


def test_what_has_no_room_is_skipped_by_the_reason(zoo: Zoo, stand_in: StandIn) -> None:
    """vLLM always writes a token: a text may take one less than it has room for."""
    served = opened(zoo.folder("llama"), option={"max_model_len": "12"})
    assert served.abilities.window == 11
    request = Generate("The cat sat on the mat.", max_tokens=8)
    (answer,) = dict(served.answer(keyed(request))).values()
    assert (answer.end, stand_in.started) == (TOO_LONG, [])
    with pytest.raises(Skip, match="longer than the model's window"):
        served.encode("word " * 20)
    longest = keyed(CausalTokens(tuple(range(1, 12)), 1))
    assert len(dict(served.answer(longest))) == 1


def test_a_conversation_goes_through_the_models_own_template(
    zoo: Zoo, stand_in: StandIn, tmp_path: Path
) -> None:
    folder = shutil.copytree(zoo.folder("llama"), tmp_path / "chat")
    template = "{% for m in messages %}{{ m.role }}: {{ m.content }} {% endfor %}said:"
    (folder / "chat_template.jinja").write_text(template)
    local: Any = open_model(str(folder))
    served = opened(folder)
    assert served.abilities.chat_template == local.abilities.chat_template != ""
    requests = keyed(Generate(messages=(("user", "The cat?"),), max_tokens=5))
    assert_alike(dict(served.answer(requests)), dict(local.answer(requests)))


THINKS = (
    "{% for m in messages %}{{ m.role }}: {{ m.content }} {% endfor %}"
    "{% if enable_thinking is defined and not enable_thinking %}<think></think>{% endif %}said:"
)


@pytest.mark.parametrize("opens", [False, True])
def test_room_to_think_and_not_to_think_are_those_of_the_local_path(
    zoo: Zoo, stand_in: StandIn, tmp_path: Path, opens: bool
) -> None:
    folder = shutil.copytree(zoo.folder("llama"), tmp_path / "chat")
    (folder / "chat_template.jinja").write_text(THINKS + opens * "<think>\n")
    request = Generate(messages=(("user", "The cat?"),), max_tokens=2, stop=("e", " "))
    raw = Generate("The cat", max_tokens=2)
    ways: list[dict[str, Any]] = [{}, {"room": 9}, {"thinking": False}]
    found: list[tuple[Answer, Answer]] = []
    identities = set()
    for how in ways:
        both: list[Any] = [open_model(str(folder), 0, how), opened(folder, **how)]
        answers = [dict(each.answer(keyed(request, raw))) for each in both]
        assert_alike(*answers)
        found.append((answers[0][request.key], answers[0][raw.key]))
        identities.add(both[0].card.identity)
        for each in both:
            able, notes = each.abilities, " ".join(each.card.notes)
            assert (able.room, able.thinking) == (how.get("room", 0), how.get("thinking", True))
            assert (Options.kind in able.kinds) is (able.room == 0)
            assert ("Room for thinking: 9 tokens" in notes) is (able.room == 9)
            assert ("told so by enable_thinking" in notes) is (not able.thinking)
    assert len(identities) == 3
    (plain, rest), (roomy, *others), (told, _) = found
    assert [rest] * 2 == [*others, found[2][1]], "raw text is not thought about"
    # The template that opens thinking says so before the answer's own words.
    assert [str(each.text).startswith("<think>") for each in (plain, told)] == [opens, opens]
    assert [len(each.rows[0]["logprob"]) for each in (plain, roomy)] == [2, 11]
    assert (roomy.end, roomy.kept) == (("no room", False) if opens else ("stop", True))


# -------------------------------------------------------------------------------- how it is started


def test_options_reach_vllm_under_its_own_names(zoo: Zoo, stand_in: StandIn) -> None:
    how = {"tensor_parallel_size": "4", "gpu_memory_utilization": "0.8", "enforce_eager": "false"}
    served = opened(zoo.folder("llama"), dtype="bfloat16", option=how)
    assert stand_in.started == [], "nothing is asked yet"
    list(served.answer(keyed(CausalTokens((1, 2, 3), 1))))
    (keywords,) = stand_in.started
    assert keywords == {
        "model": str(zoo.folder("llama")),
        "dtype": "bfloat16",
        "max_model_len": 130,
        "trust_remote_code": False,
        "load_format": "safetensors",
        "tensor_parallel_size": 4,
        "gpu_memory_utilization": 0.8,
        "enforce_eager": False,
    }
    with pytest.raises(UsageError, match="no option 'tensor_paralel_size'"):
        opened(zoo.folder("llama"), option={"tensor_paralel_size": "4"})


@pytest.mark.parametrize(
    ("there", "heads", "shared", "used"),
    [(0, 32, 8, 1), (1, 32, 8, 1), (8, 32, 8, 8), (4, 9, 3, 3), (8, 12, 2, 6), (6, 32, 4, 4)],
)
def test_a_model_is_shared_by_as_many_gpus_as_its_heads_allow(
    there: int, heads: int, shared: int, used: int
) -> None:
    config = LlamaConfig(
        hidden_size=64 * heads, num_attention_heads=heads, num_key_value_heads=shared
    )
    assert engine.shared_by(there, config) == used


def test_all_gpus_are_used_and_a_model_is_compiled_for_them(
    zoo: Zoo, stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In half the precision where they do not hold it in full."""
    for memory in (10**9, 10**5):
        there = [Gpu("cuda:0", memory), Gpu("cuda:1", memory)]
        monkeypatch.setattr(engine, "gpus", lambda there=there: there)
        list(opened(zoo.folder("llama")).answer(keyed(CausalTokens((1, 2, 3), 1))))
    assert [each["tensor_parallel_size"] for each in stand_in.started] == [2, 2]
    assert [each["dtype"] for each in stand_in.started] == ["float32", "bfloat16"]
    assert not any("enforce_eager" in each for each in stand_in.started)


def test_one_engine_runs_at_a_time(zoo: Zoo, stand_in: StandIn) -> None:
    """Each takes all of the GPUs; one that is asked again starts again."""
    request = keyed(CausalTokens((1, 2, 3), 1))
    first, second = opened(zoo.folder("llama")), opened(zoo.folder("gpt2"))
    for model in (first, first, second, first):
        list(model.answer(request))
        assert stand_in.running == 1
    folders = [str(zoo.folder(name)) for name in ("llama", "gpt2", "llama")]
    assert [each["model"] for each in stand_in.started] == folders


# ----------------------------------------------------------------------------------- who a model is


def test_a_model_is_known_by_its_files_and_what_makes_other_numbers(
    zoo: Zoo, tmp_path: Path
) -> None:
    folder = shutil.copytree(zoo.folder("llama"), tmp_path / "llama")
    card = _card(folder)
    assert (card.name, card.family, card.spec) == ("llama", "causal", f"vllm:{folder}")
    local = zoo.backend("llama").card
    assert card.tokenizer_digest == local.tokenizer_digest
    assert card.settings["parameters"] == local.settings["parameters"]
    assert card.identity == _card(folder, option={"tensor_parallel_size": "2"}).identity
    others = [
        _card(folder, dtype="bfloat16"),
        _card(folder, option={"quantization": "fp8"}),
        _card(zoo.folder("qwen2")),
        zoo.backend("llama").card,
    ]
    weights = folder / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    identities = {each.identity for each in (card, *others, _card(folder))}
    assert len(identities) == 6


def test_a_model_of_the_hub_is_known_by_its_commit(zoo: Zoo, tmp_path: Path) -> None:
    commit = "0123456789abcdef0123456789abcdef01234567"
    folder = shutil.copytree(zoo.folder("llama"), tmp_path / "snapshots" / commit)
    assert _card(folder).digest == commit


def _card(folder: Path, **options: Any) -> Any:
    from stereometer.core.runs.open import model_spec
    from stereometer.models.local.checkpoint import LoadingOptions
    from stereometer.models.vllm.opener import VLLM

    spec = model_spec(f"vllm:{folder}", 0, options)
    found = VLLM.open(spec.spec, spec.options)
    assert isinstance(spec.options, LoadingOptions)
    return found.card


# --------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("bert", "is a masked model, and vLLM gives tokens their probabilities from left to right"),
        ("xlnet", "is a permuted model"),
    ],
)
def test_models_that_do_not_read_from_left_to_right_are_refused(
    zoo: Zoo, stand_in: StandIn, model: str, reason: str
) -> None:
    with pytest.raises(ModelError, match=reason):
        opened(zoo.folder(model))


def test_what_a_masked_or_hidden_answer_needs_is_refused_by_ability(
    zoo: Zoo, stand_in: StandIn
) -> None:
    assert SpanVectors.kind not in opened(zoo.folder("llama")).abilities.kinds
    said = call(
        "run", "starter", "-m", f"vllm:{zoo.folder('llama')}", "--measure", "cat-likelihood"
    )
    assert said.code == 0, said.err
    said = call("run", "abc", "-m", f"vllm:{zoo.folder('llama')}", "--measure", "causal-set")
    assert said.code != 0
    assert "cannot" in said.err or "needs" in said.err


def test_without_vllm_the_way_to_it_is_named(zoo: Zoo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(ModelError, match=r"needs vllm and .*pip install '\.\[vllm\]'"):
        opened(zoo.folder("llama"))


@pytest.mark.parametrize(
    ("trouble", "way_out"),
    [
        (ValueError("Free memory on device cuda:0 (3/24 GiB) is less than"), "--dtype bfloat16"),
        (RuntimeError("Engine core initialization failed."), "tensor_parallel_size"),
        (ValueError("Model architectures ['Own'] are not supported"), "Leave out the scheme"),
    ],
)
def test_what_vllm_cannot_start_is_said_with_the_way_out(
    zoo: Zoo, stand_in: StandIn, trouble: Exception, way_out: str
) -> None:
    stand_in.trouble = trouble
    with pytest.raises(ModelError, match=way_out) as caught:
        list(opened(zoo.folder("llama")).answer(keyed(CausalTokens((1, 2, 3), 1))))
    assert str(trouble).rstrip(".") in str(caught.value)


def test_an_engine_that_ends_while_it_answers_can_be_asked_again(
    zoo: Zoo, stand_in: StandIn
) -> None:
    served, request = opened(zoo.folder("llama")), keyed(CausalTokens((1, 2, 3), 1))
    list(served.answer(request))
    stand_in.trouble = RuntimeError("CUDA out of memory")
    with pytest.raises(ModelError, match="CUDA out of memory"):
        list(served.answer(request))
    assert stand_in.running == 0
    stand_in.trouble = None
    assert len(dict(served.answer(request))) == 1


def test_weights_that_were_not_found_are_noticed(zoo: Zoo, stand_in: StandIn) -> None:
    """A tied matrix under another name than the architecture's own: vLLM leaves the embeddings
    empty, and every token has one probability."""
    stand_in.uniform = True
    with pytest.raises(ModelError, match=r"every token of .* the same probability"):
        list(opened(zoo.folder("llama")).answer(keyed(CausalTokens((1, 2, 3), 1))))
    assert stand_in.running == 0


@pytest.mark.parametrize(
    ("spec", "error", "reason"),
    [
        ("", UsageError, "names no model"),
        ("./nowhere", ModelError, "was not found"),
        ("{empty}", ModelError, "without config.json"),
        ("{file}", ModelError, "is no whole model as engines read it"),
        ("{adapter}", ModelError, "is no whole model as engines read it"),
        ("{damaged}", ModelError, "could not be loaded"),
    ],
)
def test_what_is_no_model_is_refused(
    zoo: Zoo,
    stand_in: StandIn,
    tmp_path: Path,
    spec: str,
    error: type[StereometerError],
    reason: str,
) -> None:
    places = {name: tmp_path / name for name in ("empty", "adapter", "damaged")}
    places["empty"].mkdir()
    shutil.copytree(zoo.folder("llama"), places["adapter"])
    (places["adapter"] / "adapter_config.json").write_text("{}")
    shutil.copytree(zoo.folder("llama"), places["damaged"])
    (places["damaged"] / "config.json").write_text("{]")
    places["file"] = tmp_path / "model.gguf"
    places["file"].write_bytes(b"GGUF")
    with pytest.raises(error, match=reason):
        opened(spec.format_map(places))


def test_a_head_is_refused(zoo: Zoo, stand_in: StandIn) -> None:
    with pytest.raises(UsageError, match="takes no head"):
        opened(zoo.folder("llama"), head="nsp.safetensors")


# ----------------------------------------------------------------------------- on the command line


def test_run_and_ask(zoo: Zoo, stand_in: StandIn, tmp_path: Path) -> None:
    """A finished run starts no engine."""
    how = ("--limit", 6, "--resamples", 100, "--json", "--out")
    local, model = zoo.folder("llama"), f"vllm:{zoo.folder('llama')}"
    ours = call("run", "starter", "-m", local, *how, tmp_path / "local")
    for _ in range(2):
        theirs = call("run", "starter", "-m", model, *how, tmp_path / "runs")
        assert (ours.code, theirs.code) == (0, 0), theirs.err
    assert len(stand_in.started) == 1
    for left, right in zip(theirs.json["results"], ours.json["results"], strict=True):
        expected = [one["value"] for one in right["estimates"]]
        assert [one["value"] for one in left["estimates"]] == pytest.approx(expected, abs=1e-3)
    said = call("ask", "starter", "-m", model, *how, tmp_path / "asked")
    assert said.code in (0, 3), said.err
