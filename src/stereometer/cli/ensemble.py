"""An ensemble and its weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.cli import render

if TYPE_CHECKING:
    from stereometer.findings.ensemble.combine import Ensemble


def print_ensemble(made: Ensemble) -> None:
    render.results([made.result])
    for task, by_member in made.weights.items():
        listed = ", ".join(f"{member} {weight:.4g}" for member, weight in by_member.items())
        render.line(f"weights, {task}: {listed}")
