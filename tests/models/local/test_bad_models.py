"""Folders, files and names that are no model we can ask: exit code 3, three sentences, no
traceback."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

import stereometer
from stereometer.core.errors import ModelError, StereometerError
from stereometer.core.runs.open import open_model
from stereometer.models.local.opener import CHECKPOINT
from tests.builders.commands import assert_refused, call
from tests.builders.models.builders import BUILDS, save, seeded
from tests.builders.models.damaged import MODEL_ERROR, changed_config, copied, rewritten, run
from tests.builders.models.vocabularies import has_bos, minilm_folder, wordpiece
from tests.builders.models.zoo import Zoo

# ----------------------------------------------------------------------------------- no model there


NO_CONFIG = ["without config.json", "Name the folder that holds config.json"]


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        pytest.param("", None, NO_CONFIG, id="an empty folder"),
        pytest.param("", "notes.txt", NO_CONFIG, id="a folder of something else"),
        pytest.param("model.bin", "model.bin", ["is a file, but not a .gguf file"], id="a file"),
        pytest.param("bad.gguf", "bad.gguf", ["could not be loaded"], id="a GGUF file of words"),
    ],
)
def test_a_place_without_a_model(
    tmp_path: Path, name: str, content: str | None, parts: list[str]
) -> None:
    if content:
        (tmp_path / content).write_text("nothing to see")
    assert_refused(run(tmp_path / name), MODEL_ERROR, *parts)
    if not name:
        assert_refused(call("doctor", "--model", tmp_path), MODEL_ERROR, *parts)


@pytest.mark.parametrize(
    "config", ["{}", "not json", '{"model_type": "martian"}', '{"model_type": "clip"}', "[]", ""]
)
def test_a_config_that_names_no_language_model(tmp_path: Path, config: str) -> None:
    (tmp_path / "config.json").write_text(config)
    assert_refused(run(tmp_path), MODEL_ERROR, str(tmp_path))


@pytest.mark.parametrize(
    ("spec", "code", "words"),
    [
        ("./my-modle", MODEL_ERROR, "./my-modle was not found. Did you mean ./my-model?"),
        (".\\my-modle", MODEL_ERROR, "was not found. Did you mean my-model?"),
        ("sentiment:./my-modle/", MODEL_ERROR, "Did you mean ./my-model?"),
        ("no.gguf", MODEL_ERROR, "no.gguf was not found. Nothing beside it has a similar name."),
        ("/no/such/folder", MODEL_ERROR, "was not found. There is no folder /no/such."),
        ("out", MODEL_ERROR, "Name the folder that holds config.json, such as out/step5."),
        ("http://localhost:1/v1#m", 2, "Write server:http://localhost:1/v1#m."),
        ("https://me:secret@host/v1", 2, "Write server:https://HOST/v1#MODEL."),
        ("opena:gpt-x", 2, "Did you mean openai:gpt-x"),
        ("foo:bar", 2, "write server:https://HOST/v1#bar."),
        ("openai:", 2, "For instance openai:NAME."),
        ("localhost:8000/v1#m", 2, "write server:http://localhost:8000/v1#m."),
        ("sever:http://h/v1#m", 2, "write server:http://h/v1#m."),
        (" ", 2, "That names none."),
    ],
)
def test_a_slip_in_a_spec_is_seen_before_torch_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, code: int, words: str
) -> None:
    (tmp_path / "my-model").mkdir()
    (tmp_path / "out" / "step5").mkdir(parents=True)
    (tmp_path / "out" / "step5" / "config.json").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("stereometer.core.types.opener.find_spec", lambda module: None)
    for command in ("run", "ask", "sweep"):
        said = call(command, "starter", "-m", spec)
        assert_refused(said, code, words)
        assert "secret" not in said.err
    with pytest.raises(StereometerError) as error:
        stereometer.run("starter", model=spec)
    assert words in str(error.value)


@pytest.mark.parametrize(
    "name",
    [
        "nobody/no-such-model",
        "no-such-model",
        "nobody/no-such-model@main",
        "a b!!",
    ],
)
def test_a_name_that_cannot_be_fetched_offline_says_what_to_do(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket.socket, "connect", _no_network)
    assert_refused(
        run(name),
        MODEL_ERROR,
        "could not be found or fetched",
        "Offline, name a local folder",
        "stereometer list",
    )


def _no_network(*_: Any) -> None:
    raise AssertionError("HF_HUB_OFFLINE is set and the network was tried")


def test_a_slip_of_a_known_name_is_corrected() -> None:
    assert_refused(run("smollm2-135"), 2, "Did you mean smollm2-135m?")


# ------------------------------------------------------------------------------------------ weights


@pytest.mark.parametrize("kept", [0.0, 0.5], ids=["none of it", "cut short"])
def test_damaged_weights(zoo: Zoo, tmp_path: Path, kept: float) -> None:
    folder = copied(zoo, "bert", tmp_path / "model")
    whole = (folder / "model.safetensors").read_bytes()
    left = whole[: int(len(whole) * kept)] or b"nothing to see" * 9
    (folder / "model.safetensors").write_bytes(left)
    assert_refused(run(folder), MODEL_ERROR, "could not be loaded", "damaged")


def test_no_weights_at_all(zoo: Zoo, tmp_path: Path) -> None:
    folder = copied(zoo, "bert", tmp_path / "model", "*.safetensors")
    assert_refused(run(folder), MODEL_ERROR, "holds no weights")


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"hidden_size": 16}, "could not be loaded"),
        ({"num_hidden_layers": 1}, "weights that its configuration leaves out"),
    ],
    ids=["of another shape", "of more layers"],
)
def test_other_weights_than_the_configuration_says(
    zoo: Zoo, tmp_path: Path, change: dict[str, int], part: str
) -> None:
    folder = changed_config(copied(zoo, "bert", tmp_path / "m"), **change)
    assert_refused(run(folder), MODEL_ERROR, part)


def pickled(zoo: Zoo, folder: Path) -> Path:
    torch.save(
        zoo.checkpoint("bert").model.state_dict(),
        copied(zoo, "bert", folder, "*.safetensors") / "pytorch_model.bin",
    )
    return folder


def test_pickled_weights_are_refused_or_labelled_where_allowed(zoo: Zoo, tmp_path: Path) -> None:
    folder = pickled(zoo, tmp_path / "model")
    assert_refused(run(folder), MODEL_ERROR, "can run code when loaded", "--allow-pickle")
    said = run(folder, "--allow-pickle", "--json")
    assert said.code == 0
    assert all("Loaded with --allow-pickle." in result["notes"] for result in said.json["results"])
    opened = open_model(str(folder), options={"allow_pickle": True})
    assert opened.card.digest == zoo.backend("bert").card.digest


def test_an_encoder_without_its_language_model_head() -> None:
    folder = str(minilm_folder())
    with pytest.raises(ModelError):
        open_model(folder)


def test_a_weight_that_is_missing(zoo: Zoo, tmp_path: Path) -> None:
    name = "bert.encoder.layer.0.attention.self.query.weight"
    folder = rewritten(copied(zoo, "bert", tmp_path / "model"), lambda tensors: tensors.pop(name))
    with pytest.raises(ModelError):
        open_model(str(folder))


@pytest.mark.parametrize(
    ("model", "name", "measure"),
    [
        ("bert", "bert.encoder.layer.0.attention.self.query.weight", "pair-likelihood"),
        ("gpt2", "transformer.h.0.mlp.c_fc.weight", "pair-sentence-likelihood"),
    ],
)
def test_weights_that_are_no_numbers_give_no_score(
    zoo: Zoo, tmp_path: Path, model: str, name: str, measure: str
) -> None:
    folder = rewritten(
        copied(zoo, model, tmp_path / "model"), lambda tensors: tensors[name].fill_(float("nan"))
    )
    (result,) = stereometer.run(
        "starter", model=str(folder), measure=[measure], limit=3, resamples=100
    )
    one = result.estimate("pair_preference")
    assert one.value is None
    assert one.skipped == {"a score is not a finite number": 3}


# --------------------------------------------------------------------------------------- tokenizers


@pytest.mark.parametrize(
    ("tokenizer", "parts"),
    [
        (has_bos, ["has no mask token", "Choose a masked model"]),
        (transformers.ByT5Tokenizer, ["has no fast tokenizer", "offsets"]),
    ],
    ids=["without a mask", "without offsets"],
)
def test_a_tokenizer_that_lacks_something(
    zoo: Zoo, tmp_path: Path, tokenizer: Any, parts: list[str]
) -> None:
    folder = copied(zoo, "bert", tmp_path / "model", "*token*")
    tokenizer().save_pretrained(folder)
    assert_refused(run(folder), MODEL_ERROR, *parts)


@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_no_tokenizer_at_all(zoo: Zoo, tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match=r"has no tokenizer\. .* Add its files"):
        open_model(str(copied(zoo, name, tmp_path / "model", "*token*")))


def test_a_tokenizer_of_another_model(tmp_path: Path) -> None:
    small = seeded(BUILDS["bert"].make(range(300)))  # type: ignore[arg-type]
    folder = save(small, wordpiece(True), tmp_path / "model")
    assert_refused(run(folder), MODEL_ERROR, str(folder))


# ----------------------------------------------------------------------------- what cannot be asked


def test_an_encoder_decoder_model_is_refused_with_what_is_supported(tmp_path: Path) -> None:
    config = transformers.T5Config(
        vocab_size=300, d_model=16, d_kv=4, d_ff=16, num_layers=1, num_heads=2
    )
    save(transformers.T5ForConditionalGeneration(config), has_bos(), tmp_path)
    assert_refused(
        run(tmp_path), MODEL_ERROR, "encoder-decoder", "Masked, causal and XLNet-like models are"
    )


@pytest.mark.parametrize(
    ("model", "option", "parts"),
    [
        (
            "gpt2",
            "--measure pair-likelihood",
            ["needs masked-tokens", "the model answers causal-tokens", "another measure"],
        ),
        ("bert", "--measure pair-sentence-likelihood", ["masked-tokens", "pair-likelihood"]),
        ("bert", "--dtype int4", ["no dtype 'int4'", "float32"]),
        ("xlnet", "--dtype bfloat16", []),
    ],
)
def test_what_a_model_cannot_be_asked(zoo: Zoo, model: str, option: str, parts: list[str]) -> None:
    name, value = option.split()
    said = run(zoo.folder(model), name, value)
    assert_refused(said, MODEL_ERROR, *parts)
    assert name == "--dtype" or f"cannot answer {value}" in said.err


def test_without_a_measure_the_first_that_fits_is_taken(zoo: Zoo) -> None:
    for model, measure in (
        ("bert", "pair-likelihood@1"),
        ("gpt2", "pair-sentence-likelihood@1"),
        ("xlnet", "pair-likelihood@1"),
    ):
        results = stereometer.run("starter", model=str(zoo.folder(model)), limit=3, resamples=100)
        assert [result.measure for result in results] == ["cat-pseudo-likelihood@1", measure]


@pytest.mark.parametrize("device", ["toaster", "cuda:9", "meta"])
def test_a_device_that_is_not_there(zoo: Zoo, device: str) -> None:
    with pytest.raises(ModelError):
        open_model(str(zoo.folder("bert")), options={"device": device})


def test_code_of_its_own_is_refused_unless_trusted(zoo: Zoo, tmp_path: Path) -> None:
    folder = copied(zoo, "bert", tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "own",
        "auto_map": {"AutoConfig": "own.OwnConfig", "AutoModelForMaskedLM": "own.OwnModel"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text("raise SystemExit('ran')")
    assert_refused(run(folder), MODEL_ERROR, "needs code of its own", "--trust-remote-code")


def test_doctor_shows_how_a_model_reads(zoo: Zoo) -> None:
    for model in ("bert", "roberta", "gpt2", "xlnet"):
        said = call("doctor", "--model", zoo.folder(model), "--json")
        assert said.code == 0, said.err
        assert said.json["card"]["family"] == BUILDS[model].family
        assert len(said.json["samples"]) == 3
        assert all(sample["scores"] for sample in said.json["samples"])


def test_doctor_shows_what_is_read_and_not_scored(zoo: Zoo) -> None:
    """Inside a sentence the filler and the special tokens are read, and every other token has its
    number."""
    (row,) = call("doctor", "--model", zoo.folder("bert"), "--json").json["samples"][0]["rows"][
        "stereotype"
    ]
    silent = [at for at, (_, value) in enumerate(row) if value is None]
    assert {0, len(row) - 1} < set(silent)
    filler = silent[1:-1]
    assert filler == list(range(filler[0], filler[-1] + 1))
    said = call("doctor", "--model", zoo.folder("bert")).out
    assert f"({row[filler[0]][0]})" in said
    assert "read, not scored" in said


@pytest.mark.parametrize(
    "name",
    [
        "bert.encoder.layer.0.adapter.down.weight",
        "encoder.layer.1.adapter.down.weight",
        "bert.encoder.layer.9.output.dense.weight",
    ],
)
def test_weights_inside_the_layers_that_are_not_used_are_refused(
    zoo: Zoo, tmp_path: Path, name: str
) -> None:
    folder = copied(zoo, "bert", tmp_path / "m")
    rewritten(folder, lambda tensors: tensors.update({name: torch.ones(3)}))
    assert_refused(run(folder), MODEL_ERROR, f"leaves out: {name}. What would be measured")


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("bert.gate.weight", True),
        ("bert.pooler.dense.weight", False),
        ("classifier.0.weight", False),
        ("qa_outputs.bias", False),
        ("bert.embeddings.position_ids", False),
        ("bert.encoder.layer.0.attention.masked_bias", False),
    ],
)
def test_weights_that_are_not_used_are_named_unless_of_another_head_or_old_buffers(
    zoo: Zoo, tmp_path: Path, name: str, told: bool
) -> None:
    folder = copied(zoo, "bert", tmp_path / "m")
    rewritten(folder, lambda tensors: tensors.update({name: torch.ones(3)}))
    for result in run(folder, "--json").json["results"]:
        notes = " ".join(result["notes"])
        assert ("does not use" in notes) == told
        assert (f"weights that the model does not use: {name}." in notes) == told


def test_code_that_a_checkpoint_brings_and_nobody_runs_is_named(zoo: Zoo, tmp_path: Path) -> None:
    folder = copied(zoo, "bert", tmp_path / "m")
    changed_config(folder, auto_map={"AutoModelForMaskedLM": "modeling_own.Own"})
    (folder / "modeling_own.py").write_text("raise RuntimeError('run')")
    for result in run(folder, "--json").json["results"]:
        assert any("code of its own, which was not run" in note for note in result["notes"])


def test_where_a_model_stops_writing_belongs_to_its_identity(zoo: Zoo, tmp_path: Path) -> None:
    folder = copied(zoo, "gpt2", tmp_path / "m")
    identities = set()
    for ends in (None, [5], [5, 6]):
        if ends is not None:
            (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": ends}))
        identities.add(open_model(str(folder)).card.identity)
    assert len(identities) == 3


OWN_CODE = """from transformers import BertForMaskedLM
from .scale import SCALE
class Own(BertForMaskedLM):
    scale = SCALE
"""


def test_every_file_of_its_own_code_belongs_to_a_models_identity(zoo: Zoo, tmp_path: Path) -> None:
    identities = set()
    for scale in (1, 2):
        folder = copied(zoo, "bert", tmp_path / str(scale) / "m")
        changed_config(folder, auto_map={"AutoModelForMaskedLM": "modeling_own.Own"})
        (folder / "modeling_own.py").write_text(OWN_CODE)
        (folder / "scale.py").write_text(f"SCALE = {scale}\n")
        backend: Any = open_model(str(folder), options={"trust_remote_code": True})
        assert backend.model.scale == scale
        identities.add(backend.card.identity)
    assert len(identities) == 2


def test_code_of_a_model_in_memory_is_said_to_run(zoo: Zoo, tmp_path: Path) -> None:
    folder = copied(zoo, "bert", tmp_path / "m")
    changed_config(folder, auto_map={"AutoModelForMaskedLM": "modeling_own.Own"})
    (folder / "modeling_own.py").write_text(OWN_CODE)
    (folder / "scale.py").write_text("SCALE = 3\n")
    model = transformers.AutoModelForMaskedLM.from_pretrained(folder, trust_remote_code=True)
    with CHECKPOINT.held((model, zoo.checkpoint("bert").tokenizer), {}) as backend:
        notes = " ".join(backend.card.notes)
    assert "that code runs" in notes
    assert "was not run" not in notes
