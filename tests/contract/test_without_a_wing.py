"""Without the folders of two wings and their lines in the catalog, the rest works as before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.contract.test_wings import without

PROGRAM = """
import stereometer
from stereometer.core.errors import UsageError

few = {"measure": "cat-likelihood", "resamples": 100, "limit": 60, "out": "runs"}
results = [stereometer.run("starter", model=name, **few)[0] for name in ("random", "fake", "ideal")]
first, second, _ = results
comparison = stereometer.compare(first, second, resamples=100)
print(comparison)
assert "mitigations" not in comparison.as_json()
try:
    stereometer.compare(first, second, control=first, resamples=100)
except UsageError as error:
    assert "judges by one" in str(error)
else:
    raise AssertionError("a control was ignored")
with open("bars.toml", "w") as file:
    file.write('[[bars]]\\nno_worse = "ss"\\nmargin = 1.0\\n')
assert stereometer.gate(first, bars="bars.toml", against=second, resamples=100).judged
assert stereometer.write_report(["runs"]).exists()
"""


def test_comparisons_bars_reports_and_models_know_no_wing(tmp_path: Path) -> None:
    place = without(["mitigation", "relations"], tmp_path)
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONPATH": str(place / "src")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "mitigation" not in (tmp_path / "stereometer-report.html").read_text("utf-8")
