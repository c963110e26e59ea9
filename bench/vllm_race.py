"""vLLM against the local path on the same weights, SmolLM2's: likelihoods of StereoSet within and
across sentences, and questions of ETHOS, zero-shot. `python -m bench vllm_race`.

Both answer the requests that a run makes, in one process of the environment of `make test-engines`,
by turns, timed in CPU seconds on one thread; vLLM has all texts at once. Its products are oneDNN's,
ours MKL's, which leaves AVX-512 unused on processors that are not Intel's: ONEDNN_MAX_CPU_ISA=AVX2
lets both compute alike.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

Row = dict[str, Any]
CATS, PROMPTS, ROUNDS = 40, 10, 3
WITHIN, ACROSS, LEVEL = 2.2, 1.6, 1.0
"""How many times vLLM's seconds ours must be."""
MEASURE, MODEL = "cat-pseudo-likelihood", "smollm2-135m"
NEAR = 1e-3
ROOT = Path(__file__).parent.parent
ENGINES = Path(os.environ.get("STEREOMETER_ENGINES") or Path.home() / ".cache/stereometer-engines")
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # so that its CPU seconds are this process's
}


@dataclass(frozen=True, order=True)
class Timed:
    seconds: float
    answers: Any = field(compare=False)


def measure() -> list[Row]:
    python = ENGINES / "bin" / "python"
    if not python.exists() or "STEREOMETER_DATA" not in os.environ:
        what = "Skipped: no vLLM (`make test-engines` installs it), or STEREOMETER_DATA is not set"
        return [{"what": what, "value": None, "unit": "", "bar": ""}]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    found = subprocess.run(
        [str(python), "-m", "bench.vllm_race"],
        cwd=ROOT,
        env=os.environ | ONE_THREAD | {"PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    rows: list[Row] = json.loads(found.stdout.splitlines()[-1])
    return rows


def race() -> list[Row]:
    import torch

    from bench.llama_cpp import prompts, written
    from bench.models import scorable
    from stereometer.core import catalog
    from stereometer.core.runs.open import open_benchmark, open_model
    from stereometer.core.runs.runner import planned
    from stereometer.models.vllm.engine import SCORED, logprobs

    ours: Any = open_model(MODEL, 0, {"threads": 1})
    theirs: Any = open_model(f"vllm:{MODEL}")
    method = catalog.find("method", MEASURE)
    bound = method.bind(ours, "sound", method.options())
    rows: list[Row] = []
    for task, bar in (("intrasentence", WITHIN), ("intersentence", ACROSS)):
        cats = open_benchmark("stereoset").items("cat")
        some = scorable([cat for cat in cats if cat.slices["task"] == task], [bound], CATS)
        asked: dict[str, Any] = {each.key: each for plan in planned(some, bound) for each in plan}
        texts = {request.ids for request in asked.values()}
        order = sorted(texts, key=len, reverse=True)
        at_once = [(ids, SCORED) for ids in order]
        found = contest(
            {"ours": partial(sums, ours, asked), "vLLM": partial(theirs.engine.ask, at_once)}
        )
        outputs = zip(order, found["vLLM"].answers, strict=True)
        values = {ids: logprobs(output, ids) for ids, output in outputs}
        here = found["ours"].answers
        apart = max(
            abs(sum(values[request.ids][request.start :]) - here[key])
            for key, request in asked.items()
        )
        assert apart < NEAR, f"{task}: a text differs by {apart:.2g}"
        what = (
            f"StereoSet {task}, {CATS} items: {len(texts)} texts, {sum(map(len, texts))} tokens, "
        )
        what += f"at most {apart:.1g} apart"
        rows += compared(what, found, bar)
    questions = [replace(each, temperature=0.0) for each in prompts("zero-shot", ours)[:PROMPTS]]

    def afresh() -> Mapping[str, str]:
        theirs.engine.llm.reset_prefix_cache()  # else a later round finds the prompts of the first
        return written(theirs, questions)

    found = contest({"ours": partial(written, ours, questions), "vLLM": afresh})
    here, there = found["ours"].answers, found["vLLM"].answers
    alike = sum(there[key] == text for key, text in here.items())
    what = f"ETHOS zero-shot, {len(here)} prompts, {alike} answered alike"
    rows += compared(what, found, LEVEL)
    rows += products()
    remark = f"CPU seconds on one thread, the least of {ROUNDS} rounds by turns; {MODEL}, torch "
    return [{"what": f"{remark}{torch.__version__}", "value": None, "unit": "", "bar": ""}, *rows]


def sums(model: Any, asked: Mapping[str, Any]) -> Mapping[str, float]:
    """Log-probabilities of texts, or of their parts."""
    return {key: float(sum(found.column("logprob"))) for key, found in model.answer(asked)}


def products() -> list[Row]:
    """What a product of a layer's size takes, by the library that each of both computes with."""
    import torch

    left, right = torch.randn(256, 576), torch.randn(1536, 576)
    packed = torch.ops.mkldnn._reorder_linear_weight(right, 256)
    linear = torch.ops.mkldnn._linear_pointwise

    def many(product: Callable[[], Any]) -> None:
        for _ in range(200):
            product()

    found = contest(
        {
            "MKL": partial(many, lambda: torch.mm(left, right.t())),
            "oneDNN": partial(many, lambda: linear(left, packed, None, "none", [], "")),
        }
    )
    flops = 200 * 2 * 256 * 576 * 1536
    return [
        {
            "what": f"float32 products of 256 x 576 x 1536 by {name}",
            "value": flops / timed.seconds / 1e9,
            "unit": "GFLOP/s",
            "bar": "none",
        }
        for name, timed in found.items()
    ]


def contest(competitors: Mapping[str, Callable[[], Any]]) -> Mapping[str, Timed]:
    least: dict[str, Timed] = {}
    for _ in range(ROUNDS):
        for name, compete in competitors.items():
            began = time.process_time()
            answers = compete()
            taken = time.process_time() - began
            least[name] = min(least.get(name, Timed(taken, answers)), Timed(taken, answers))
    return least


def compared(what: str, found: Mapping[str, Timed], bar: float) -> list[Row]:
    ours = found["ours"].seconds
    return [
        {
            "what": f"{what}, {name} against ours ({timed.seconds:.2f} s, {ours:.2f} s)",
            "value": timed.seconds / ours,
            "unit": "x",
            "bar": f">= {bar}",
        }
        for name, timed in found.items()
        if name != "ours"
    ]


if __name__ == "__main__":
    print(json.dumps(race()))
