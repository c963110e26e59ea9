"""A stand-in for the three calls of vLLM that are made: its class, its parameters and `generate`.
The numbers are those of transformers, one text at a time; what does not fit is refused as vLLM
refuses it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

collect_ignore_glob = [] if find_spec("torch") and find_spec("transformers") else ["test_*.py"]
"""Language models are an optional part of the package."""


@dataclass
class SamplingParams:
    """The fields that are used, and no others."""

    max_tokens: int = 16
    temperature: float = 1.0
    seed: int | None = None
    stop: Sequence[str] = ()
    logprobs: int | None = None
    prompt_logprobs: int | None = None
    logprob_token_ids: Sequence[int] | None = None
    detokenize: bool = True


@dataclass
class StandIn:
    """What was started and asked, and what goes wrong."""

    started: list[Mapping[str, Any]] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    """Prompts of each call."""
    running: int = 0
    trouble: Exception | None = None
    """What starting, or the next call, raises."""
    uniform: bool = False
    """Whether weights were not found, which vLLM takes for a matter of its log."""


class OfflineClass:
    def __init__(self, told: StandIn, **keywords: Any) -> None:
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        told.started.append(keywords)
        if told.trouble:
            raise told.trouble
        self.told, self.most = told, int(keywords["max_model_len"])
        folder, dtype = keywords["model"], getattr(torch, keywords["dtype"])
        self.model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        told.running += 1
        self.llm_engine = SimpleNamespace(engine_core=self)

    def shutdown(self) -> None:
        self.told.running -= 1

    def generate(
        self, prompts: Sequence[Any], params: Sequence[SamplingParams], use_tqdm: bool
    ) -> list[Any]:
        self.told.batches.append(len(prompts))
        if self.told.trouble:
            raise self.told.trouble
        pairs = zip(prompts, params, strict=True)
        return [self._output(list(prompt["prompt_token_ids"]), how) for prompt, how in pairs]

    def _output(self, ids: list[int], how: SamplingParams) -> Any:
        assert len(ids) + how.max_tokens <= self.most, "vLLM refuses what is too long"
        assert len(how.logprob_token_ids or ()) <= 128, "vLLM names no more tokens"
        prompt = None
        if how.prompt_logprobs is not None:
            rows = self._logprobs(ids)
            own = [{token: rows[at][token]} for at, token in enumerate(ids[1:])]
            prompt = [None, *map(self._listed, own)]
        return SimpleNamespace(prompt_logprobs=prompt, outputs=[self._written(ids, how)])

    def _written(self, ids: list[int], how: SamplingParams) -> Any:
        written: list[int] = []
        listed, reason, stop = [], "length", None
        ends = self.model.generation_config.eos_token_id, self.tokenizer.eos_token_id
        while len(written) < how.max_tokens:
            row = self._logprobs([*ids, *written])[-1]
            token = int(row.argmax())
            written.append(token)
            best = row.topk(how.logprobs).indices.tolist() if how.logprobs else ()
            named = {token, *best, *(how.logprob_token_ids or ())}
            listed.append(self._listed({each: row[each] for each in named}))
            if token in ends:
                reason = "stop"
                break
            stop = next((s for s in how.stop if s in self.tokenizer.decode(written)), None)
            if stop:
                reason = "stop"
                break
        return SimpleNamespace(
            token_ids=written, logprobs=listed, finish_reason=reason, stop_reason=stop
        )

    def _logprobs(self, ids: list[int]) -> Any:
        import torch

        with torch.inference_mode():
            logits = self.model(input_ids=torch.tensor([ids])).logits[0].float()
        return (logits * (0.0 if self.told.uniform else 1.0)).log_softmax(-1)

    def _listed(self, values: Mapping[int, Any]) -> Any:
        return {token: SimpleNamespace(logprob=float(value)) for token, value in values.items()}


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    from stereometer.models.vllm import engine

    told = StandIn()
    module: Any = ModuleType("vllm")
    module.__spec__ = ModuleSpec("vllm", None)
    module.SamplingParams = SamplingParams
    module.LLM = lambda **keywords: OfflineClass(told, **keywords)
    monkeypatch.setitem(sys.modules, "vllm", module)
    for name in engine.QUIET:
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(engine.VllmEngine, "running", None)
    return told
