"""What a user's type checker sees of the public verbs: mypy reads this, nothing runs it.

A slip that is no longer an error is an unused `type: ignore`, which is an error in strict mode.
"""

# ruff: noqa: T201  (as users write it)
from __future__ import annotations

from typing import assert_type

from transformers import AutoModelForMaskedLM, AutoTokenizer, pipeline

import stereometer
from stereometer import Result, compare, load, run


def use() -> None:
    results = run("starter", model="random", seed=1)
    for result in results:
        assert_type(result, Result)
        preference = result.estimate("ss")
        assert_type(preference.value, float | None)
        if preference.value is not None:
            print(f"{preference.value:.1f} {preference.verdict}")
    rows = results[0].rows()
    again = load("runs/one")
    found = compare("runs/one", "runs/two")
    print(again.kind, len(found.pairs), rows[0]["name"])
    page = stereometer.write_report(["runs/one"])
    print(page.name, stereometer.open_benchmark("starter").digest)
    run(
        "starter",
        model="gpt2",
        name="mine",
        measure="cat-likelihood",
        like_paper=True,
        device="cuda",
    )
    print(stereometer.calibrate("runs/one", "runs/two").verdict)
    print(stereometer.audit("starter", run=["runs/one"], flag=["article"]).benchmark)
    print(stereometer.analyze("starter", run=["runs/one"], seed=1).benchmark)
    print(stereometer.ensemble("runs/one", "runs/two", name="both").result.model)
    print(stereometer.relate("runs/one", "runs/two", "runs/three", resamples=500).points)
    told = stereometer.replay("file.json", benchmark="stereoset", name="theirs")[0]
    assert_type(told, Result)
    print(stereometer.ask("ethos", model="gpt2", setting="zero-shot", repeats=2)[0].model)


def in_memory() -> None:
    model = AutoModelForMaskedLM.from_pretrained("bert-base-cased")
    tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
    print(run("starter", model=(model, tokenizer))[0])
    print(run("starter", model=pipeline("fill-mask"))[0])


def slips() -> None:
    run("starter", modle="random")  # type: ignore[call-arg]
    run("starter", model="random", devise="cuda")  # type: ignore[call-arg]
    run(["starter"], model="random")  # type: ignore[arg-type]
    run("starter", model="random", variant="papre")  # type: ignore[arg-type]
