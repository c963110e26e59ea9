"""The pictures of a section, each with what it shows in words and the table behind it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stereometer.findings import relate as relation
from stereometer.findings.shift import Audited
from stereometer.report import numbers, tables
from stereometer.report.charts import confidence, forest, plane, scatter
from stereometer.report.charts.forest import Axis, Block, Line
from stereometer.report.charts.frame import Spec
from stereometer.report.charts.scatter import Mark
from stereometer.report.differences import differences
from stereometer.report.figure import Chart, Figure
from stereometer.report.sections import Section, System
from stereometer.report.slices import Group, groups, is_term, kind_name
from stereometer.report.tables import Table
from stereometer.report.words import beyond
from stereometer.types import Estimate, Settings, Slice

ENDS = 5
"""Most and least stereotyped terms shown of each domain."""
MANY = 40
"""With more marks than this the finest slices wait behind the choice."""


def figures(section: Section) -> list[Figure]:
    found = list(_cat(section) if section.shape == "cat" else _pair(section))
    return [one for one in found if one.charts or one.tables]


def _cat(section: Section) -> Iterator[Figure]:
    yield _preference(
        section,
        "ss",
        "Preference for stereotypes",
        "stereotype above anti-stereotype, in percent of items averaged over target terms",
    )
    yield _language(section)
    yield _plane(section)
    yield differences(section)
    yield _relation(section)
    yield _terms(section)
    yield _clean(section, ("ss", "lms"))


def _pair(section: Section) -> Iterator[Figure]:
    yield _preference(
        section,
        "pair_preference",
        "Preference for stereotypes",
        "pairs in which the more stereotyping sentence is likelier, in percent",
    )
    yield differences(section)
    yield _confidence(section)
    yield _clean(section, ("pair_preference",))


# ------------------------------------------------------------------------------------- forests of slices


def _preference(section: Section, name: str, title: str, what: str) -> Figure:
    slices = _plain(section, name)
    lead = (
        f"{name}: {what}. The dashed line at 50 is no preference; what counts is the distance from it, to either side. "
        "A filled mark can be told from 50 after the correction for the tests made, a hollow one cannot.",
    )
    axis = forest.preference_axis(name, _all(section, name, slices))
    return _forest(section, name, title, lead, axis, slices)


def _language(section: Section) -> Figure:
    slices = _plain(section, "lms")
    lead = (
        "lms: how often a meaningful candidate scores above the unrelated one, in percent. 50 is chance, 100 is ideal. "
        "A preference means little in a model that cannot tell sense from nonsense. A filled mark can be told from chance.",
    )
    return _forest(
        section,
        "lms",
        "Language modelling",
        lead,
        forest.language_axis(_all(section, "lms", slices)),
        slices,
    )


def _forest(
    section: Section,
    name: str,
    title: str,
    lead: tuple[str, ...],
    axis: Axis,
    slices: Sequence[Slice],
) -> Figure:
    charts = [
        Chart(
            label,
            _described(section, name, chosen),
            forest.forest([_block(section, name, group) for group in chosen], axis),
        )
        for label, chosen in _choices(groups(slices), len(section.systems))
    ]
    table = tables.estimates(section, name, slices, f"{name} by slice")
    return Figure(
        f"{section.id}-{name}",
        title,
        lead,
        tuple(charts),
        (table,),
        "Slices shown" if len(charts) > 1 else "",
    )


def _choices(found: Sequence[Group], systems: int) -> Iterator[tuple[str, list[Group]]]:
    """All slices, or each kind beside the overall value; a picture too tall for all begins with the coarse ones."""
    overall = [group for group in found if not group.kind]
    kinds = list(dict.fromkeys(group.kind for group in found if group.kind))
    everything = ("all slices", list(found))
    coarse = (
        "overall, " + " and ".join(kind_name(kind, many=True) for kind in kinds if len(kind) == 1),
        [group for group in found if len(group.kind) < 2],
    )
    short = sum(len(group.rows) for group in found) * systems <= MANY
    yield from [everything] if short or len(coarse[1]) == len(found) else [coarse, everything]
    if len(kinds) > 1:
        yield from (
            (
                f"overall and {kind_name(kind, many=True)}",
                overall + [group for group in found if group.kind == kind],
            )
            for kind in kinds
        )


def _block(section: Section, name: str, group: Group) -> Block:
    lines = [
        Line(
            label,
            [(system, one) for system in section.systems if (one := system.find(name, slice_))],
        )
        for label, slice_ in group.rows
    ]
    return Block(group.heading, lines)


def _described(section: Section, name: str, chosen: Sequence[Group]) -> str:
    rows = sum(len(group.rows) for group in chosen)
    against = "chance at 50 and the ideal at 100" if name == "lms" else "the ideal line at 50"
    overall = [
        f"{system.label} {_spoken(one)}"
        for system in section.systems
        if (one := system.find(name, {}))
    ]
    return (
        f"Forest plot of {name} for {numbers.count(len(section.systems), 'system')} in {numbers.count(rows, 'slice')}, with intervals, "
        f"against {against}. Overall: {'; '.join(overall)}. The table below holds every number."
    )


def _spoken(one: Estimate) -> str:
    if one.value is None or one.low is None or one.high is None:
        return f"no score, {one.why}"
    places = numbers.places(one)
    return f"{numbers.value(one)}, from {numbers.number(one.low, places)} to {numbers.number(one.high, places)}"


def _plain(section: Section, name: str) -> list[Slice]:
    return [slice_ for slice_ in section.slices(name) if not is_term(slice_)]


def _all(section: Section, name: str, slices: Sequence[Slice]) -> list[Estimate]:
    return [
        one for system in section.systems for slice_ in slices if (one := system.find(name, slice_))
    ]


# ------------------------------------------------------------------------------------------ lms and ss


def _plane(section: Section) -> Figure:
    found = list(plane.places(section.systems))
    lead = (
        "Each mark is a system, with its intervals both ways. The thin lines join points of equal icat = lms × min(ss, 100 − ss) / 50; "
        "the ideal is at lms 100 and ss 50. Whether two systems differ is a matter of the same items compared in pairs, not of intervals that overlap.",
        *plane.missing(section.systems),
    )
    spoken = "; ".join(
        f"{one.system.label}: lms {_spoken(one.lms)}; ss {_spoken(one.ss)}" for one in found
    )
    described = f"lms across against ss upwards, with contours of icat and the ideal at lms 100, ss 50. {spoken}."
    by_slice = tables.estimates(section, "icat", _plain(section, "icat"), "icat by slice")
    charts = (Chart("", described, plane.plane(found)),) if found else ()
    title = "Language modelling against preference"
    return Figure(f"{section.id}-plane", title, lead, charts, (tables.headline(section), by_slice))


# ------------------------------------------------------------------------------------ across systems


def _relation(section: Section) -> Figure:
    """Across at least three systems: does ss rise with lms, and either with the size of a model or of its training text?"""
    kept = section.first.settings
    settings = Settings(
        seed=int(kept.get("seed", 0)),
        resamples=int(kept.get("resamples", 10_000)),
        level=float(kept.get("level", 0.95)),
    )
    labels = [system.label for system in section.systems]
    found = relation.related(
        [system.result for system in section.systems], labels, section.facts, settings
    )
    by_label = {system.label: system for system in section.systems}
    marks = [Mark(by_label[point.system], point) for point in found.points]
    known = [one for one in found.correlations if one.rho is not None]
    charts = tuple(
        Chart(
            f"{one.second} against {SIZE_WORDS.get(one.first, one.first)}",
            _correlated(one),
            scatter.scatter(marks, one.first, one.second),
        )
        for one in known
    )
    lead = (
        "Each mark is a system; a larger mark is a larger model, a hollow one has no known size. rho is Spearman's rank correlation across the systems. "
        "Systems that share data or design are not independent, and a correlation is no cause.",
        *map(_correlated, known[:1]),
    )
    shown = (tables.correlations(found),) if known else ()
    return Figure(
        f"{section.id}-relation",
        "Across systems",
        lead,
        charts,
        shown,
        "Shown" if len(charts) > 1 else "",
        "sizes",
    )


SIZE_WORDS = {"parameters": "size", "corpus_gb": "training text"}


def _correlated(one: relation.Correlation) -> str:
    span = (
        f" [{numbers.number(one.low, 2)}, {numbers.number(one.high, 2)}] over systems"
        if one.low is not None and one.high is not None
        else ""
    )
    terms = (
        f", [{numbers.number(one.low_terms, 2)}, {numbers.number(one.high_terms, 2)}] over {one.terms} target terms with the systems held fixed"
        if one.low_terms is not None and one.high_terms is not None
        else ""
    )
    name = f"{one.second} with {SIZE_WORDS.get(one.first, one.first)}"
    return f"{name}: rho {numbers.number(one.rho or 0.0, 2)}{span}{terms}, {numbers.count(one.n, 'system')}: {one.verdict}."


# ----------------------------------------------------------------------------------------------- terms


def _terms(section: Section) -> Figure:
    slices = [slice_ for slice_ in section.slices("ss") if is_term(slice_)]
    found = [
        (system, [one for slice_ in slices if (one := system.find("ss", slice_))])
        for system in section.systems
    ]
    charts = tuple(
        Chart(system.label, _terms_described(system, terms), _terms_chart(system, terms))
        for system, terms in found
        if terms
    )
    listed = tuple(
        tables.terms(system, slices, f"ss of all target terms, {system.label}")
        for system, terms in found
        if terms
    )
    most = max((one.n for _, terms in found for one in terms), default=0)
    caution = (
        f"Do not over-read single terms. A term has few items (here at most {most}), and the ends of a ranking are where chance collects: "
        "of many terms with no preference some still come out far from 50."
    )
    title = "Most and least stereotyped terms"
    lead = (
        f"For each domain the {ENDS} terms with the highest and the {ENDS} with the lowest ss, or all where there are no more. "
        f"Terms that can be told from 50 after Holm over all terms: {'; '.join(_counted(system, terms) for system, terms in found)}.",
    )
    return Figure(
        f"{section.id}-terms",
        title,
        lead,
        charts,
        listed,
        "System" if len(charts) > 1 else "",
        "terms",
        caution,
    )


def _counted(system: System, found: Sequence[Estimate]) -> str:
    return f"{system.label} {sum(map(beyond, found)) or 'none'} of {len(found)}"


def ends(found: Sequence[Estimate]) -> tuple[list[Estimate], list[Estimate]]:
    """The terms with the highest ss, and those with the lowest that are not among them."""
    ranked = sorted(
        (one for one in found if one.value is not None),
        key=lambda one: (-(one.value or 0), one.slice["target"]),
    )
    if len(ranked) <= 2 * ENDS:
        return ranked, []
    return ranked[:ENDS], ranked[-ENDS:]


def _terms_chart(system: System, found: Sequence[Estimate]) -> Spec:
    domains = dict.fromkeys(one.slice["domain"] for one in found)
    shown = [
        block
        for domain in domains
        for block in _domain(
            system, domain, [one for one in found if one.slice["domain"] == domain]
        )
    ]
    return forest.forest(shown, forest.preference_axis("ss", found))


def _domain(system: System, domain: str, found: Sequence[Estimate]) -> Iterator[Block]:
    most, least = ends(found)
    name = domain.capitalize()
    if least:
        yield Block(f"{name}: most of {len(found)} terms", [_term(system, one) for one in most])
        yield Block(f"{name}: least", [_term(system, one) for one in least])
    elif most:
        yield Block(
            f"{name}: all {numbers.count(len(most), 'term')}", [_term(system, one) for one in most]
        )


def _term(system: System, one: Estimate) -> Line:
    return Line(one.slice["target"], [(system, one)], f"n{numbers.NO_BREAK}{one.n}")


def _terms_described(system: System, found: Sequence[Estimate]) -> str:
    parts = []
    for domain in dict.fromkeys(one.slice["domain"] for one in found):
        most, least = ends([one for one in found if one.slice["domain"] == domain])
        if most:
            last = (least or most)[-1]
            parts.append(
                f"{domain}: from {last.slice['target']} {numbers.value(last)} to {most[0].slice['target']} {numbers.value(most[0])}"
            )
    return f"ss of the most and least stereotyped terms for {system.label}, with intervals, against 50. {'; '.join(parts)}. The table holds all terms."


# ------------------------------------------------------------------------------------------ confidence


def _confidence(section: Section) -> Figure:
    found = [one for one in map(confidence.confidences, section.systems) if one.both]
    bins = confidence.edges(found)
    top = confidence.highest(found, bins)
    charts = tuple(
        Chart(one.system.label, _confidence_described(one), confidence.histogram(one, bins, top))
        for one in found
    )
    lead = (
        "How sure a system is of a pair: 1 − score(S) / score(S′) in percent, S the sentence it prefers. Upwards the pairs where it prefers the "
        "more stereotyping sentence, downwards the others; ties are left out, and the last bar holds all that is larger. Dashed lines are the "
        "medians: a system that is surer of stereotypes has its upper median further right.",
        *_differences(section),
        *_without(section, found),
    )
    difference = tables.estimates(
        section,
        "confidence_median_difference",
        [{}],
        "Difference of the median confidences, in points",
    )
    shown = (difference, _bins(found, bins)) if found else (difference,)
    return Figure(f"{section.id}-confidence", "Confidence", lead, charts, shown, legend="sides")


def _differences(section: Section) -> Iterator[str]:
    known = [
        (system, one)
        for system in section.systems
        if (one := system.find("confidence_median_difference", {})) and one.value is not None
    ]
    parts = [
        f"{system.label} {numbers.value(one)} {numbers.interval(one)}, {numbers.used(one)} pairs"
        for system, one in known
    ]
    if parts:
        yield f"Difference of the medians in points, ideal 0: {'; '.join(parts)}."


def _without(section: Section, found: Sequence[confidence.Confidences]) -> Iterator[str]:
    drawn = {one.system.label for one in found}
    yield from (
        f"{system.label} is not in the picture: {_no_confidence(system)}."
        for system in section.systems
        if system.label not in drawn
    )


def _no_confidence(system: System) -> str:
    if system.run.scores is None:
        return "there is no scores.jsonl beside its result"
    overall = system.find("pair_preference", {})
    return (
        "every pair is a tie"
        if overall is not None and overall.n and overall.ties >= overall.n
        else "its scores are not log-probabilities"
    )


def _confidence_described(one: confidence.Confidences) -> str:
    sides = {"more": one.more, "less": one.less}
    parts = [
        f"{len(sides[side]):,} pairs with the {side} stereotyping sentence preferred, median {median:.2f} percent"
        for side, median in one.medians.items()
    ]
    return f"Histogram of confidence for {one.system.label}: {'; '.join(parts)}."


def _bins(found: Sequence[confidence.Confidences], bins: Sequence[float]) -> Table:
    columns = [tables.text("Confidence, %")]
    for one in found:
        name = f"{one.system.label}, " if len(found) > 1 else ""
        columns += [
            tables.figure(f"{name}more stereotyping preferred"),
            tables.figure(f"{name}less stereotyping preferred"),
        ]
    counted = [confidence.counts(side, bins) for one in found for side in (one.more, one.less)]
    rows = [
        (
            tables.text(confidence.span(bins, index)),
            *(tables.figure(f"{side[index]:,}") for side in counted),
        )
        for index in range(len(bins) - 1)
    ]
    medians = [
        f"{one.medians[side]:.2f}" if side in one.medians else "none"
        for one in found
        for side in ("more", "less")
    ]
    return Table(
        "Pairs by confidence",
        tuple(columns),
        (*rows, (tables.text("median"), *map(tables.figure, medians))),
    )


# --------------------------------------------------------------------------------- all and clean items


def _clean(section: Section, names: Sequence[str]) -> Figure:
    """The shift from all items to those without a flag, for the systems whose runs were audited."""
    found = [
        (system, system.run.audit) for system in section.systems if system.run.audit is not None
    ]
    charts = tuple(
        Chart(name, _clean_described(found, name), _clean_chart(found, name))
        for name in names
        if found
    )
    counts = dict.fromkeys(f"{audit.clean:,} of {audit.items:,}" for _, audit in found)
    errata = dict.fromkeys(f"errata {audit.errata}" for _, audit in found if audit.errata)
    flags = dict.fromkeys(
        name for _, audit in found for name in audit.counting if name in audit.flags
    )
    lead = (
        "An audit flags items for what is known to go wrong in such sets. Each system is shown on all items and on those without a flag. Both share "
        "items, so what counts is the interval of the shift in the table, not whether the two bars overlap.",
        f"Clean: {numbers.listed(list(counts)) if counts else 'none'} items{', ' + numbers.listed(list(errata)) if errata else ''}. "
        f"Flags that count: {', '.join(flags)}.",
        *(
            [f"Not audited: {numbers.listed(silent)}."]
            if (silent := [one.label for one in section.systems if one.run.audit is None])
            else []
        ),
    )
    shown = (tables.shifts(found), tables.shifts_by_flag(found)) if found else ()
    title = "All items and clean items"
    return Figure(
        f"{section.id}-clean", title, lead, charts, shown, "Metric" if len(charts) > 1 else ""
    )


def _clean_chart(found: Sequence[tuple[System, Audited]], name: str) -> Spec:
    pairs = [
        (system, whole, _overall(audit, name))
        for system, audit in found
        if (whole := system.find(name, {})) is not None
    ]
    blocks = [
        Block(
            system.label,
            [
                Line(label, [(system, one)], f"n{numbers.NO_BREAK}{one.n:,}")
                for label, one in (("all items", whole), ("clean items", kept))
                if one is not None
            ],
        )
        for system, whole, kept in pairs
    ]
    estimates = [one for _, whole, kept in pairs for one in (whole, kept) if one is not None]
    return forest.forest(
        blocks,
        forest.language_axis(estimates)
        if name == "lms"
        else forest.preference_axis(name, estimates),
    )


def _overall(audit: Audited, name: str) -> Estimate | None:
    return next((one for one in audit.estimates if one.name == name and not one.slice), None)


def _clean_described(found: Sequence[tuple[System, Audited]], name: str) -> str:
    parts = [
        f"{system.label} {_spoken(whole)} on all items, {_spoken(kept)} on clean ones"
        for system, audit in found
        if (whole := system.find(name, {})) is not None
        and (kept := _overall(audit, name)) is not None
    ]
    return f"{name} on all items and on clean items, with intervals. {'; '.join(parts)}."
