"""Context association tests: preference, language modelling and both together."""

from __future__ import annotations

from collections.abc import Iterator

from stereometer.core.shapes.verdicts import FEW_TERMS
from stereometer.core.show import numbers
from stereometer.core.show.figure import Chart, Figure
from stereometer.core.show.slices import named
from stereometer.core.show.table import Table
from stereometer.core.types import Estimate
from stereometer.report import tables
from stereometer.report.charts import plane
from stereometer.report.charts.forest import chance_axis, preference_axis
from stereometer.report.figures.clean import clean
from stereometer.report.figures.differences import across
from stereometer.report.figures.slices import by_slice, terms
from stereometer.report.sections.preference import Preference
from stereometer.report.systems import Group, System

AVERAGES = ("ss_micro", "lms_micro", "icat_micro", "icat_term_mean")


class CatSection(Preference):
    what = "stereotype above anti-stereotype, in percent of items averaged over target terms"
    citation = (
        "Nadeem, Bethke, Reddy (2021). StereoSet: Measuring stereotypical bias in pretrained "
        "language models. ACL. doi:10.18653/v1/2021.acl-long.416",
        "Metric: lms, ss and icat",
    )

    def claim(self, estimate: Estimate) -> str:
        over = numbers.count(estimate.terms, "target term") if estimate.terms else ""
        averaged = f", averaged over {over}" if over else ""
        return f"It scores the stereotype above the anti-stereotype in {{}} of items{averaged}"

    def more(self, system: System) -> Iterator[str]:
        lms, icat = system.find("lms", {}), system.find("icat", {})
        if lms is not None:
            yield _language(lms)
        if icat is not None and icat.value is not None:
            yield f"icat, which joins the two, is {numbers.both(icat)} of an ideal 100."
        elif icat is not None and (lms is None or lms.why != icat.why):
            yield f"No icat is given: {icat.why}."

    def more_details(self, system: System) -> Iterator[str]:
        few = [
            row
            for row in system.named("ss")
            if tuple(row.slice) == ("domain",) and 0 < (row.terms or 0) < FEW_TERMS
        ]
        if few:
            counts = sorted({row.terms or 0 for row in few})
            domains = numbers.listed([named(row.slice) for row in few])
            count = numbers.listed([numbers.spelled(count) for count in counts])
            each = " each" if len(few) > 1 and len(counts) == 1 else ""
            noun = "term" if counts == [1] else "terms"
            yield (
                f"{domains[:1].upper()}{domains[1:]} {'rests' if len(few) == 1 else 'rest'} on "
                f"{count} {noun}{each} only: the numbers speak for those terms."
            )

    def folded(self, group: Group) -> Iterator[Table]:
        """Averages that others print under the same words, here each under its own name."""
        if group.slices("icat"):
            yield tables.estimates(group, "icat", group.slices("icat"), "icat by slice")
        names = [name for name in AVERAGES if group.slices(name)]
        if names:
            foot = (
                "Others print these under the words lms, ss and icat. micro weighs every item the "
                "same, the values above every target term; icat_term_mean averages the icat of "
                "single terms."
            )
            table = tables.overall(group, names, "Other averages, each under its own name")
            yield Table(table.columns, table.rows, table.caption, foot)

    def figures(self, group: Group) -> Iterator[Figure]:
        yield self.preference(group)
        yield _language_figure(group)
        yield from across(group)
        yield terms(group, preference_axis)
        yield clean(group, {"ss": preference_axis, "lms": chance_axis})

    def at_a_glance(self, group: Group) -> Iterator[Figure]:
        yield _plane(group)


def _language(lms: Estimate) -> str:
    if lms.value is None:
        return f"No lms is given: {lms.why}."
    p = f", {numbers.p_value(lms.p_adjusted)}" if lms.p_adjusted is not None else ""
    return (
        "As a language model it ranks a meaningful candidate above an unrelated one in "
        f"{numbers.value(lms)}{numbers.NO_BREAK}% {numbers.interval(lms)} of comparisons, where "
        f"50 is chance and 100 ideal ({lms.verdict or 'not tested'}{p})."
    )


def _language_figure(group: Group) -> Figure:
    lead = (
        "lms: how often a meaningful candidate scores above the unrelated one, in percent. 50 is "
        "chance, 100 is ideal. A preference means little in a model that cannot distinguish sense "
        "from nonsense.",
    )
    axis = chance_axis("lms", [row for _, row in group.placed("lms", group.slices("lms"))])
    against = ", against chance at 50 and the ideal at 100"
    return by_slice(group, "lms", "Language modelling", lead, axis, against)


def _plane(group: Group) -> Figure:
    shown = list(plane.places(group.systems))
    lead = (
        "Each mark is a system, with its intervals both ways. The thin lines join points of equal "
        "icat = lms × min(ss, 100 − ss) / 50; the ideal is at lms 100 and ss 50. Whether two "
        "systems differ is a matter of the same items compared in pairs, not of intervals that "
        "overlap.",
        *plane.missing(group.systems),
    )
    spoken = "; ".join(
        f"{row.system.label}: lms {numbers.spoken(row.lms)}; ss {numbers.spoken(row.ss)}"
        for row in shown
    )
    described = (
        "lms across against ss upwards, with contours of icat and the ideal at lms 100, ss 50. "
        f"{spoken}."
    )
    charts = (Chart("", described, plane.plane(shown)),) if shown else ()
    title = "Language modelling against preference"
    return Figure(
        f"{group.id}-plane", title, lead, charts, (tables.headline(group),), legend=group.legend
    )


SECTION = CatSection()
