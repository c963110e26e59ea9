"""What a dry run would ask, and what a model answered in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stereometer.cli import render
from stereometer.cli.calibrate import print_calibration
from stereometer.show.numbers import count, duration

if TYPE_CHECKING:
    from stereometer.runs.carry import Plans
    from stereometer.verbs.ask import AnswersInWords


def print_answers(answers: AnswersInWords, slices: bool = False) -> None:
    """Results with what was answered; forced choice beside the likelihoods, if asked for."""
    for result, answered in zip(answers, answers.answered, strict=True):
        render.results([result], slices)
        if answered is not None:
            render.overview(answered.overview)
    for calibration in answers.calibrations:
        print_calibration(calibration)


def print_plans(plans: Plans, slices: bool = False) -> None:
    for plan in plans.plans:
        workers = f" with {count(plan['workers'], 'worker')}" if "workers" in plan else ""
        title = f"{plan['benchmark']} · {plan['measure']} · {plan['model']}"
        render.line(f"{title}: {plan['items']} items, {_amounts(plan)}{workers}")
        if "workers" in plan:
            each = f"{plan['requests_each']} requests, {plan['tokens_each']} tokens"
            render.line(f"  each worker: about {each}")
    if plans.plans[1:]:
        render.line(f"in all: {_amounts(plans.total)}")


def _amounts(plan: Mapping[str, Any]) -> str:
    """What is asked, and what it takes as far as that is known."""
    money, seconds = plan.get("money"), plan["seconds"]
    parts = (
        f"{plan['requests']} requests ({plan['distinct']} distinct)",
        f"{'about ' if 'tokens_read' in plan else ''}{plan['tokens']} tokens",
        *([f"about {duration(seconds)}"] if seconds is not None else []),
        *([f"at most about ${money:.4f}"] if money else []),
    )
    return ", ".join(parts)
