"""A model that the caller has loaded: measured as it is, known by its weights, left as it was."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForMaskedLM,
    AutoTokenizer,
    BertModel,
    pipeline,
)

import stereometer
from stereometer.core.errors import ModelError, UsageError
from tests.builders.models.zoo import Zoo

NOTEBOOK = Path(__file__).parents[3] / "docs" / "tutorials" / "notebook.ipynb"
QUICK: dict[str, Any] = {"limit": 12, "resamples": 100}
FAMILIES = {"bert": AutoModelForMaskedLM, "gpt2": AutoModelForCausalLM}


def loaded(zoo: Zoo, name: str) -> tuple[Any, Any]:
    """Model and tokenizer, as a user loads them."""
    model = FAMILIES[name].from_pretrained(zoo.folder(name))
    return model, zoo.checkpoint(name).tokenizer


@pytest.mark.parametrize("name", FAMILIES)
def test_a_model_in_memory_gives_the_numbers_and_the_identity_of_its_folder(
    zoo: Zoo, name: str
) -> None:
    kept = stereometer.run("starter", model=zoo.folder(name), **QUICK)
    held = stereometer.run("starter", model=loaded(zoo, name), **QUICK)
    for stored, passed in zip(kept, held, strict=True):
        assert passed.estimates == stored.estimates
        for part in ("digest", "tokenizer_digest", "dtype", "settings"):
            assert passed.model_card[part] == stored.model_card[part]
        assert passed.model.endswith(passed.model_card["digest"][:8])


@pytest.mark.parametrize(("name", "task"), [("bert", "fill-mask"), ("gpt2", "text-generation")])
def test_a_pipeline_is_measured_by_its_model_and_tokenizer(zoo: Zoo, name: str, task: str) -> None:
    model, tokenizer = loaded(zoo, name)
    piping: Any = pipeline
    piped = stereometer.run("starter", model=piping(task, model, tokenizer=tokenizer), **QUICK)
    paired = stereometer.run("starter", model=(model, tokenizer), **QUICK)
    assert [each.estimates for each in piped] == [each.estimates for each in paired]


@pytest.mark.long
def test_changed_weights_are_another_model(zoo: Zoo) -> None:
    model, tokenizer = loaded(zoo, "bert")
    before = stereometer.run("starter", model=(model, tokenizer), **QUICK)
    with torch.no_grad():
        model.get_input_embeddings().weight += 0.5
    after = stereometer.run("starter", model=(model, tokenizer), **QUICK)
    assert before[0].model != after[0].model
    assert before[0].model_card["digest"] != after[0].model_card["digest"]


@pytest.mark.parametrize("name", FAMILIES)
def test_training_goes_on_afterwards(zoo: Zoo, name: str) -> None:
    model, tokenizer = loaded(zoo, name)
    model.train()
    frozen = next(model.parameters()).requires_grad_(False)
    stereometer.run("starter", model=(model, tokenizer), name="between epochs", **QUICK)
    assert model.training
    assert not frozen.requires_grad
    ids = tokenizer("The cook is here.", return_tensors="pt")["input_ids"]
    model(input_ids=ids, labels=ids).loss.backward()
    assert any(weights.grad is not None for weights in model.parameters())


@pytest.mark.parametrize("wrong", [None, 3, {}, (), ("gpt2", "gpt2"), object()])
def test_anything_else_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match=r"model= cannot take .* Pass one of those"):
        stereometer.run("starter", model=wrong, **QUICK)


def test_half_a_model_is_refused(zoo: Zoo) -> None:
    model, tokenizer = loaded(zoo, "bert")
    with pytest.raises(UsageError, match="is not a tokenizer"):
        stereometer.run("starter", model=(model, None), **QUICK)
    with pytest.raises(UsageError, match=r"the model comes second\. .* Swap the two"):
        stereometer.run("starter", model=(tokenizer, model), **QUICK)
    with pytest.raises(UsageError, match="cannot take a value of type BertForMaskedLM"):
        stereometer.run("starter", model=model, **QUICK)
    with pytest.raises(UsageError, match=r"device= is for models that stereometer loads"):
        stereometer.run("starter", model=(model, tokenizer), device="cuda", **QUICK)
    with pytest.raises(ModelError, match="Load it with AutoModelForMaskedLM"):
        stereometer.run("starter", model=(BertModel(model.config), tokenizer), **QUICK)


@pytest.mark.long
def test_the_notebook_tutorial_runs_and_shows_every_value(
    zoo: Zoo, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = loaded(zoo, "gpt2")
    for kind, found in ((AutoModelForCausalLM, model), (AutoTokenizer, tokenizer)):
        monkeypatch.setattr(kind, "from_pretrained", lambda name, found=found: found)
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert not cell["outputs"]
            source = "".join(cell["source"]).replace("limit=60", "limit=12, resamples=100")
            code = ast.parse(source.replace("after[0])", "after[0], resamples=100)"))
            last = code.body.pop() if isinstance(code.body[-1], ast.Expr) else None
            exec(compile(code, NOTEBOOK.name, "exec"), names)
            if isinstance(last, ast.Expr) and "print" not in ast.unparse(last):
                value = eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), names)
                assert "<table" in value._repr_html_() or "<svg" in value._repr_html_()
