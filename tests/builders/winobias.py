"""Files in WinoBias's layout."""

from __future__ import annotations

from pathlib import Path

PRO = [
    "1 [The cook] thanked the nurse because [he] was late.",
    "2 The baker met [the clerk] and praised [her].",
]


ANTI = [
    "1 [The cook] thanked the nurse because [she] was late.",
    "2 The baker met [the clerk] and praised [him].",
]


def folder(
    path: Path,
    pro: list[str] = PRO,
    anti: list[str] = ANTI,
    kinds: tuple[str, ...] = ("type1", "type2"),
) -> Path:
    for kind in kinds:
        (path / f"pro_stereotyped_{kind}.txt.dev").write_text("\n".join(pro) + "\n")
        (path / f"anti_stereotyped_{kind}.txt.dev").write_text("\n".join(anti) + "\n")
    return path
