"""Which function prints what a verb returns, for the terminal, for `print` and for notebooks."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from stereometer.cli import render
from stereometer.cli.guard import say
from stereometer.types.shown import Told

PRINTED_BY = {
    "Result": "render:result",
    "Results": "render:results",
    "Run": "render:run",
    "Plans": "asked:print_plans",
    "AnswersInWords": "asked:print_answers",
    "Sweep": "sweep:print_sweep",
    "Ensemble": "ensemble:print_ensemble",
    "CardShown": "show:print_card",
    "EveryName": "list_:print_names",
    "Analysis": "analyze:print_analysis",
    "Audit": "audit:print_audit",
    "CacheInfo": "cache:print_info",
    "Calibration": "calibrate:print_calibration",
    "Comparison": "compare:print_comparison",
    "Examination": "doctor:print_examination",
    "Gate": "gate:print_gate",
    "Installation": "doctor:print_installation",
    "Listing": "published:print_listing",
    "MitigationCard": "mitigate:print_card",
    "Mitigations": "mitigate:print_mitigations",
    "Exported": "mitigate:print_exported",
    "Judged": "board:print_judged",
    "PackCheck": "pack:print_check",
    "Places": "data:print_places",
    "Relation": "relate:print_relation",
    "TrainedClassifier": "train:print_classifier",
    "TrainedHead": "train:print_head",
    "SplitParts": "split:print_split",
    "Terms": "terms:print_terms",
    "Rehearsal": "study:print_rehearsal",
    "StudyPlan": "study:print_plan",
    "StudyStatus": "study:print_status",
}
"""By the name of its class, or of one that it is derived from."""


def printer(value: object) -> Callable[..., None] | None:
    """None for what has nothing to show."""
    for base in type(value).__mro__:
        if place := PRINTED_BY.get(base.__name__):
            module, _, name = place.partition(":")
            found: Callable[..., None] = getattr(import_module(f"stereometer.cli.{module}"), name)
            return found
    return None


def show(value: Any, json: bool = False, **ways: bool) -> None:
    """What a verb returned: as JSON or as tables; then what there is to say of it."""
    if json:
        render.print_json(value.as_json())
    elif prints := printer(value):
        prints(value, **ways)
    if json and isinstance(value, Told):  # its document says the same
        return
    for remark in getattr(value, "remarks", ()):
        say(remark)
