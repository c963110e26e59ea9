"""What a study takes, how far it is, and how it was rehearsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.cli import render
from stereometer.cli.guard import say
from stereometer.show import numbers

if TYPE_CHECKING:
    from stereometer.verbs.study import Rehearsal, StudyPlan, StudyStatus


def print_plan(plan: StudyPlan) -> None:
    document = plan.document
    say(
        f"{document['unit_count']} {plan.about}, "
        f"{numbers.count(document['judgements'], 'judgement')} each: at least "
        f"{document['people_needed']} people who pass. With those who fail, about "
        f"{document['people_paid']} are paid: {document['cost']:.2f} "
        f"{document['currency']} ({document['hourly']:.2f} per hour)."
    )
    render.records(
        [
            {
                "raters per group": row["raters"],
                "half width of a mean": f"{row['half_width']:.1f}",
                "split-half tau": f"{row['split_half']:.2f}",
                "panel against panel": f"{row['panel']:.2f}",
                "best possible tau": f"{row['best']:.2f}",
            }
            for row in document.get("precision", ())
        ]
    )
    for row in document.get("wanted", ()):
        say(
            f"A mean within {row['half_width']:g} points ({row['of']}) needs {row['raters']} "
            f"passing raters per group: {row['people']} people who pass, about {row['paid']} paid, "
            f"{row['cost']:.2f} {document['currency']}."
        )
    for note in document["notes"]:
        say(f"- {note}")


def print_status(status: StudyStatus) -> None:
    summary = status.document["summary"]
    render.records([{"": name, "value": value} for name, value in summary.items()])


def print_rehearsal(rehearsal: Rehearsal) -> None:
    render.records(rehearsal.document["ends"])
