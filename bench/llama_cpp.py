"""Asking in words against llama.cpp's server with the same 4-bit file: the same prompts of ETHOS,
zero-shot and mixed. `python -m bench llama_cpp`.

The server runs in this process, so that CPU seconds hold for both where the machine is busy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

import torch

from bench.models import Row, profiled
from bench.timing import THREADS, Peak, contest
from stereometer.core.runs.open import open_benchmark, open_model
from stereometer.core.types import Asking, Generate, Settings
from stereometer.models.local.generation import Writer
from stereometer.wings.asking.jobs import jobs_in_words

SETTINGS = ("zero-shot", "few-shot-mixed")
PROMPTS = 40
ROUNDS = 2
IN_FLIGHT = 4


def measure() -> list[Row]:
    if find_spec("xllamacpp") is None or not os.environ.get("STEREOMETER_DATA"):
        what = "Skipped: xllamacpp is not installed, or STEREOMETER_DATA names no ETHOS"
        return [{"what": what, "value": None, "unit": "", "bar": ""}]
    torch.set_num_threads(THREADS)
    server = served()
    theirs: Any = open_model(
        f"server:{server.listening_address}/v1#smollm2", 0, {"in_flight": IN_FLIGHT}
    )
    ours: Any = open_model("smollm2-135m", 0, {"threads": THREADS})
    return [row for setting in SETTINGS for row in compared(setting, ours, theirs)]


def served() -> Any:
    from xllamacpp import CommonParams, Server

    from stereometer.models.local.defaults import SMOLLM2

    parameters = CommonParams()
    parameters.model.path = str(SMOLLM2.source)
    parameters.n_ctx = 2048 * IN_FLIGHT
    parameters.n_parallel = IN_FLIGHT
    parameters.cache_ram_mib = 0  # else later rounds find the prompts of the first
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = THREADS
    return Server(parameters)


def prompts(setting: str, model: Any) -> list[Generate]:
    """The first prompts of a setting, each once."""
    (job,) = jobs_in_words(open_benchmark("ethos"), [setting], model, Settings(), {})
    assert isinstance(job.source, Asking)
    requests = (
        request
        for item in job.source.items
        for some in job.source.measure.plan(item).values()
        for request in some
        if isinstance(request, Generate)
    )
    distinct = {(request.prompt, request.messages): request for request in requests}
    return list(distinct.values())[:PROMPTS]


def written(model: Any, some: Sequence[Generate]) -> dict[str, str]:
    answers = model.answer({request.key: request for request in some})
    return {key: str(answer.text) for key, answer in answers}


def compared(setting: str, ours: Any, theirs: Any) -> list[Row]:
    some = prompts(setting, ours)
    writer = Writer(ours.split, ours.tokens)
    sizes = [len(writer.ids(request)) for request in some]
    written(ours, some[:2])  # shows once that sharing gives the same numbers
    read = tokens_read(ours, partial(written, ours, some))
    competitors = {"ours": partial(written, ours), "llama.cpp": partial(written, theirs)}
    times = contest(competitors, some, Peak(), ROUNDS, len(some))
    what = f"ETHOS {setting}, {len(some)} prompts of {sum(sizes) // len(some)} tokens"
    rows: list[Row] = [
        {
            "what": f"{what}, tokens that ours computes, written ones among them",
            "value": 100 * read / sum(sizes),
            "unit": "% of the prompts' tokens",
            "bar": "none",
        }
    ]
    for who, timed in times.items():
        new = sum(len(ours.encode(text).ids) for text in timed.answers.values() if text)
        rows.append(
            {
                "what": f"{what}, {who}",
                "value": (sum(sizes) + new) / timed.seconds,
                "unit": "tokens read or written a second",
                "bar": "none",
                "written": new,
                "seconds": timed.seconds,
            }
        )
    return [*rows, *profiled(f"ETHOS {setting}", partial(written, ours, some))]


def tokens_read(model: Any, work: Callable[[], Any]) -> int:
    """Tokens that go through a model: fewer than the prompts have where beginnings are shared."""
    counts: list[int] = []
    words = model.model.get_input_embeddings()
    hook = words.register_forward_pre_hook(lambda _, inputs: counts.append(inputs[0].numel()))
    try:
        work()
    finally:
        hook.remove()
    return sum(counts)
