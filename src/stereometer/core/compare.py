"""Two or more systems on the same items: paired differences, and what flipped.

A difference is always second minus first. Everything is computed on the items that both systems
answered, with the same resamples for both, so that what the items have in common cancels.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, islice, takewhile
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from stereometer.core import compare_view as views
from stereometer.core.addendum import Finding, addenda
from stereometer.core.errors import UsageError
from stereometer.core.options import Resamples, Seed, verb
from stereometer.core.runs import store
from stereometer.core.runs.stored import Side, Stored, alike_in, runs_alike
from stereometer.core.shapes.differences import NO_DIFFERENCE, Difference, Flip, Withheld
from stereometer.core.shapes.shape import Shape
from stereometer.core.shapes.verdicts import within_family
from stereometer.core.stats.means import POWER
from stereometer.core.stats.tests import Said, adjusted, corrected
from stereometer.core.types import Result, Score, Settings, Slice, Variant
from stereometer.core.types.document import UNSTORED, Document
from stereometer.core.types.shown import Tabular, WithFigures


@dataclass(frozen=True)
class Compared:
    """Two systems."""

    first: str
    second: str
    items: int
    """Items both answered."""
    asked: int
    differences: tuple[Difference, ...]
    withheld: tuple[Withheld, ...]
    flips: tuple[Flip, ...]
    toward_stereotype: int
    """Items on which the second system gained a preference for the stereotype over the first."""
    toward_anti: int

    @property
    def from_ties(self) -> str:
        """How many flips are no change from one candidate to the other, to be said after them."""
        tied = sum("tie" in (flip.first, flip.second) for flip in self.flips)
        return f"; {tied:,} of them from or to a tie, which is no preference" if tied else ""


@dataclass(frozen=True, repr=False)
class Comparison(Tabular, WithFigures, Document):
    """Everything `stereometer compare` shows."""

    benchmark: str
    measure: str
    variant: Variant
    systems: tuple[str, ...]
    pairs: tuple[Compared, ...]
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    preferences: bool = True
    """Whether items prefer a stereotype or its opposite, so that a preference can flip."""
    findings: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)
    """What addenda of the catalog say, by the name of their field. Documents have them as fields,
    and in Python they are attributes: `comparison.mitigations`."""
    kind: str = ""
    """The shape of the results."""
    others: tuple[Comparison, ...] = ()
    """Of the runs in a folder, those of other benchmarks, measures or variants."""
    schema: str = "compare@1"
    folders: tuple[Path, ...] = field(default=(), compare=False, metadata=UNSTORED)

    view = views.comparison

    def __getattr__(self, name: str) -> Any:
        findings: Mapping[str, tuple[Finding, ...]] = vars(self).get("findings", {})
        if name not in findings:
            raise AttributeError(name)
        return findings[name]

    def as_json(self) -> dict[str, Any]:
        """With the findings in their place."""
        fields = list(super().as_json().items())
        at = [name for name, _ in fields].index("findings")
        return dict([*fields[:at], *fields[at][1].items(), *fields[at + 1 :]])

    def rows(self) -> list[dict[str, Any]]:
        """Flat records, one per difference."""
        own = [
            {
                "benchmark": self.benchmark,
                "measure": self.measure,
                "from": pair.first,
                "to": pair.second,
                **row.slice,
                **{key: value for key, value in vars(row).items() if key != "slice"},
                "difference": row.difference,
            }
            for pair in self.pairs
            for row in pair.differences
        ]
        return own + [row for other in self.others for row in other.rows()]


# ---------------------------------------------------------------------------------------- comparing


@verb
def compare(
    *runs: Annotated[
        Stored,
        "Folders of runs on the same items, the first the baseline; or a folder that holds "
        "them: of those, runs that were measured alike are compared, the others left out "
        "with a note. In Python also Results.",
    ],
    control: Annotated[
        Stored | None, "The run of a mitigation's control, to judge the mitigation by."
    ] = None,
    all_pairs: Annotated[bool, "Compare every run with every other."] = False,
    seed: Seed = 0,
    resamples: Resamples = 10_000,
) -> Comparison:
    """Compare stored runs on the same items, each with the first, or all pairs."""
    groups, left_out = alike_in(runs)
    if not groups:
        raise UsageError(
            "compare needs at least two runs that were measured alike; the first is the baseline. "
            f"{' '.join(left_out[:3])} Name the folders of others, or a folder that holds them."
        )
    beside = [control] if control is not None else []
    first, *others = [_compare(group, beside, all_pairs, seed, resamples) for group in groups]
    return replace(first, others=tuple(others), notes=(*first.notes, *left_out))


def _compare(
    runs: Sequence[Stored], beside: Sequence[Stored], all_pairs: bool, seed: int, resamples: int
) -> Comparison:
    stored = runs_alike([*runs, *beside])
    results = [run.result for run in stored]
    if beside:
        _check_control(results[: len(runs)], results[-1])
    first, labels = results[0], store.labels(results)
    floor = min(float(result.settings["coverage"]) for result in results)
    settings = Settings(first.variant, seed, resamples, coverage=floor)
    sides = [Side(label, run) for label, run in zip(labels, stored, strict=True)]
    last = len(runs)
    added = addenda()
    planned = [slice_ for each in added for slice_ in each.planned(sides)]
    pairs = pairs_among(sides[:last], settings, all_pairs, planned=planned)
    notes = [first.data.get("notice"), *store.family_notes(results)]
    notes += [note for each in added for note in each.notes(sides[:last])]
    return Comparison(
        first.benchmark,
        ", ".join(dict.fromkeys(result.measure for result in results)),
        first.variant,
        tuple(labels[:last]),
        pairs,
        {"seed": seed, "resamples": resamples, "level": settings.level, "power": POWER},
        tuple(note for note in notes if note),
        bool(stored[0].shape.candidates),
        {
            each.field: tuple(each.findings(sides, settings, sides[last:]))
            for each in added
            if each.field
        },
        first.kind,
        folders=tuple(run.folder for run in stored[:last]),
    )


def _check_control(results: Sequence[Result], control: Result) -> None:
    judges = [each for each in addenda() if each.takes_control]
    if not judges:
        raise UsageError(
            "A control is named, and nothing that is installed judges by one. Mitigations are "
            "judged by their controls. Leave --control out."
        )
    for each in judges:
        each.check_control(results, control)


MORE = "take more resamples"


def compared(
    labels: Sequence[str],
    scores: Sequence[Iterable[Score]],
    shape: Shape,
    settings: Settings,
    all_pairs: bool,
    ties: Sequence[float] = (),
    overall: bool = False,
    planned: Collection[Slice] = (),
) -> tuple[Compared, ...]:
    """Every pair of systems, or each with the first, their p adjusted over all that is shown;
    `overall` leaves slices out, `planned` ones were named before and are corrected apart."""
    most = ties or [settings.ties] * len(labels)
    systems = [
        _System(label, shape.units(of, settings.variant), share)
        for label, of, share in zip(labels, scores, most, strict=True)
    ]
    chosen = combinations(systems, 2) if all_pairs else ((systems[0], each) for each in systems[1:])
    pairs = [_compared(first, second, shape, settings, overall) for first, second in chosen]
    return tuple(_adjusted(pairs, settings.level, planned))


class _System(NamedTuple):
    name: str
    scores: Mapping[str, Score]
    """By what is paired."""
    ties: float
    """The share of ties above which it has no score."""


def pairs_among(
    sides: Sequence[Side],
    settings: Settings,
    all_pairs: bool = False,
    overall: bool = False,
    planned: Sequence[Slice] = (),
) -> tuple[Compared, ...]:
    """As `compared` gives them: each with the first, or all."""
    labels, scores = [side.label for side in sides], [side.scores for side in sides]
    shape, ties = sides[0].run.shape, [side.run.ties for side in sides]
    return compared(labels, scores, shape, settings, all_pairs, ties, overall, planned)


def _compared(
    first: _System, second: _System, shape: Shape, settings: Settings, overall: bool
) -> Compared:
    left, right = first.scores, second.scores
    if shape.shares_some:
        left = {unit: score for unit, score in left.items() if unit in right}
    elif left.keys() != right.keys() or any(left[at].slices != right[at].slices for at in left):
        raise UsageError(
            f"{first.name} and {second.name} were not scored on the same items. One of the runs is "
            "damaged. Run it again."
        )
    both = [
        (left[item], right[item])
        for item in left
        if left[item].skipped is None and right[item].skipped is None
    ]
    if not both:
        raise UsageError(
            f"{first.name} and {second.name} have no item that both answered. There is nothing to "
            "compare. See why in their results."
        )
    every = [score.slices for score in left.values()]
    tied = [shape.tie_shares(side, settings.variant) for side in zip(*both, strict=True)]
    differences = shape.differences(both, every, settings)
    if overall:  # what every shape gives first
        differences = takewhile(lambda row: not row.slice, differences)
    rows = [
        _open(row, (first, second), [shares(row.slice) for shares in tied]) or row
        for row in differences
    ]
    flips = [flip for pair in both if (flip := shape.flip(*pair, settings.variant))]
    toward = sum(flip.toward_stereotype for flip in flips)
    return Compared(
        first.name,
        second.name,
        len(both),
        len(left),
        tuple(row for row in rows if isinstance(row, Difference)),
        tuple(row for row in rows if isinstance(row, Withheld)),
        tuple(flips),
        toward,
        len(flips) - toward,
    )


def _adjusted(
    pairs: Sequence[Compared], level: float, planned: Collection[Slice]
) -> Iterator[Compared]:
    """Holm over the overall differences of a metric, across all pairs, and over those in slices, as
    for single results; and likewise over the claims that one system is closer to 50."""

    def family(row: Difference) -> Hashable:
        return row.name, bool(row.slice), row.slice in planned

    rows = corrected(
        (difference for pair in pairs for difference in pair.differences),
        lambda difference, p: _verdict(difference, p, level),
        family,
        known=lambda difference: within_family(difference, level),
    )
    closer = adjusted([row.p_closer for row in rows], map(family, rows))
    judged = iter([row.judged(p, level) for row, p in zip(rows, closer, strict=True)])
    for pair in pairs:
        yield replace(pair, differences=tuple(islice(judged, len(pair.differences))))


def _open(
    row: Difference | Withheld, systems: Sequence[_System], shares: Sequence[Mapping[str, float]]
) -> Withheld | None:
    """Instead of a difference of which one side is undetermined."""
    if isinstance(row, Withheld):
        return None
    for system, share in zip(systems, shares, strict=True):
        if (tied := share.get(row.name, 0.0)) > system.ties:
            why = f"{row.name} of {system.name} is undetermined: {100 * tied:.0f} % ties"
            return Withheld(row.slice, row.n, row.asked, why)
    return None


def _verdict(difference: Difference, p: float, level: float) -> Said:
    """A p that cannot get lower, because there were too few resamples, says so."""
    if p >= 1 - level or difference.difference == 0:
        low = difference.floor is not None and difference.p <= difference.floor * (1 + 1e-9)
        more = f": p cannot fall below {p:.2g}; {MORE}" if low else ""
        return f"{NO_DIFFERENCE}{more}", False
    return "higher" if difference.difference > 0 else "lower", True
