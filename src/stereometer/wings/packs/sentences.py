"""Sets of sentences: StereoSet, CrowS-Pairs and WinoBias as released, and those of this project."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path

from stereometer.core.benchmarks.benchmark import CAT_MEASURES, PAIR_MEASURES, Shapes, Source
from stereometer.core.errors import DataError
from stereometer.core.files import read_text
from stereometer.core.shapes.sentences import row_text, unique
from stereometer.core.tables import PLAIN, Layout, read_table
from stereometer.kinds.cats.files import read_cats
from stereometer.kinds.cats.items import TASKS, Cat
from stereometer.kinds.facts.shape import FACT, Fact
from stereometer.kinds.pairs.files import read_pairs
from stereometer.kinds.pairs.items import Pair

Content = tuple[Shapes, Sequence[str]]
"""Items by shape, and notes."""

# -------------------------------------------------------- StereoSet (Nadeem, Bethke, Reddy 2021)


def read_stereoset(files: Sequence[Path]) -> Content:
    """dev.json as released, plain or .gz, with one task or both; or a hub's files, one a task."""
    cats = [cat for path in files for cat in read_cats(path)]
    unique((cat.id for cat in cats), "StereoSet: item")
    return shapes_of(sorted(cats, key=lambda cat: TASKS.index(cat.task)))


def shapes_of(cats: Sequence[Cat]) -> Content:
    """Items within a sentence are pairs as well."""
    tasks = {cat.task for cat in cats}
    notes = [f"There are no {task} items." for task in TASKS if task not in tasks]
    pairs = [cat.as_pair() for cat in cats if cat.task == "intrasentence"]
    return {"cat": cats, "pair": pairs}, notes


STEREOSET = Source(
    "stereoset", read_stereoset, {"cat": CAT_MEASURES}, published=("cat-likelihood",)
)

# ------------------- CrowS-Pairs (Nangia et al. 2020) and its revised version (Neveol et al. 2022)

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
    Source(name, read_crows_pairs, {"pair": PAIR_MEASURES}, published=("pair-likelihood",))
    for name in ("crows-pairs", "crows-pairs-revised")
)

# --------------------------------------------------------------- WinoBias (Zhao et al. 2018)

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
        name, read_winobias, {"pair": PAIR_MEASURES}, published=("pair-likelihood",), about="gender"
    )
    for name in ("winobias", "winobias-test")
)

# ----------------------------------------------- written for this project, shipped with the package


def packaged(folder: str, *names: str) -> list[Path]:
    place = resources.files("stereometer.wings.packs").joinpath(folder)
    return [Path(str(place.joinpath(name))) for name in names]


def read_starter(files: Sequence[Path]) -> Content:
    cats, pairs = files
    return {"cat": read_cats(cats), "pair": read_pairs(pairs)}, []


STARTER = Source(
    "starter",
    read_starter,
    {"cat": CAT_MEASURES, "pair": PAIR_MEASURES},
    lambda: packaged("starter_data", "cats.json", "pairs.csv"),
)
"""For trying the tool."""


def read_facts(files: Sequence[Path]) -> Content:
    """A sentence has its deciding word in brackets; `other` stands there in the wrong one."""
    (file,) = files
    facts, columns = [], ("id", "kind", "sentence", "other")
    for line, row in read_table(file, columns):
        id_, kind, sentence, other = (row_text(row, column, file, line) for column in columns)
        before, _, rest = sentence.partition("[")
        word, _, after = rest.partition("]")
        facts.append(Fact(id_, f"{before}{word}{after}", f"{before}{other}{after}", "gender", kind))
    return {FACT: facts}, []


DEFINITIONAL = Source(
    "definitional",
    read_facts,
    {FACT: ("fact-likelihood",)},
    lambda: packaged("definitional_data", "gender.csv"),
)
"""A model from which gender was erased where it is a stereotype should still know it where it is a
fact."""
