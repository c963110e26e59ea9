"""Views of what a study takes, how far it is, and how it was rehearsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stereometer.core.show import numbers
from stereometer.core.show.view import Paragraph, View, records

if TYPE_CHECKING:
    from stereometer.wings.people.verbs import Rehearsal, StudyPlan, StudyStatus


def study_plan(plan: StudyPlan) -> View:
    """What a study takes; its table alone is a result, the sentences are said beside it."""
    document = plan.document
    people = (
        f"{document['unit_count']} {plan.about}, "
        f"{numbers.count(document['judgements'], 'judgement')} each: at least "
        f"{document['people_needed']} people who pass. With those who fail, about "
        f"{document['people_paid']} are paid: {document['cost']:.2f} "
        f"{document['currency']} ({document['hourly']:.2f} per hour)."
    )
    precision = [
        {
            "raters per group": row["raters"],
            "half width of a mean": f"{row['half_width']:.1f}",
            "split-half tau": f"{row['split_half']:.2f}",
            "panel against panel": f"{row['panel']:.2f}",
            "best possible tau": f"{row['best']:.2f}",
        }
        for row in document.get("precision", ())
    ]
    wanted = (
        f"A mean within {row['half_width']:g} points ({row['of']}) needs {row['raters']} passing "
        f"raters per group: {row['people']} people who pass, about {row['paid']} paid, "
        f"{row['cost']:.2f} {document['currency']}."
        for row in document.get("wanted", ())
    )
    said = (*wanted, *(f"- {note}" for note in document["notes"]))
    return View(parts=(_talk(people), *records(precision), *map(_talk, said)))


def _talk(words: str) -> Paragraph:
    return Paragraph(((words, False),), talk=True)


def study_status(status: StudyStatus) -> View:
    rows = [{"": name, "value": value} for name, value in status.document["summary"].items()]
    return View(parts=tuple(records(rows)))


def rehearsal(made: Rehearsal) -> View:
    return View(parts=tuple(records(made.document["ends"])))
