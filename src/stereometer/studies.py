"""Groups, traits and questions from Python: what the commands `align`, `intersect` and `ask` do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stereometer import api, asking
from stereometer.benchmarks.abc.items import Choice
from stereometer.benchmarks.comments import columns_from
from stereometer.errors import UsageError
from stereometer.findings.align.align import Ask as AlignAsk
from stereometer.findings.align.align import align as aligned
from stereometer.findings.align.pilot import GROUPS
from stereometer.findings.intersect.intersect import Ask as IntersectAsk
from stereometer.findings.intersect.intersect import check_tables
from stereometer.findings.intersect.intersect import intersect as met
from stereometer.measures.recognition.measure import Asking
from stereometer.measures.recognition.questions import STUDY_SIZE
from stereometer.measures.recognition.settings import STUDY
from stereometer.runs.store import folders_of
from stereometer.types import Result, Variant

PAIR_TEMPLATES = ("singular", "plural")
"""Kinds of template that pairs of groups are measured with."""


@dataclass(frozen=True)
class Aligned:
    """A run held against people."""

    result: Result
    folder: Path


def align(
    run: str | Path,
    *,
    ratings: str | Path,
    templates: Sequence[str] = (),
    pilot: bool = False,
    pilot_groups: Sequence[str] = (),
    choice: Choice | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    out: str | Path | None = None,
) -> Aligned:
    """Hold a run on groups and traits against what people say."""
    if pilot and templates:
        raise UsageError(
            "A pilot and templates both say which templates count. The pilot chooses by itself. Give one of them."
        )
    settings = api.settings_for("sound", seed, resamples)
    ask = AlignAsk(
        Path(ratings),
        settings,
        tuple(templates),
        pilot,
        tuple(pilot_groups) or GROUPS,
        choice or Choice(),
    )
    (folder,) = folders_of([run])
    return Aligned(*aligned(folder, ask, _path(out)))


@dataclass(frozen=True)
class Met:
    """Pairs of groups measured, and the three questions asked of them."""

    result: Result
    folder: Path
    scores: Path
    """The run they were asked of."""


def intersect(
    model: str,
    *,
    groups: Sequence[str] = (),
    traits: str | Path | None = None,
    templates: Sequence[str] = PAIR_TEMPLATES,
    measure: str | None = None,
    variant: str = "sound",
    rules: str | Path | None = None,
    expected: str | Path | None = None,
    seed: int = 0,
    resamples: int = 2_000,
    coverage: float = 0.90,
    out: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    watch: api.Watch | None = None,
) -> Met:
    """Measure all pairs of groups that make sense, and ask what order, domain and meeting do."""
    settings = api.settings_for(variant, seed, resamples, coverage)
    choice = Choice(tuple(groups), _path(traits), tuple(templates), pairs=True, rules=_path(rules))
    ask = IntersectAsk(choice, settings, _path(expected))
    check_tables(ask)  # a mistake in a table is told before a model is loaded
    measures = [measure] if measure else []
    api.check_names([model], measures)
    jobs = api.jobs(
        ["abc"], api.open_model(model, seed, options), measures, settings, None, None, choice=choice
    )
    (run,) = api.execute_all(jobs, Path(out) / "scores" if out else None, watch=watch)
    result, folder = met(run.folder, ask, Path(out) / "intersection" if out else None)
    return Met(result, folder, run.folder)


def ask(
    benchmark: str,
    *,
    model: str,
    setting: str | Sequence[str] = STUDY,
    repeats: int = 10,
    temperature: float = 0.3,
    chat: bool = False,
    system: str = "",
    likelihood: bool = False,
    templates: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    categories: Mapping[str, str] | Sequence[str] = (),
    neither: str = "neither",
    size: int = STUDY_SIZE,
    sample: Variant | None = None,
    threshold: float = 0.5,
    edits: str | Path | None = None,
    variant: str = "sound",
    data: str | Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    coverage: float = 0.90,
    out: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[Result]:
    """Ask a model in words: settings of the study on comments, or a forced choice on CATs and pairs.

    `columns` says what a table of your own calls its parts, such as {"comment": "text", "label": "gold"}; `categories` are its
    columns of scores or its labels, with the word for each where it is another.
    """
    words = (
        dict(categories) if isinstance(categories, Mapping) else {name: name for name in categories}
    )
    how = Asking(repeats, temperature, chat, system, _path(templates), likelihood)
    chosen = asking.Sample(sample, size, threshold, words, _path(edits))
    settings = api.settings_for(variant, seed, resamples, coverage)
    own = columns_from(
        [f"{name}={column}" for name, column in (columns or {}).items()], list(words), neither
    )
    found = asking.open_comments(benchmark, _path(data), own)
    asked = asking.writing(api.open_model(model, seed, options))
    names = [setting] if isinstance(setting, str) else setting
    jobs = list(asking.all_jobs(found, names, asked, settings, how, chosen, limit))
    return [one.result for one in api.execute_all(jobs, out)]


def _path(path: str | Path | None) -> Path | None:
    return Path(path) if path else None
