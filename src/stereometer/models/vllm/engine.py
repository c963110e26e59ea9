"""vLLM's offline class with one model.

It is started when it is first asked, because that takes a minute or more, and a finished run asks
nothing. One runs at a time: each takes the memory of all GPUs that it sees.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from typing import Any

from stereometer.core.errors import ModelError
from stereometer.models.local.checkpoint import LoadingOptions
from stereometer.models.local.files import first_line
from stereometer.models.local.places import AUTO, BYTES, FULL, HALF, WEIGHTS, gpus
from stereometer.models.local.prompts import Ids
from stereometer.models.local.quantised import quantisation_of
from stereometer.models.local.unloaded import Unloaded
from stereometer.models.vllm.opener import VllmOptions

QUIET = {
    "VLLM_LOGGING_LEVEL": "ERROR",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_NO_USAGE_STATS": "1",
}
"""Standard output is the result's, and nobody is told what is measured here."""
UNIFORM = 1e-4
"""Log-probabilities of a sentence's tokens that lie as near as this are all one number."""

Asked = tuple[Ids, Mapping[str, Any]]
"""A prompt, and what is wanted of it by the names of vLLM's SamplingParams."""
SENTENCE = "The cat sat on the mat and looked out of the window."


class VllmEngine:
    """Answers prompts of token ids."""

    running: VllmEngine | None = None
    """The one that runs, of all of them."""

    def __init__(self, spec: str, keywords: Mapping[str, Any], known: Ids) -> None:
        """`known` is a sentence, by which is seen whether the weights were read."""
        self.spec, self.keywords, self.known = spec, keywords, known
        self.llm: Any = None

    def ask(self, asked: Sequence[Asked]) -> list[Any]:
        """vLLM's outputs, in the order of the prompts."""
        if self.llm is None:
            self._start()
        return self._generated(asked)

    def _generated(self, asked: Sequence[Asked]) -> list[Any]:
        from vllm import SamplingParams

        texts = [{"prompt_token_ids": list(ids)} for ids, _ in asked]
        how = [SamplingParams(**wanted) for _, wanted in asked]
        try:
            return list(self.llm.generate(texts, how, use_tqdm=False))
        except Exception as error:
            self.stop()
            raise ModelError(
                f"vLLM gave up on {self.spec}: {first_line(error)}. Its memory may have been too "
                "small. Try --option gpu_memory_utilization=0.8; answers so far are kept."
            ) from None

    def _start(self) -> None:
        if VllmEngine.running is not None:
            VllmEngine.running.stop()
        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        from vllm import LLM

        try:
            self.llm = LLM(**self.keywords)
        except Exception as error:
            raise self._unfit(first_line(error)) from None
        VllmEngine.running = self
        self._check_weights()

    def stop(self) -> None:
        """Gives the memory back; asked again, it starts again."""
        llm, self.llm, VllmEngine.running = self.llm, None, None
        with suppress(AttributeError):
            llm.llm_engine.engine_core.shutdown()

    def _check_weights(self) -> None:
        """vLLM starts, with a warning, where a folder stores a tied matrix under another name than
        the architecture's own: then every token has the same probability."""
        (output,) = self._generated([(self.known, SCORED)])
        values = logprobs(output, self.known)[1:]
        if max(values) - min(values) < UNIFORM:
            self.stop()
            raise ModelError(
                f"vLLM gives every token of {self.spec} the same probability: it did not find all "
                "of the weights. The folder may store them under other names than the architecture "
                "has. Load it in transformers and save it again, or leave out the scheme."
            )

    def _unfit(self, reason: str) -> ModelError:
        if "architecture" in reason:
            return ModelError(
                f"vLLM cannot run {self.spec}: {reason}. It has not written this architecture. "
                "Leave out the scheme, so that transformers runs it."
            )
        return ModelError(
            f"vLLM could not start with {self.spec}: {reason}. A GPU may be too small for it. Try "
            "--dtype bfloat16, --option max_model_len=1024, or more GPUs with --option "
            "tensor_parallel_size=N; on a CPU, --option gpu_memory_utilization=0.3, the share of "
            "memory that it takes."
        )


SCORED = {"max_tokens": 1, "temperature": 0.0, "prompt_logprobs": 0, "detokenize": False}
"""What is wanted of a text whose own tokens are scored."""


def logprobs(output: Any, ids: Ids) -> list[float]:
    """Of a prompt's tokens; the first has nothing before it."""
    given = zip(output.prompt_logprobs[1:], ids[1:], strict=True)
    return [float("nan"), *(float(listed[token].logprob) for listed, token in given)]


# -------------------------------------------------------------------------------- how it is started

CHOSEN = {each.name for each in fields(VllmOptions)} - {
    each.name for each in fields(LoadingOptions)
}


def keywords(model: Unloaded, options: VllmOptions, longest: int) -> Mapping[str, Any]:
    """The arguments of vLLM's class: a folder, so that it fetches nothing, and what was chosen."""
    there = gpus()
    chosen = {
        "tensor_parallel_size": shared_by(len(there), model.structure.config),
        "enforce_eager": None if there else True,  # compiling for a CPU takes minutes
    } | {name: value for name in CHOSEN if (value := getattr(options, name)) is not None}
    return {
        "model": str(model.folder),
        "dtype": options.dtype,
        "max_model_len": longest,
        "trust_remote_code": options.trust_remote_code,
        "load_format": "auto" if options.allow_pickle else "safetensors",
        **{name: value for name, value in chosen.items() if value is not None},
    }


def shared_by(there: int, config: Any) -> int:
    """How many GPUs share a model: vLLM gives each as many heads, and as many of those that several
    heads share, or one of them."""
    text = config.get_text_config()
    heads = int(getattr(text, "num_attention_heads", 1))
    shared = int(getattr(text, "num_key_value_heads", None) or heads)
    fits = (n for n in range(there, 1, -1) if not heads % n and not max(shared, n) % min(shared, n))
    return next(fits, 1)


def precision(options: VllmOptions, model: Unloaded) -> str:
    """What `auto` stands for: float32 where the GPUs hold the model in it, or there is none."""
    stored, there = quantisation_of(model.structure.config), gpus()
    if options.dtype != AUTO:
        return options.dtype
    if stored:
        return stored.dtype
    memory = WEIGHTS * sum(gpu.memory for gpu in there)
    fits = model.structure.num_parameters() * BYTES[FULL] <= memory
    return FULL if fits or not there else HALF
