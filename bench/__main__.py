"""Run every bench: `python -m bench [NAME ...]`."""

from __future__ import annotations

import json
import platform
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

NAMES = (
    "sensitivity",
    "replay",
    "stream",
    "memory",
    "masked",
    "fill_in",
    "causal",
    "builds",
    "workers",
    "next_sentence",
    "asking",
    "llama_cpp",
    "vllm_race",
    "studies",
)
OUT = Path(__file__).parent / "out"


def main(names: list[str]) -> None:
    OUT.mkdir(exist_ok=True)
    for name in names or NAMES:
        rows = import_module(f"bench.{name}").measure()
        record = {
            "bench": name,
            "date": time.strftime("%Y-%m-%d"),
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "rows": rows,
        }
        (OUT / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
        print(f"\n{name}")
        for row in rows:
            print(f"  {line(row)}")


def line(row: dict[str, Any]) -> str:
    """A measured value beside its bar, or a remark that has none."""
    if row["value"] is None:
        return str(row["what"])
    return f"{row['what']}: {row['value']:.2f} {row['unit']} (bar: {row['bar']})"


if __name__ == "__main__":
    main(sys.argv[1:])
