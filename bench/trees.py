"""Two versions of the source in turn on the same commands: CPU seconds of a process, the least of
several rounds, and their ratio.

    STEREOMETER_DATA=FOLDER python -m bench.trees EARLIER/src src

The commands are those of somebody who has the released StereoSet systems: two replayed, compared
and reported; and the help.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROUNDS = 5


def commands(data: Path) -> dict[str, list[str]]:
    """Later ones read what earlier ones wrote; `{round}` makes a folder new."""
    files = sorted((data / "stereoset/predictions").glob("predictions_*.json.gz"))[:2]
    replays = {
        f"replay {file.name.removeprefix('predictions_').removesuffix('.json.gz')}": [
            *("replay", str(file), "--benchmark", "stereoset"),
            *("--out", f"runs-{{round}}/{index}"),
        ]
        for index, file in enumerate(files)
    }
    return {
        "--help": ["--help"],
        **replays,
        "compare": ["compare", "runs-{round}/0", "runs-{round}/1"],
        "report": ["report", "runs-{round}/0", "runs-{round}/1", "--out", "page-{round}.html"],
        "show": ["show", "runs-{round}/0"],
    }


def cpu_seconds(source: Path, folder: Path, words: Sequence[str]) -> float:
    """Of one process, its start included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "stereometer", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(sources: Sequence[str]) -> None:
    trees = [Path(source).resolve() for source in sources]
    data = Path(os.environ["STEREOMETER_DATA"])
    least: dict[tuple[str, Path], float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for index in range(len(trees)):
            (Path(folder) / str(index)).mkdir()
        for turn in range(ROUNDS + 1):  # the first compiles what is imported
            for name, words in commands(data).items():
                for index, tree in enumerate(trees):
                    here = Path(folder) / str(index)
                    taken = cpu_seconds(tree, here, [word.format(round=turn) for word in words])
                    if turn:
                        least[name, tree] = min(taken, least.get((name, tree), taken))
    print(f"| command | {' | '.join(f'{source}, s' for source in sources)} | ratio |")
    print(f"|---|{'---|' * len(trees)}---|")
    for name in commands(data):
        first, *_, last = (least[name, tree] for tree in trees)
        print(f"| {name} | {first:.2f} | {last:.2f} | {last / first:.2f} |")


if __name__ == "__main__":
    main(sys.argv[1:])
