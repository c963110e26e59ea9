"""What a user's type checker sees of the public verbs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy", reason="mypy is not installed")

USE = """
import stereometer
from stereometer import compare, load, run

results = run("starter", model="random", seed=1)
for result in results:
    preference = result.estimate("ss")
    if preference.value is not None:
        print(f"{preference.value:.1f} {preference.verdict}")
rows = results[0].rows()
again = load("runs/one")
found = compare("runs/one", "runs/two")
print(again.kind, len(found.pairs), rows[0]["name"])
reveal_type(stereometer.replay)
page = stereometer.write_report(["runs/one"])
print(page.name, stereometer.open_benchmark("starter").digest)
run("starter", model="gpt2", name="mine", measure="cat-likelihood", like_paper=True, device="cuda")
print(stereometer.calibrate("runs/one", "runs/two").verdict)
print(stereometer.audit("starter", run=["runs/one"], flag=["article"]).benchmark)
print(stereometer.analyze("starter", run=["runs/one"], seed=1).benchmark)
print(stereometer.ensemble("runs/one", "runs/two", name="both").model)
print(stereometer.relate("runs/one", "runs/two", "runs/three", resamples=500).points)
print(stereometer.replay("file.json", benchmark="stereoset", name="theirs").model)
print(stereometer.ask("ethos", model="gpt2", setting="zero-shot", repeats=2)[0].model)
"""
IN_MEMORY = """
from transformers import AutoModelForMaskedLM, AutoTokenizer, pipeline
from stereometer import run

model = AutoModelForMaskedLM.from_pretrained("bert-base-cased")
tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
print(run("starter", model=(model, tokenizer))[0])
print(run("starter", model=pipeline("fill-mask"))[0])
"""
SLIPS = {
    "modle": 'run("starter", modle="random")',
    "devise": 'run("starter", model="random", devise="cuda")',
    "list": 'run(["starter"], model="random")',
    "Literal": 'run("starter", model="random", variant="papre")',
}


def errors(folder: Path, code: str) -> list[str]:
    """The lines that a user's checker says of this code, the types it was asked to show among
    them."""
    (folder / "use.py").write_text(code)
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "use.py"],
        cwd=folder,
        env=os.environ | {"MYPYPATH": str(Path(__file__).parents[2] / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in ran.stdout.splitlines() if line.startswith("use.py:")]


def test_use_is_typed_and_slips_are_errors(tmp_path: Path) -> None:
    revealed, *said = errors(tmp_path, "\n".join([USE, *SLIPS.values()]))
    assert "Result" in revealed, "the verb's own type is seen, not Any or object"
    for slip, error in zip(SLIPS, [line for line in said if "error" in line], strict=True):
        assert slip in error


@pytest.mark.long
def test_a_model_in_memory_is_typed(tmp_path: Path) -> None:
    """Reading all of transformers takes the checker most of a minute."""
    pytest.importorskip("transformers", reason="transformers is not installed")
    assert [line for line in errors(tmp_path, IN_MEMORY) if '"run"' in line] == []
