"""Views of results, of whatever kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stereometer.core import catalog
from stereometer.core.runs.store import family_notes
from stereometer.core.shapes.view import first_rows, left_out
from stereometer.core.show.view import View, aside
from stereometer.core.types import Result


def results(every: Sequence[Result], slices: bool = False) -> View:
    """Those measured alike in one table; what to beware of comes last. Without `slices`, the
    principal ones alone, and a line that says which there are."""
    groups = _side_by_side(every)
    notes = [
        note
        for group in groups
        for note in (
            *(_whose(note, each, every) for each in group for note in each.notes),
            *family_notes(group),
        )
    ]
    return View(
        parts=tuple(_alike(group, slices) for group in groups), notes=tuple(dict.fromkeys(notes))
    )


def _whose(note: str, result: Result, every: Sequence[Result]) -> str:
    """What is said of one model's card among several names the model."""
    others = (each for each in every if each.model != result.model)
    of_card = note in result.model_card.get("notes", ())
    told = of_card and any(note not in each.model_card.get("notes", ()) for each in others)
    return f"{result.model}: {note}" if told else note


def _alike(group: Sequence[Result], slices: bool) -> View:
    first, shape = group[0], catalog.shape(group[0].kind)
    shown = shape.view(group if slices else [first_rows(shape, each) for each in group])
    asked = (first.asked_as,) if first.asked_as else ()
    alone = len(group) == 1
    scoring = (first.scoring,) if alone else ()
    about = (first.measure, f"variant {first.variant}", *scoring, *asked, *shown.about)
    parts = list(shown.parts)
    if others := dict.fromkeys(each.measure for each in group if each.measure != first.measure):
        names = ", ".join(others)
        parts += aside(f"Constructed: made from the gold labels alone; stored as {names}.")
    if not slices and (more := left_out(shape, first)):
        parts += aside(more)
    title, subject = shown.title or first.data["title"], first.model if alone else ""
    return replace(shown, title=title, subject=subject, about=about, parts=tuple(parts))


def _side_by_side(every: Sequence[Result]) -> list[list[Result]]:
    """Those measured alike; what was made from the gold labels stands beside all of its kind."""
    groups: dict[tuple[object, ...], list[Result]] = {}
    for at, result in enumerate(sorted(every, key=lambda each: each.scoring == "constructed")):
        items = (result.data["digest"], result.variant, result.kind)
        alone = at if result.stopped is not None else None
        own = (*items, result.measure, result.asked_as, alone)
        constructed = result.scoring == "constructed"
        beside = [place for place in groups if constructed and place[:3] == items]
        for place in beside or [own]:
            groups.setdefault(place, []).append(result)
    return list(groups.values())
