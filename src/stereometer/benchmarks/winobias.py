"""WinoBias (Zhao et al. 2018) as pairs: the pro-stereotypical against the anti-stereotypical
sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from stereometer.benchmarks.benchmark import PAIR_MEASURES, Shapes, Source
from stereometer.errors import DataError
from stereometer.files import read_text
from stereometer.shapes.pair.items import Pair

PRONOUNS = re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself)\b")
LOOSE_SHARE = 0.05
"""19 of the 1,584 released pairs differ in more than a pronoun; many more means another file."""


def read(files: Sequence[Path]) -> tuple[Shapes, Sequence[str]]:
    """Files `pro_stereotyped_typeN.txt.SPLIT` and `anti_...`, aligned line by line."""
    named = {file.name.removesuffix(".gz"): file for file in files}
    pairs: list[Pair] = []
    for name in sorted(name for name in named if name.startswith("pro_")):
        other = name.replace("pro_", "anti_", 1)
        if other not in named:
            raise DataError(
                f"{named[name]} has no {other} beside it. WinoBias is read as pairs of the two. "
                "Put both in one folder and name the folder."
            )
        pairs += _aligned(named[name], named[other], name)
    if not pairs:
        raise DataError(
            f"{', '.join(map(str, files))}: no pro_stereotyped file. WinoBias is read as pairs of "
            "files. Name the folder that holds them."
        )
    loose = sum(_frame(pair.sent_more) != _frame(pair.sent_less) for pair in pairs)
    if loose > LOOSE_SHARE * len(pairs):
        raise DataError(
            f"{loose} of {len(pairs)} pairs differ in more than a pronoun. The files are not "
            "aligned. Fetch them again."
        )
    note = f"{loose} of {len(pairs)} pairs differ in more than a pronoun, as released."
    return {"pair": pairs}, [note] if loose else []


def _aligned(pro: Path, anti: Path, name: str) -> list[Pair]:
    part = re.search(r"type[12]", name)
    kind = part[0] if part else "winobias"
    more, less = _sentences(pro), _sentences(anti)
    if len(more) != len(less):
        raise DataError(
            f"{pro.name} has {len(more)} sentences, {anti.name} has {len(less)}. They must be the "
            "same in number and order. Fetch both again."
        )
    split = name.rsplit(".", 1)[-1]
    return [
        Pair(f"{split}-{kind}-{number}", *sentences, kind)
        for number, sentences in enumerate(zip(more, less, strict=True), 1)
    ]


def _sentences(path: Path) -> list[str]:
    """Each line without its number and without the square brackets around the two mentions."""
    lines = [line for line in read_text(path).split("\n") if line.strip()]
    return [re.sub(r"^\d+\s+|[\[\]]", "", line).strip() for line in lines]


def _frame(sentence: str) -> list[str]:
    """The words with every pronoun replaced: two that are alike say the same of somebody else."""
    return re.findall(r"\w+", PRONOUNS.sub("PRONOUN", sentence.lower()))


DEV, TEST = (
    Source(name, read, {"pair": PAIR_MEASURES}, published=("pair-likelihood",), about="gender")
    for name in ("winobias", "winobias-test")
)
