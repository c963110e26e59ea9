"""The verb `relate`: correlations across systems."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from stereometer.core.options import Option, Resamples, Seed, verb
from stereometer.core.runs.stored import Stored
from stereometer.report import write_report
from stereometer.wings.relations.relate import Relation, relation_of


@verb
def relate(
    *runs: Annotated[Stored, "Folders of runs on the same items, measured alike."],
    facts: Annotated[
        str | Path | None,
        "A table with system, parameters, corpus_gb and family, for models whose card lacks them.",
    ] = None,
    output: Annotated[
        str | Path | None,
        Option("Also write the report with the figures here.", flags=("--output", "-o")),
    ] = None,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
) -> Relation:
    """Correlate language modelling, stereotyping and size across systems; an ensemble beside its
    members is left out."""
    relation = relation_of(runs, facts, seed, resamples)
    if output is None:
        return relation
    return replace(relation, report=write_report(list(runs), output, facts))
