"""The measured ratios as docs/speed.md: `python -m bench.table "2 cores, AVX2, 24 GB" ["a remark"]`
after `make bench`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

OUT = Path(__file__).parent / "out"
PAGE = Path(__file__).parent.parent / "docs" / "speed.md"

HEAD = """# Speed

{date}, on {machine}. `make bench` measures it again.

{remarks}

Competitors take turns on the same items, the least of several rounds counts, and their scores have to agree with ours
before their time does. The authors' loops are written by us from docs/methods.md: one text a pass, the head at every
position. Peers run through their own scoring code at the batch size that suits them best, in our process and with our
versions of torch and transformers; minicons' masked scorer needs one line of help under transformers 5 (bench/peers.py).

| what | measured | bar |
|---|---|---|
"""

PEAK = """
Useful FLOPs are what a plain evaluation of the unpadded masked copies needs, the head at scored positions only. The peak is
of products of two 2048 x 2048 float32 matrices in the same run. 16 of them in a row take their turn with the competitors and
are timed as they are: the least of the rounds on each block of items, summed. The other two rows hold our sum over all blocks
against the best moment that the machine had in the whole run: a shared machine is at its best for moments only.
"""

HEADS = """
## Heads on frozen trunks

What `stereometer train nsp` costs is one pass over the text.

| what | measured | bar |
|---|---|---|
"""

MEMORY = """
## Memory and growth

| what | measured | bar |
|---|---|---|
"""

PROFILE = """
## Where our time goes

Share of the time inside operators, by torch's profiler; `addmm` and `mm` are matrix products.

| operator | share |
|---|---|
"""


def main(machine: str, remark: str = "") -> None:
    names = ("masked", "fill_in", "causal", "memory", "next_sentence")
    masked, fill_in, causal, memory, heads = (
        json.loads((OUT / f"{name}.json").read_text()) for name in names
    )
    rows = masked["rows"] + fill_in["rows"] + causal["rows"]
    remarks = "\n".join(dict.fromkeys(row["what"] for row in rows if row["value"] is None))
    page = HEAD.format(date=masked["date"], machine=machine, remarks=remarks)
    page += "".join(
        _row(row)
        for row in rows
        if row["value"] is not None
        and "profile" not in row["what"]
        and "sgemm peak (" not in row["what"]
    )
    page += PEAK + (f"\n{remark}\n" if remark else "")
    page += HEADS + "".join(_row(row) for row in heads["rows"])
    page += MEMORY + "".join(_row(row) for row in memory["rows"])
    page += PROFILE + "".join(
        f"| {row['what']} | {row['value']:.1f} % |\n" for row in rows if "profile" in row["what"]
    )
    PAGE.write_text(page)


def _row(row: dict[str, Any]) -> str:
    seconds = f" ({row['ours_s']:.2f} s against {row['theirs_s']:.2f} s)" if "ours_s" in row else ""
    return f"| {row['what']} | {row['value']:.2f} {row['unit']}{seconds} | {row['bar']} |\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
