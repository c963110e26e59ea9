"""Stored runs on groups and traits, gathered into sections of their own: profiles, agreement with people, meetings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from stereometer.report.figure import Figure
from stereometer.report.looks import look
from stereometer.report.sections import Run, System, label_runs
from stereometer.runs.store import RESULT, SCORES, load_result, load_scores, runs_in
from stereometer.shapes.trait.words import Words, words_for
from stereometer.types import Result

KINDS = {"dominance": "meeting", "human_mean": "alignment", "association": "profile"}
"""What a result is, by an estimate that only such results have."""
TITLES = {
    "profile": "Profiles of groups",
    "alignment": "Agreement with people",
    "meeting": "Where groups meet",
}
LEADS = {
    "profile": (
        "How strongly a model ties a trait to a group, {compared}. Above 0 is towards the right pole, below 0 towards the left one. A high score does not say "
        "that it is true, that people think so, or that the model would act on it."
    ),
    "alignment": (
        "A model's scores beside what people say that others think of these groups. tau is 1 where both put everything in the same order, "
        "0 where they have nothing to do with each other. High agreement says that the model repeats stereotypes that people know: it is no merit."
    ),
    "meeting": (
        "Profiles of pairs of groups beside those of their parts. A trait emerges where the pair is beyond both parts. That is a fact about words in templates; "
        "whether people have such a stereotype of the pair is another question."
    ),
}


@dataclass(frozen=True)
class Portrait:
    """Systems measured in the same way on the same groups."""

    number: int
    kind: str
    systems: tuple[System, ...]

    @property
    def id(self) -> str:
        return f"t{self.number}"

    @property
    def title(self) -> str:
        return TITLES[self.kind]

    @property
    def lead(self) -> str:
        return LEADS[self.kind].format(compared=self.words.compared)

    @property
    def words(self) -> Words:
        return words_for(self.first.measure)

    @property
    def first(self) -> Result:
        return self.systems[0].result

    @property
    def section(self) -> Portrait:
        """Where the page's parts look for systems."""
        return self

    @property
    def line(self) -> str:
        names = ", ".join(system.label for system in self.systems)
        return f"{self.title}: {names}, measure {self.first.measure}, variant {self.first.variant}."

    @property
    def notes(self) -> list[str]:
        return list(dict.fromkeys(note for system in self.systems for note in system.result.notes))

    @cached_property
    def figures(self) -> list[Figure]:
        from stereometer.report.traits.figures import figures

        return figures(self)


def kind_of(result: Result) -> str | None:
    names = {one.name for one in result.estimates}
    return next((kind for name, kind in KINDS.items() if name in names), None)


def apart(paths: Sequence[str | Path]) -> tuple[list[Path], list[Portrait]]:
    """Runs of other kinds, and the portraits of the rest; more kinds first."""
    others: list[Path] = []
    groups: dict[tuple[object, ...], list[Run]] = {}
    for place in (found for path in paths for found in runs_in(Path(path))):
        result = load_result(place)
        kind = kind_of(result)
        if kind is None:
            others.append(place)
            continue
        folder = place.parent if place.name == RESULT else place
        run = Run(
            folder, result, tuple(load_scores(folder)) if (folder / SCORES).exists() else None
        )
        groups.setdefault(
            (kind, result.measure, result.variant, result.data.get("digest")), []
        ).append(run)
    order = list(TITLES)
    ordered = sorted(groups.items(), key=lambda one: order.index(str(one[0][0])))
    return others, list(_portraits([(str(key[0]), runs) for key, runs in ordered]))


def _portraits(groups: Sequence[tuple[str, list[Run]]]) -> Iterator[Portrait]:
    names = [[(label, run) for label, run in label_runs(runs)] for _, runs in groups]
    order = list(dict.fromkeys(label for one in names for label, _ in one))
    for number, ((kind, _), some) in enumerate(zip(groups, names, strict=True), 1):
        yield Portrait(
            number, kind, tuple(System(label, look(order.index(label)), run) for label, run in some)
        )
