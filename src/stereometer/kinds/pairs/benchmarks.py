"""CrowS-Pairs (Nangia et al. 2020), its revised version (Neveol et al. 2022), and WinoBias (Zhao et
al. 2018)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stereometer.core.benchmarks.benchmark import Content, Source
from stereometer.core.errors import DataError
from stereometer.core.files import read_text
from stereometer.core.shapes.sentences import unique
from stereometer.core.tables import PLAIN, Layout
from stereometer.kinds.pairs.files import read_pairs
from stereometer.kinds.pairs.items import Pair
from stereometer.kinds.pairs.shape import SHAPE

PACKAGE = "stereometer.kinds.pairs"
PAPER = ("pair-likelihood",)

# ------------------------------------------------------------------------------------- CrowS-Pairs

TYPES = (
    *("race-color", "socioeconomic", "gender", "disability", "nationality"),
    *("sexual-orientation", "physical-appearance", "religion", "age"),
)
NUMBERED = {str(at): name for at, name in enumerate(TYPES)}
"""As a hub writes bias types."""


def read_crows_pairs(files: Sequence[Path], layout: Layout = PLAIN) -> Content:
    pairs = [_named(pair) for path in files for pair in read_pairs(path, layout)]
    unique((pair.id for pair in pairs), f"{files[0]}: pair")
    unscorable = sum(pair.unscorable is not None for pair in pairs)
    note = (
        f"{unscorable} pair(s) cannot be scored: both sentences are the same or one is empty. "
        "`sound` skips them, `paper` counts them as draws."
    )
    untyped = sum(not pair.bias_type for pair in pairs)
    more = f"{untyped} pair(s) have no bias type: they count overall and in no slice of a type."
    return {"pair": pairs}, [*([note] if unscorable else []), *([more] if untyped else [])]


def _named(pair: Pair) -> Pair:
    votes = tuple(tuple(NUMBERED.get(name, name) for name in vote) for vote in pair.votes)
    return replace(pair, bias_type=NUMBERED.get(pair.bias_type, pair.bias_type), votes=votes)


CROWS_PAIRS, CROWS_PAIRS_REVISED = (
    Source(name, read_crows_pairs, {"pair": SHAPE.measures}, package=PACKAGE, published=PAPER)
    for name in ("crows-pairs", "crows-pairs-revised")
)

# ---------------------------------------------------------------------------------------- WinoBias

PRONOUNS = re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself)\b")
LOOSE_SHARE = 0.05
"""19 of the 1,584 released pairs differ in more than a pronoun; many more means another file."""


def read_winobias(files: Sequence[Path]) -> Content:
    """Pairs of the pro-stereotypical against the anti-stereotypical sentence, of files
    `pro_stereotyped_typeN.txt.SPLIT` and `anti_...` that are aligned line by line."""
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
    # With every pronoun replaced, two sentences that are alike say the same of somebody else.
    frames = [
        [re.findall(r"\w+", PRONOUNS.sub("PRONOUN", text.lower())) for text in sentences]
        for sentences in ((pair.sent_more, pair.sent_less) for pair in pairs)
    ]
    loose = sum(more != less for more, less in frames)
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


WINOBIAS, WINOBIAS_TEST = (
    Source(
        name,
        read_winobias,
        {"pair": SHAPE.measures},
        package=PACKAGE,
        published=PAPER,
        about="gender",
    )
    for name in ("winobias", "winobias-test")
)
