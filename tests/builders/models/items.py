"""Items the exactness tests ask about: some of the starter set, and some that break things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stereometer.core.benchmarks.benchmark import open_benchmark
from stereometer.core.benchmarks.starter import STARTER
from stereometer.kinds.cats.items import LABELS, Candidate, Cat
from stereometer.kinds.pairs.items import Pair

TEN_PIECES = "supercalifragilisticexpialidocious"
EMOJI = "\N{GRINNING FACE}"
FAMILY = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"
CAFE = "cafe\N{COMBINING ACUTE ACCENT}"


def starter(shape: str, **fixed: str) -> Sequence[Any]:
    """The shortest items of a shape and task: the copies of a text grow with its square."""
    items = open_benchmark(STARTER).shapes[shape]
    found = [item for item in items if fixed.items() <= item.slices.items()]
    return sorted(found, key=lambda item: sum(map(len, item.texts.values())))


def intra(number: str, context: str, *fills: str, texts: Sequence[str] = ()) -> Cat:
    texts = texts or [context.replace("BLANK", fill) for fill in fills]
    return _cat(number, "intrasentence", context, texts)


def inter(number: str, context: str, *texts: str) -> Cat:
    return _cat(number, "intersentence", context, texts)


def _cat(number: str, task: str, context: str, texts: Sequence[str]) -> Cat:
    candidates = {
        label: Candidate(f"{number}-{label}", text)
        for label, text in zip(LABELS, texts, strict=True)
    }
    return Cat(number, task, "cook", "profession", context, candidates)


QUIRKY_CATS = [
    intra("blank first", "BLANK cooks sing.", "Loud", "shy", "Round"),
    intra("blank last", "The cook is BLANK", "loud", "shy", "round"),
    intra("blank alone", "BLANK", "Loud", "Shy cooks", "Round."),
    intra("one token", "BLANK", "The", "A", "He"),
    intra("before punctuation", "A cook, BLANK, sang.", "loud", "very shy", "round"),
    intra("between punctuation", "He (BLANK) left!", "loud", "shy", "round"),
    intra("after a hyphen", "A half-BLANK cook.", "baked", "shy", "round"),
    intra("before letters", "The cook BLANKed.", "bak", "whisper", "x"),
    intra("after letters", "The unBLANK cook.", "kind", "shy", "x"),
    intra("between letters", "It was sometimes.BLANK.boring", "loud", "shy", "x"),
    intra("twice", "A BLANK cook is BLANK.", "loud", "shy", "round"),
    intra(
        "ten pieces", "The cook is BLANK today.", TEN_PIECES, f"{TEN_PIECES} {TEN_PIECES}", "shy"
    ),
    intra("several words", "A BLANK cook.", "loud and very happy", "shy, calm", "seven rivers"),
    intra("emoji", "The cook is BLANK.", EMOJI, f"shy{EMOJI}", FAMILY),
    intra("emoji about", f"{EMOJI}{FAMILY} a BLANK cook {EMOJI}", "loud", "shy", "round"),
    intra("combining", f"In the {CAFE} a BLANK cook.", "na\u00efve", "nai\u0308ve", CAFE),
    intra("tabs", "The cook\tis\tBLANK\there.", "loud", "shy", "round"),
    intra("double spaces", "The  cook is  BLANK  here.", "loud", "very  shy", "round"),
    intra("space at the ends", "  The cook is BLANK.  ", "loud", "shy", "round"),
    intra("new line", "The cook\nis BLANK.\n", "loud", "shy", "round"),
    intra("space as filler", "The cook is BLANK here.", "loud", " ", "round"),
    intra("invisible filler", "The cook is BLANK here.", "loud", "\u200b", "round"),
    intra(
        "lower case",
        "The BLANK cook.",
        texts=("the loud cook.", "The shy cook.", "the Round cook."),
    ),
    intra(
        "another sentence",
        "The BLANK cook.",
        texts=("The loud cook.", "A shy cook.", "The round cook."),
    ),
    intra(
        "nothing in the blank",
        "The BLANK cook.",
        texts=("The loud cook.", "The  cook.", "The round cook."),
    ),
    intra("no blank", "The cook.", texts=("The cook.", "The cook.", "The cook.")),
    intra("digits", "He is BLANK years old.", "70", "7", "1,000"),
    intra("other scripts", "The cook is BLANK.", "добр", "善良", "ٱلسَّلَام"),
    inter("short", "A cook.", "He sang.", "She left.", "Seven rivers."),
    inter("punctuation joins", "He said:", '"Go."', ")", "..."),
    inter("emoji inter", f"A {EMOJI} cook", f"{EMOJI}", "He\tsang", f"  {CAFE}."),
    inter("pieces", f"The {TEN_PIECES}.", TEN_PIECES, "He", "Cooks bake."),
]

EMPTY_CATS = [
    inter("empty candidate", "A cook sang.", "He left.", "", "Seven rivers."),
    inter("blank candidate", "A cook sang.", "He left.", " \t", "Seven rivers."),
    inter("empty context", "", "He left.", "She sang.", "Seven rivers."),
]

QUIRKY_PAIRS = [
    Pair("word", "The loud cook left.", "The shy cook left.", "x"),
    Pair("first word", "Women bake.", "Men bake.", "x"),
    Pair("last word", "Cooks are women", "Cooks are men", "x"),
    Pair("case", "The cook left.", "the cook left.", "x"),
    Pair("longer", "The cook of the old house left.", "The man left.", "x"),
    Pair("inserted", "The very old cook left.", "The cook left.", "x"),
    Pair("two changes", "The woman lost her keys.", "The man lost his keys.", "x"),
    Pair("apostrophe", "The woman's cook didn't go.", "The man's cook did go.", "x"),
    Pair("hyphen", "A half-baked idea.", "A well-baked idea.", "x"),
    Pair("quotes", '"Go," she said.', '"Go", he said.', "x"),
    Pair("dots", "Well... he left.", "Well.. he left.", "x"),
    Pair("emoji", f"A {EMOJI} cook{EMOJI}", f"A {FAMILY} cook{EMOJI}", "x"),
    Pair("combining", f"A {CAFE} cook.", "A caf\u00e9 cook.", "x"),
    Pair("spaces", "The  loud\tcook left. ", "The shy cook\nleft.", "x"),
    Pair("pieces", f"The {TEN_PIECES} cook.", "The shy cook.", "x"),
    Pair("nothing shared", "Women bake", "men eat!", "x"),
    Pair("one token", "Go", "No", "x"),
    Pair(
        "repeated", "The cook and the cook and the man.", "The cook and the man and the cook.", "x"
    ),
    Pair("empty", "The cook left.", "", "x"),
    Pair("blank", " \t", "The cook left.", "x"),
    Pair("identical", "The cook left.", "The cook left.", "x"),
    Pair("only a mark", "The cook left.", "The cook left!", "x"),
]


def cats() -> list[Any]:
    return [
        *starter("cat", task="intrasentence")[:4],
        *starter("cat", task="intersentence")[:3],
        *QUIRKY_CATS,
        *EMPTY_CATS,
    ]


def pairs() -> list[Any]:
    return [*starter("pair")[:5], *QUIRKY_PAIRS]
