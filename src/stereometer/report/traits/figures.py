"""The figures of a portrait, each with what it shows in words and the table behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stereometer.report import numbers
from stereometer.report.figure import Chart, Figure
from stereometer.report.sections import System
from stereometer.report.tables import Cell, Table, figure, text
from stereometer.report.traits import charts
from stereometer.report.traits.charts import Arrow, Point, Square
from stereometer.report.traits.portraits import Portrait
from stereometer.types import Estimate, Score

NO_NOISE = ("not distinguishable from 0", "not distinguishable from chance", None)


def figures(portrait: Portrait) -> list[Figure]:
    made = {"profile": _profiles, "alignment": _alignment, "meeting": _meeting}[portrait.kind]
    return [one for one in made(portrait) if one.charts or one.tables]


def _poles(trait: str) -> tuple[str, str]:
    left, _, right = trait.partition(" - ")
    return left, right or trait


def _number(value: float | None, places: int = 2) -> str:
    return "none" if value is None else numbers.number(value, places)


def _span(one: Estimate, places: int = 2) -> str:
    return (
        ""
        if one.low is None or one.high is None
        else f"[{_number(one.low, places)},{numbers.NO_BREAK}{_number(one.high, places)}]"
    )


def _sure(one: Estimate) -> bool:
    return one.p_adjusted is not None and one.verdict not in NO_NOISE


# ---------------------------------------------------------------------------------------------- profiles


def _cells(system: System) -> list[Estimate]:
    return [
        one for one in system.result.estimates if one.name == "association" and "trait" in one.slice
    ]


def _trait_rows(traits: Sequence[str], dimensions: dict[str, str]) -> list[tuple[str, str, str]]:
    order = list(dict.fromkeys(dimensions.values()))
    return [
        (*_poles(trait), charts.DIMENSIONS[order.index(dimensions[trait]) % len(charts.DIMENSIONS)])
        for trait in traits
    ]


def _dimensions(portrait: Portrait) -> dict[str, str]:
    """Of each trait, as the stored scores say."""
    scores = [score for system in portrait.systems for score in system.run.scores or ()]
    return {
        score.slices["trait"]: score.slices.get("dimension", "")
        for score in scores
        if "trait" in score.slices
    }


def _profiles(portrait: Portrait) -> Iterator[Figure]:
    found = {system.label: _cells(system) for system in portrait.systems}
    groups = list(dict.fromkeys(one.slice["group"] for some in found.values() for one in some))
    dimensions = _dimensions(portrait)
    traits = list(dict.fromkeys(one.slice["trait"] for some in found.values() for one in some))
    dimensions = {trait: dimensions.get(trait, "traits") for trait in traits}
    largest = {
        label: max(
            [
                abs(bound)
                for one in some
                for bound in (one.value, one.low, one.high)
                if bound is not None
            ],
            default=1.0,
        )
        or 1.0
        for label, some in found.items()
    }
    rows = _trait_rows(traits, dimensions)
    pictures = []
    for group in groups:
        points = [
            [_point(system, one, traits, largest[system.label]) for one in found[system.label] if one.slice["group"] == group and one.value is not None]
            for system in portrait.systems
        ]  # fmt: skip
        pictures.append(Chart(group, _told(group, portrait, found), charts.profile(rows, points)))
    named = numbers.listed(list(dict.fromkeys(dimensions.values())))
    lead = (
        f"Each line is a trait from its left to its right pole, coloured by dimension ({named}, from the top). Scores are shown as a share of the largest of each system, so shapes can be compared, sizes cannot. "
        f"Bars are {portrait.words.interval}; a hollow mark cannot be told from 0 after the correction for all tests made.",
        *([f"{portrait.words.caveat}."] if portrait.words.caveat else []),
    )
    table = _association_table(portrait, found)
    yield Figure(
        f"{portrait.id}-profile",
        "The profile of a group",
        lead,
        tuple(pictures),
        (table,),
        chooser="Group",
        legend="portrait",
    )
    for number, system in enumerate(portrait.systems):
        squares = [
            Square(one.slice["group"], _poles(one.slice["trait"])[1], one.value, _tip(system, one)) for one in found[system.label] if one.value is not None
        ]  # fmt: skip
        picture = Chart(system.label, f"Heat map of {len(squares)} scores of {system.label}, groups by traits. The table of profiles holds the numbers.",
                        charts.heat(groups, [_poles(trait)[1] for trait in traits], squares))  # fmt: skip
        told = (
            f"{system.label}: orange towards the named right pole, blue towards its opposite. What is missing has no score.",
        )
        shown = _association_table(portrait, {system.label: found[system.label]})
        yield Figure(
            f"{portrait.id}-heat-{number}",
            f"All groups and traits, {system.label}",
            told,
            (picture,) if squares else (),
            (shown,),
            legend="none",
        )


def _point(system: System, one: Estimate, traits: Sequence[str], largest: float) -> Point:
    low, high = (
        (None, None)
        if one.low is None or one.high is None
        else (one.low / largest, one.high / largest)
    )
    look = system.look
    return Point(
        traits.index(one.slice["trait"]),
        (one.value or 0.0) / largest,
        low,
        high,
        look.colour,
        look.shape,
        _tip(system, one),
        _sure(one),
    )


def _tip(system: System, one: Estimate) -> str:
    return f"{system.label}, {one.slice['group']}\n{one.slice.get('trait', '')}: {_number(one.value)} {_span(one)}\n{one.verdict or ''}".rstrip()


def _told(group: str, portrait: Portrait, found: dict[str, list[Estimate]]) -> str:
    parts = []
    for system in portrait.systems:
        known = sorted(
            (
                one
                for one in found[system.label]
                if one.slice["group"] == group and one.value is not None
            ),
            key=lambda one: -abs(one.value or 0),
        )
        tied = ", ".join(_poles(one.slice["trait"])[(one.value or 0) > 0] for one in known[:3])
        parts.append(
            f"{system.label} ties it most to {tied}" if tied else f"{system.label} has no score"
        )
    return f"Profile of {group} on {len({one.slice['trait'] for some in found.values() for one in some})} traits. {'; '.join(parts)}."


def _association_table(portrait: Portrait, found: dict[str, list[Estimate]]) -> Table:
    columns = (
        text("Group"),
        text("Trait"),
        text("System"),
        *map(figure, ("score", "interval", "used of asked")),
        text("verdict"),
        text("p, adjusted"),
    )
    rows = [
        (text(one.slice["group"]), text(one.slice["trait"]), Cell(system.label, system=system), figure(_number(one.value)), figure(_span(one) or one.interval or ""),
         figure(numbers.used(one)), text(one.why or one.verdict or ""), text("" if one.p_adjusted is None else numbers.p_value(one.p_adjusted)))
        for system in portrait.systems
        for one in found.get(system.label, ())
    ]  # fmt: skip
    return Table(
        f"Scores of groups on traits, with {portrait.words.interval}", columns, tuple(rows)
    )


# --------------------------------------------------------------------------------------------- alignment


def _alignment(portrait: Portrait) -> Iterator[Figure]:
    yield _tau_figure(portrait)
    if all(system.run.scores for system in portrait.systems):
        yield _side_by_side(portrait)


def _tau_figure(portrait: Portrait) -> Figure:
    first = portrait.systems[0]
    by_group = [
        one for one in first.result.estimates if one.name == "tau" and set(one.slice) == {"group"}
    ]
    ordered = [
        one.slice["group"]
        for one in sorted(
            by_group, key=lambda one: -1.0 if one.value is None else one.value, reverse=True
        )
    ]
    points = [[_tau_point(system, one, ordered) for one in system.result.estimates if one.name == "tau" and set(one.slice) == {"group"} and one.value is not None]
              for system in portrait.systems]  # fmt: skip
    people = [(ordered.index(one.slice["group"]), one.value) for one in first.result.estimates
              if one.name == "human_split_half_tau" and "group" in one.slice and one.value is not None]  # fmt: skip
    half = first.find("human_split_half_tau", {})
    overall = half.value if half else None
    words = [
        ", ".join(
            filter(
                None,
                [
                    f"{system.label}: tau {_number(one.value)} {_span(one)}".strip(),
                    one.verdict or one.why or one.interval,
                ],
            )
        )
        for system in portrait.systems
        if (one := system.find("tau", {}))
    ]
    lead = (
        f"Overall, {'; '.join(words)}. Half of the raters agree with the other half at {_number(overall)} (dashed line; grey ticks for single groups): a model can hardly be "
        "expected to do better, though nothing forbids it. A filled mark can be told from 0 after Holm's correction over groups; groups that chose the templates are not tested. "
        "The overall p is of the model's traits permuted, for all groups together.",
    )
    described = f"tau with people for {len(ordered)} groups, with intervals, beside people's own split-half tau. {'; '.join(words)}."
    charts_ = (Chart("tau", described, charts.taus(ordered, points, people, overall)),)
    return Figure(
        f"{portrait.id}-tau",
        "Agreement by group",
        lead,
        charts_,
        (_alignment_table(portrait),),
        legend="portrait",
    )


def _tau_point(system: System, one: Estimate, order: Sequence[str]) -> Point:
    tip = f"{system.label}, {one.slice['group']}\ntau {_number(one.value)} {_span(one)}\n{one.verdict or ''}"
    return Point(
        order.index(one.slice["group"]),
        one.value or 0.0,
        one.low,
        one.high,
        system.look.colour,
        system.look.shape,
        tip,
        _sure(one),
    )


ALIGNED = (
    "tau",
    "precision_at_3",
    "precision_at_3_top",
    "precision_at_3_bottom",
    "precision_at_3_decided",
)


def _alignment_table(portrait: Portrait) -> Table:
    columns = (
        text("What"),
        text("Slice"),
        text("System"),
        *map(figure, ("value", "interval", "ideal", "halves of people", "used of asked")),
        text("verdict"),
        text("p, adjusted"),
    )
    rows = [
        (text(one.name), text(" / ".join(one.slice.values()) or "overall"), Cell(system.label, system=system), figure(_number(one.value, 3)), figure(_span(one, 3)),
         figure("" if one.ideal is None else _number(one.ideal, 3)), figure(_halves(system, one)), figure(numbers.used(one)), text(one.why or one.verdict or ""),
         text("" if one.p_adjusted is None else numbers.p_value(one.p_adjusted)))
        for name in ALIGNED
        for system in portrait.systems
        for one in system.named(name)
    ]  # fmt: skip
    return Table("Agreement with people, overall, by group and by dimension", columns, tuple(rows))


def _halves(system: System, one: Estimate) -> str:
    """What halves of the raters get on the cells of a tau."""
    half = system.find("human_split_half_tau", one.slice) if one.name == "tau" else None
    return "" if half is None else f"{_number(half.value, 3)} {_span(half, 3)}"


def _side_by_side(portrait: Portrait) -> Figure:
    """The paper's Figure 1: people and models on the same axes."""
    scores = {
        system.label: [score for score in system.run.scores or () if score.skipped is None]
        for system in portrait.systems
    }
    first = scores[portrait.systems[0].label]
    groups = list(dict.fromkeys(score.slices["group"] for score in first))
    dimensions = {score.slices["trait"]: score.slices["dimension"] for score in first}
    traits = sorted(
        dimensions,
        key=lambda trait: list(dict.fromkeys(dimensions.values())).index(dimensions[trait]),
    )
    largest = {
        label: max([abs(score.values["model"]) for score in some], default=1.0) or 1.0
        for label, some in scores.items()
    }
    pictures = []
    for group in groups:
        people = [_people_point(score, traits) for score in first if score.slices["group"] == group]
        models = [
            [_model_point(system, score, traits, largest[system.label]) for score in scores[system.label] if score.slices["group"] == group and score.slices["trait"] in traits]
            for system in portrait.systems
        ]  # fmt: skip
        told = f"What people and {numbers.listed([system.label for system in portrait.systems])} say of {group} on {len(traits)} traits. The table of agreement holds tau."
        pictures.append(
            Chart(group, told, charts.profile(_trait_rows(traits, dimensions), [people, *models]))
        )
    lead = (
        "People's mean ratings (squares, 0 to 100, with intervals over raters) and the model's scores (as a share of its largest) on the same axes, from the left pole to the right one.",
    )
    rows = [(text(score.slices["group"]), text(score.slices["trait"]), figure(_number(score.values["people"], 1)),
             figure(f"[{score.derived['low']:.1f},{numbers.NO_BREAK}{score.derived['high']:.1f}]"), Cell(system.label, system=system), figure(_number(score.values["model"], 3)))
            for system in portrait.systems for score in scores[system.label]]  # fmt: skip
    columns = (
        text("Group"),
        text("Trait"),
        figure("people, 0 to 100"),
        figure("interval"),
        text("System"),
        figure("score"),
    )
    table = Table("People's means and models' scores", columns, tuple(rows))
    return Figure(
        f"{portrait.id}-people",
        "People and models side by side",
        lead,
        tuple(pictures),
        (table,),
        chooser="Group",
        legend="people",
    )


def _people_point(score: Score, traits: Sequence[str]) -> Point:
    low, high, mean = ((score.derived[name] - 50) / 50 for name in ("low", "high", "people"))
    tip = f"people, {score.slices['group']}\n{score.slices['trait']}: {score.derived['people']:.1f} of 100 [{score.derived['low']:.1f}, {score.derived['high']:.1f}]"
    return Point(
        traits.index(score.slices["trait"]),
        mean,
        max(-1.05, low),
        min(1.05, high),
        "var(--ink)",
        charts.PEOPLE,
        tip,
        not low <= 0 <= high,
    )


def _model_point(system: System, score: Score, traits: Sequence[str], largest: float) -> Point:
    tip = f"{system.label}, {score.slices['group']}\n{score.slices['trait']}: {score.values['model']:.3f}"
    return Point(
        traits.index(score.slices["trait"]),
        score.values["model"] / largest,
        None,
        None,
        system.look.colour,
        system.look.shape,
        tip,
    )


# ---------------------------------------------------------------------------------------------- meetings


def _meeting(portrait: Portrait) -> Iterator[Figure]:
    for number, system in enumerate(portrait.systems):
        yield _domination(portrait, system, number)
        yield _emergent(portrait, system, number)


def _domination(portrait: Portrait, system: System, number: int) -> Figure:
    found = [one for one in system.named("dominance") if one.value is not None]
    domains = list(
        dict.fromkeys(
            name for one in found for name in (one.slice["domain"], one.slice["other_domain"])
        )
    )
    arrows = [
        _arrow(one)
        for one in found
        if one.verdict and "dominates" in one.verdict and not one.verdict.startswith("neither")
    ]
    order = "; ".join(
        f"{words} {_number(one.value)} {_span(one)}"
        for name, words in (("tau_first_part", "first part"), ("tau_second_part", "second part"), ("tau_closer_part", "closer part"), ("tau_reversed", "the other order"))
        if (one := system.find(name, {}))
    )  # fmt: skip
    lead = (
        f"{system.label}. Mean tau of a pair's profile with that of its {order}.",
        "An arrow leads from the domain whose part a pair resembles more, by 0.1 or more in tau, to the one it resembles less; dashed where the difference is within noise after Holm's correction, or where a domain has too few groups to say.",
    )
    said = "; ".join(arrow.tip for arrow in arrows) or "no domain dominates another"
    picture = Chart(
        system.label,
        f"Which domains dominate which for {system.label}: {said}.",
        charts.domination(domains, arrows),
    )
    columns = (
        text("Two domains"),
        *map(figure, ("difference of tau", "interval", "pairs")),
        text("verdict"),
        text("p, adjusted"),
    )
    rows = [
        (text(f"{one.slice['domain']}, {one.slice['other_domain']}"), figure(_number(one.value)), figure(_span(one)), figure(numbers.used(one)),
         text(one.verdict or ""), text("" if one.p_adjusted is None else numbers.p_value(one.p_adjusted)))
        for one in found
    ]  # fmt: skip
    table = Table("Dominance between domains", columns, tuple(rows))
    shown = (picture,) if len(domains) > 1 else ()
    return Figure(
        f"{portrait.id}-domination-{number}",
        f"Which domain dominates, {system.label}",
        lead,
        shown,
        (table,),
        legend="none",
    )


def _arrow(one: Estimate) -> Arrow:
    names = one.slice["domain"], one.slice["other_domain"]
    winner, loser = names if (one.value or 0) > 0 else names[::-1]
    return Arrow(
        winner,
        loser,
        one.verdict == f"{winner} dominates {loser}",
        f"{winner} over {loser} by {abs(one.value or 0):.2f}",
    )


def _emergent(portrait: Portrait, system: System, number: int) -> Figure:
    listed = [score for score in system.run.scores or () if score.skipped is None]
    columns = (
        text("Pair"),
        text("Adjective"),
        text("Side"),
        *map(figure, ("beyond both parts by", "the nearer part", "p", "adjusted")),
    )
    rows = [
        (text(score.slices["group"]), text(score.slices["adjective"]), text(score.slices["direction"]), figure(_number(score.values["effect"], 3)),
         figure(_number(score.derived["part"], 3)), figure(f"{score.derived['p']:.4f}"), figure(f"{score.derived['q']:.4f}"))
        for score in listed
    ]  # fmt: skip
    counts = [
        f"{one.value:.0f} of {one.n:,} {one.slice['direction']}"
        for one in system.named("emergent_cells")
        if one.value is not None
    ]
    lead = (
        f"Pairs whose score for an adjective is above the larger, or below the smaller, of its parts'. Beyond noise, with the false-discovery rate held at 0.05: {'; '.join(counts)}.",
    )
    table = Table(f"The largest of each side, {system.label}", columns, tuple(rows))
    return Figure(
        f"{portrait.id}-emergent-{number}",
        f"Traits that emerge, {system.label}",
        lead,
        (),
        (table,),
        legend="none",
    )
