"""Opens `vllm:FOLDER`, `vllm:ORG/NAME[@REVISION]`, and default models by name. Imports no vLLM."""

from __future__ import annotations

from dataclasses import dataclass

from stereometer.core.errors import ModelError, UsageError
from stereometer.core.types import Backend, Memory, Opener
from stereometer.models.local.checkpoint import LoadingOptions
from stereometer.models.local.defaults import DEFAULT_MODELS
from stereometer.models.local.files import check_place, fingerprint


@dataclass(frozen=True)
class VllmOptions(LoadingOptions):
    """How vLLM runs a model, by vLLM's own names; what is not given is left to it."""

    tensor_parallel_size: int | None = None
    """GPUs that share the model: as many as there are, as far as its heads can be shared out."""
    pipeline_parallel_size: int | None = None
    max_model_len: int | None = None
    """Tokens of the longest text: 4096, or the model's own limit where that is smaller."""
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    gpu_memory_utilization: float | None = None
    cpu_offload_gb: float | None = None
    kv_cache_dtype: str | None = None
    quantization: str | None = None
    enforce_eager: bool | None = None
    """Without compiling the model first, as it is on a CPU."""


class VllmOpener(Opener):
    def check(self, spec: str) -> None:
        if not spec:
            raise UsageError(
                "'vllm:' names no model. A folder or a name on the hub follows the colon. For "
                "instance vllm:ORG/NAME."
            )
        if spec not in DEFAULT_MODELS:
            check_place(spec)

    def open(self, spec: str, options: VllmOptions, memory: Memory | None = None) -> Backend:
        from stereometer.models.local.unloaded import unloaded
        from stereometer.models.vllm.backend import Vllm

        if options.head:
            raise UsageError(
                f"vllm:{spec} takes no head. A next-sentence head reads states, which vLLM keeps "
                "to itself. Leave out --head, or the scheme."
            )
        found = unloaded(spec, options)
        if found.family != "causal":
            raise ModelError(
                f"{spec} is a {found.family} model, and vLLM gives tokens their probabilities from "
                f"left to right only. Leave out the scheme: {spec} is then asked as it was trained."
            )
        return Vllm(spec, found, options)

    def fingerprint(self, spec: str, options: VllmOptions) -> str | None:
        default = DEFAULT_MODELS.get(spec)
        if default is None:
            return fingerprint(spec, options)
        return fingerprint(str(default.folder), options) if default.folder.exists() else None


VLLM = VllmOpener("vllm", VllmOptions, ("vllm", "transformers"), "vllm")
