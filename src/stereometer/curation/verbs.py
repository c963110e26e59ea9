"""The verbs `analyze` and `audit`, with the names of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from stereometer.curation.analysis import analyses
from stereometer.curation.audit import audits
from stereometer.curation.audit.flags import AGREED
from stereometer.types import Settings


def analyze(
    name: str,
    *,
    data: str | Path | None = None,
    run: Sequence[str | Path] = (),
    sentiment: str = "sentiment",
    negative_label: str | None = None,
    top: int = 16,
    lemmas: bool = False,
    ends: int = 3,
    seed: int = 0,
    resamples: int = 10_000,
) -> analyses.Analysis:
    """Statistics, sentiment, keywords and agreement of a data set, and what stored runs say.

    - `name`, `data`: a benchmark, or a file of your own items, and where its data are.
    - `run`: folders of runs on these items.
    - `sentiment`: what judges sentiment: `sentiment` (VADER) or `sentiment:MODEL`;
      `negative_label` is the negative label of such a model, if it does not name it.
    - `top`, `ends`: keywords, and most and least stereotyped terms, of each domain.
    - `lemmas`: count keywords by base form.
    """
    return analyses.analyze(
        name,
        data=data,
        run_folders=run,
        model=sentiment,
        options={"negative_label": negative_label},
        top=top,
        lemmas=lemmas,
        ends=ends,
        settings=Settings(seed=seed, resamples=resamples),
    )


def audit(
    name: str,
    *,
    data: str | Path | None = None,
    run: Sequence[str | Path] = (),
    flag: Sequence[str] = (),
    ignore: Sequence[str] = (),
    agreement: float = AGREED,
    errata: str | Path | None = None,
    examples: int = audits.EXAMPLES,
    show_texts: bool = False,
    write: str | Path | None = None,
    seed: int = 0,
    resamples: int = 10_000,
) -> audits.Audit:
    """Flag items, and say what clean items would change in stored runs.

    - `name`, `data`: a benchmark, or a file of your own items, and where its data are.
    - `run`: folders of runs on these items.
    - `flag`, `ignore`: flags that make an item unclean (by default all), and those that do not.
    - `agreement`: the share of validators who must have given an item's own label.
    - `errata`: a list of items to drop, keep or correct.
    - `examples`, `show_texts`: examples of each flag, and whether their texts are included.
    - `write`: a folder for the clean items.
    """
    asked = audits.Asked(flag, ignore, agreement, examples, show_texts, _path(errata), _path(write))
    settings = Settings(seed=seed, resamples=resamples)
    return audits.audit(name, data=data, run_folders=run, asked=asked, settings=settings)


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)
