"""Masked models: StereoSet's blank filled piece by piece, on BERT-base's size. `python -m bench
fill_in`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from bench import weights
from bench.models import Items, Ours, Row, compared, loaded, measured, run, scorable

CATS, ROUNDS = 100, 3


def measure() -> list[Row]:
    return measured("fill_in")


def fill_in(found: Items, peak: Any) -> Iterator[Row]:
    from bench.loops import MaskedLoop, logged
    from bench.timing import contest

    made = weights.bert_base()
    ours = Ours(made.folder)
    asked = ours.measure("cat-likelihood", "paper")
    cats = scorable(found.inside, [asked], CATS)
    loop = MaskedLoop(loaded(made.folder, "AutoModelForMaskedLM")[0], ours.backend)
    ours.scores(asked, cats[:2])
    both = {
        "ours": lambda some: logged(ours.scores(asked, some)),
        "the authors' loop": lambda some: logged(loop.fillers(some)),
    }
    times = contest(both, cats, peak, ROUNDS, CATS)
    yield from compared(
        f"StereoSet masked likelihood ({len(cats)} items)", times, {"the authors' loop": 8}
    )


if __name__ == "__main__":
    run(fill_in, f"BERT-base size: {weights.bert_base().vocabulary}", sys.argv[1])
