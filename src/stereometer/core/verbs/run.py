"""The verb `run`: measure models on benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Unpack

from stereometer.core import catalog
from stereometer.core.files import UTF8
from stereometer.core.gate.early_stop import holding
from stereometer.core.options import (
    BARS,
    GROUPS,
    STATISTICS,
    Cache,
    Column,
    Coverage,
    Data,
    Delta,
    Encoding,
    Groups,
    HeadedModelOptions,
    Limit,
    Measures,
    Models,
    NegativeLabel,
    Option,
    Out,
    Require,
    Resamples,
    Seed,
    Templates,
    Traits,
    VariantName,
    check_known,
    listed,
    verb,
)
from stereometer.core.runs.carry import carry_out
from stereometer.core.runs.engines import engines_of
from stereometer.core.runs.execute import LOG, Announce
from stereometer.core.runs.measure import by_benchmark, jobs_for, names_of, warned
from stereometer.core.runs.models import named, opened_in_turn
from stereometer.core.runs.open import source_of
from stereometer.core.runs.progress import Watch
from stereometer.core.tables import Layout
from stereometer.core.types import Backend, Job, Scorer, Settings
from stereometer.core.types.method import check_limit
from stereometer.core.types.results import Results


class RunOptions(HeadedModelOptions, total=False):
    negative_label: NegativeLabel


@verb
def run(
    *benchmarks: Annotated[
        str | Path, Option("Names (see `stereometer list`) or files of your own.", words=list[str])
    ],
    model: Models,
    name: Annotated[
        str | Sequence[str] | None, "Name of the model in results; give one for each --model."
    ] = None,
    measure: Measures = (),
    like_paper: Annotated[
        bool, "The measure of each benchmark's paper, as the authors computed it."
    ] = False,
    data: Data = None,
    limit: Limit = None,
    out: Out = None,
    cache: Cache = True,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
    variant: VariantName = "sound",
    coverage: Coverage = 0.90,
    delta: Delta = 5.0,
    within_word: Annotated[
        bool, Option("Pseudo-likelihood that also hides the later pieces of a word.", STATISTICS)
    ] = False,
    groups: Groups = (),
    traits: Traits = None,
    templates: Templates = (),
    synonyms: Annotated[
        bool,
        Option("abc: whether `paper` takes the median over an adjective and its synonyms.", GROUPS),
    ] = True,
    text: Annotated[
        str | Path | None,
        Option("abc: a text in which ceat finds sentences, plain or JSONL.", GROUPS),
    ] = None,
    column: Column = None,
    encoding: Encoding = UTF8,
    require: Require = (),
    bars: Annotated[
        str | Path | None, Option("Also check the bars in this file, as `gate` does.", BARS)
    ] = None,
    until_decided: Annotated[
        bool,
        Option("Ask items in random order, and stop as soon as every bar is met or missed.", BARS),
    ] = False,
    progress: Watch | bool = True,
    announce: Announce = LOG.warning,
    **options: Unpack[RunOptions],
) -> Results:
    """Measure models on benchmarks: one result for each model, benchmark and measure.

    With bars, `gate` of what is returned says how the results stand to them. `progress` is a bar
    in a terminal and in a notebook, elsewhere a line every 30 seconds on standard error, with False
    nothing; `announce` gets what one should know beforehand.
    """
    check_known(options, run)
    bound = holding(require, bars, until_decided, limit, options.get("shard"))
    settings = Settings(
        "paper" if like_paper else variant, seed, resamples, coverage=coverage, delta=delta
    )
    check_limit(limit)  # before a model is loaded
    measures = [measure] if isinstance(measure, str) else list(measure)
    names = names_of(benchmarks)
    for each in names:  # a slip shows before a model is loaded
        source_of(each, data)
    for each in measures:
        catalog.find("method", each)
    models = named(model, name)
    parts = by_benchmark(names, measures, like_paper)
    asked = {"within_word": True} if within_word else {}
    choice = _choice(groups, traits, templates, synonyms, text, seed)
    layout = Layout(encoding, column or {})

    def jobs_of(opened: Backend | Scorer, called: str | None) -> Sequence[Job]:
        how = (settings, data, limit, asked, choice, called, layout)
        jobs = [job for names, each in parts for job in jobs_for(names, opened, each, *how)]
        return bound.jobs(jobs)

    with engines_of(options) as engines:
        jobs = (
            member.job(job)
            for opened_model, member, called in opened_in_turn(models, seed, options, engines)
            for job in jobs_of(opened_model, called)
        )
        alike = warned(jobs, announce) if models[1:] else jobs
        return bound.hold(carry_out(alike, engines, options, out, cache, progress, announce))


def _choice(
    groups: str | Path | Sequence[str],
    traits: str | Path | None,
    templates: str | Path | Sequence[str],
    synonyms: bool,
    text: str | Path | None,
    seed: int,
) -> dict[str, Any] | None:
    """What was chosen of a benchmark that lets one choose, or None if nothing was."""
    if synonyms and not any((groups, traits, templates, text)):
        return None
    return {
        "groups": listed(groups),
        "traits": Path(traits) if traits else None,
        "templates": listed(templates),
        "text": Path(text) if text else None,
        "seed": seed,
        "synonyms": synonyms,
    }
