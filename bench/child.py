"""A piece of work in a process of its own: CPU seconds after import, and the largest memory it
held."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile

FRAME = """
import json, resource, time
{setup}
cpu, wall = time.process_time(), time.perf_counter()
{work}
print(json.dumps({{"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}}))
"""


def spent(setup: str, work: str, repeats: int = 3) -> dict[str, float]:
    """The least of several runs, each in a fresh folder."""
    runs = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            code = FRAME.format(
                setup=(
                    f"import os; os.environ['STEREOMETER_CACHE'] = {folder!r}; FOLDER ="
                    f" {folder!r}\n{setup}"
                ),
                work=work,
            )
            done = subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            )
            runs.append(json.loads(done.stdout.splitlines()[-1]))
    return {name: min(run[name] for run in runs) for name in runs[0]}
