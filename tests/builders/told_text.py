"""A running text in which some groups and traits are spoken of often enough, and others not."""

from __future__ import annotations

from pathlib import Path

from stereometer.kinds.traits.abc.items import Choice

TIMES = 25
OFTEN = ("A woman", "Many women", "A man", "Most men", "Some lesbians")
ADJECTIVES = ("powerless", "weak", "powerful", "capable", "cold", "warm", "friendly")


def write(folder: Path) -> Path:
    lines = [f"{who} walked past number {number}." for who in OFTEN for number in range(TIMES)]
    lines += [
        f"The {adjective} light of lamp {number} was on."
        for adjective in ADJECTIVES
        for number in range(TIMES)
    ]
    lines += ["A teenager laughed once.", "Dr. Brown met a wealthy person. She left!"]
    file = folder / "text.txt"
    file.write_text(" ".join(lines))
    return file


def choice(folder: Path) -> Choice:
    return Choice(groups=("man", "woman", "lesbian", "teenager"), text=write(folder), seed=3)
