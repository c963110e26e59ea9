"""Little packs, written as a contributor would."""

from __future__ import annotations

from pathlib import Path

CARD = """schema = "pack@1"
name = "little"
[card]
title = "A little set"
citation = "Nobody."
licence = "Apache-2.0"
language = "Danish"
country = "Denmark"
origin = "translated"
population = "Nobody."
year = 2026
get = "here"
known_problems = ["It is little."]
not_concluded = ["Anything."]
"""


def pack_of(folder: Path, *parts: str) -> Path:
    """A folder with `pack.toml`; the first part comes before the card."""
    pack = folder / "little"
    pack.mkdir(parents=True)
    first, *others = parts
    (pack / "pack.toml").write_text("\n".join((first, CARD, *others, "")), "utf-8")
    return pack


def pairs_pack(folder: Path, read: str = "") -> Path:
    """Two pairs."""
    pack = pack_of(folder, 'shape = "pair"', '[[files]]\nname = "pairs.csv"', f"[read]\n{read}")
    rows = ("Gardeners like tea.,Plumbers like tea.,x", "Gardeners sing.,Plumbers sing.,y")
    (pack / "pairs.csv").write_text(
        "\n".join(("sent_more,sent_less,bias_type", *rows, "")), "utf-8"
    )
    return pack
