"""What is said of a mitigation as sentences and tables, for the terminal and the page."""

from collections.abc import Callable, Iterator, Mapping

from stereometer.core.shapes.differences import Closeness
from stereometer.core.shapes.verdicts import NULL_VALUE
from stereometer.core.show.numbers import count, p_words, signed_interval, slice_name
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.show.view import Piece, aside, line
from stereometer.wings.mitigation.verdicts.judged import (
    DAMAGED,
    IMPROVED,
    NOT_EXCLUDED,
    ORDER,
    WORSE,
    Effect,
    KeptMetric,
    Mitigated,
)

LEGEND = (
    f"Verdicts, the first that holds in any targeted domain: {', '.join(ORDER)}. Nearer (-): the "
    "distance from 50 after, minus the distance before; going past 50 is no gain."
)


def pieces(judged: Mitigated) -> Iterator[Piece]:
    """The verdict and what it rests on, before everything that differs."""
    yield line(f" · {about(judged)}", bold=f"\n{headline(judged)}")
    yield from (line(f"  - {claim}") for claim in (*reached(judged), *cost(judged)))
    yield effects(judged)
    yield line("\nThe same, by whether items have a word of the lists:")
    yield leaks(judged)
    yield from aside(LEGEND)


def headline(judged: Mitigated) -> str:
    """The verdict, what moved, and what fell beyond noise with it."""
    parts = []
    for effect in judged.targeted:
        where = f" in {slice_name(effect.slice)}" if effect.slice else ""
        ends = f"{effect.from_base.first:.1f} to {effect.from_base.second:.1f}"
        parts.append(f"{_metric(effect)}{where} {ends}")
    for name, kept in (("lms", judged.lms), ("facts", judged.definitional)):
        if kept is not None and kept.difference.high < 0:
            row = kept.difference
            parts.append(f"{name} fell from {row.first:.1f} to {row.second:.1f}")
    said = f"{judged.verdict}: {'; '.join(parts)}" if judged.verdict else "no verdict"
    return f"{judged.after}: {said}"


def about(judged: Mitigated) -> str:
    """What was done to what."""
    of = f" of {judged.attribute}" if judged.attribute else ""
    beside = f", control {judged.control}" if judged.control else ", no control"
    return f"{judged.method}{of} on {judged.before}{beside}"


def reached(judged: Mitigated) -> Iterator[str]:
    """The effect that was aimed at, beside the control's."""
    for effect in judged.targeted:
        yield _target_sentence(effect)
        if (control := effect.of_control) and (nearer := effect.from_control):
            yield (
                f"The control is {abs(control.second - NULL_VALUE):.1f} points from 50. The "
                f"mitigated model's distance differs from that by {_change(nearer)}, "
                f"{p_words(nearer.p)}."
            )


def cost(judged: Mitigated) -> Iterator[str]:
    """What it took, and what is left."""
    if judged.lms is not None:
        yield _lms(judged.lms, judged.margin)
    if judged.perplexity is not None:
        ratio, name = judged.perplexity.ratio, judged.perplexity.name.capitalize()
        yield (
            f"{name} is {ratio.value:.3f} times as high as before [{ratio.low:.3f}, "
            f"{ratio.high:.3f}], over the passages of {count(ratio.n, 'sentence')}."
        )
    if judged.definitional is not None:
        yield _definitional(judged.definitional, judged.attribute)
    yield from _decodable(judged)
    yield from judged.notes


def _target_sentence(effect: Effect) -> str:
    base = effect.from_base
    first, second = (abs(value - NULL_VALUE) for value in (base.first, base.second))
    power = f"A change of {_metric(effect)} by {_detectable(effect)} could have been seen."
    if effect.detectable is None:
        power = "Nothing varies, so what could have been seen is not known."
    return (
        f"{_metric(effect)} in {slice_name(effect.slice)} is {first:.1f} points from 50 before and "
        f"{second:.1f} after: {_change(base)}, {p_words(base.p)}. {power}"
    )


def _detectable(effect: Effect) -> str:
    return "not known" if effect.detectable is None else f"{effect.detectable:.1f}"


def _lms(lms: KeptMetric, margin: float) -> str:
    row = lms.difference
    said = {
        DAMAGED: f"more than {margin:g} was lost",
        NOT_EXCLUDED: f"a loss of more than {margin:g} is not excluded",
        None: f"a loss of more than {margin:g} is excluded",
    }
    went = f"lms on {lms.benchmark} went from {row.first:.1f} to {row.second:.1f}"
    return f"{went} ({_lms_change(lms)}): {said[lms.damage(margin)]}."


def _lms_change(lms: KeptMetric) -> str:
    return signed_interval(lms.difference.difference, lms.low, lms.difference.high)


def _definitional(kept: KeptMetric, attribute: str) -> str:
    row = kept.difference
    change = signed_interval(row.difference, row.low, row.high)
    lost = "facts were lost" if row.high < 0 else "no loss is shown"
    return (
        f"Where {attribute or 'the attribute'} is a fact, agreement went from {row.first:.1f} to "
        f"{row.second:.1f} ({change}) on {count(row.n, 'sentence')}: {lost}."
    )


def _decodable(judged: Mitigated) -> Iterator[str]:
    """What a linear probe still reads, at the last layer and earlier."""
    if probe := judged.probe:
        yield (
            f"A linear probe reads the attribute from {probe.before.value:.1f} % of held-out "
            f"sentences before, {probe.after.value:.1f} % after "
            f"[{probe.after.low:.1f}, {probe.after.high:.1f}]; chance is {probe.chance:.1f} %."
        )
    if (earlier := judged.earlier) and earlier.after.low > earlier.chance:
        yield (
            f"The attribute is still decodable at layer {earlier.layer}: "
            f"{earlier.after.value:.1f} % [{earlier.after.low:.1f}, {earlier.after.high:.1f}]."
        )


def _change(closeness: Closeness | None) -> str:
    if closeness is None:
        return ""
    return signed_interval(closeness.change, closeness.low, closeness.high)


COLUMNS: Mapping[str, Callable[[Effect], str]] = {
    "n": lambda effect: str(effect.n),
    "before": lambda effect: f"{effect.from_base.first:.1f}",
    "after": lambda effect: f"{effect.from_base.second:.1f}",
    "nearer (-)": lambda effect: _change(effect.from_base),
    "p": lambda effect: p_words(effect.from_base.p),
    "could be seen": lambda effect: _detectable(effect),
    "control": lambda effect: f"{effect.of_control.second:.1f}" if effect.of_control else "",
    "nearer than control (-)": lambda effect: _change(effect.from_control),
}
"""Titles, and what stands there of an effect."""
OF_CONTROL = ("control", "nearer than control (-)")


def effects(judged: Mitigated) -> Table:
    """The targeted domain first, then side effects."""
    titles = [title for title in COLUMNS if judged.control or title not in OF_CONTROL]
    rows = [("targeted", effect) for effect in judged.targeted]
    rows += [("side effect", effect) for effect in judged.side_effects]
    columns = (text(""), text(""), text("metric"), *map(number, titles), text("says"))
    cells = []
    for role, effect in rows:
        head = map(text, (role, slice_name(effect.slice), _metric(effect)))
        values = (number(COLUMNS[title](effect)) for title in titles)
        cells.append((*head, *values, text(says(effect, judged.control is not None))))
    return Table(columns, tuple(cells))


def _metric(effect: Effect) -> str:
    """As tables head it: `preference` for `pair_preference`."""
    return effect.name.rpartition("_")[2]


def says(effect: Effect, has_control: bool) -> str:
    """Of one slice, where damage is not in question."""
    verdict = effect.verdict(has_control)
    return {IMPROVED: "nearer to 50", WORSE: "farther from 50"}.get(verdict, verdict)


def leaks(judged: Mitigated) -> Table:
    """The effects on items that share a word with the lists, and on the others."""
    left_out = ("p", "control") if judged.control else ("p", *OF_CONTROL)
    titles = [title for title in COLUMNS if title not in left_out]
    lms = ["change of lms"] if any(part.lms for part in judged.parts) else []
    columns = (text("items"), text(""), *map(number, (*titles, *lms)), text("says"))
    rows: list[tuple[Cell, ...]] = []
    for part in judged.parts:
        for effect in part.effects:
            values = [COLUMNS[title](effect) for title in titles]
            if lms:  # beside all items of a part, as the verdict takes it
                values.append(_lms_change(part.lms) if part.lms and not effect.slice else "")
            head = (text(part.part), text(slice_name(effect.slice)))
            says_ = says(effect, judged.control is not None)
            rows.append((*head, *map(number, values), text(says_)))
        for row in part.withheld:
            values = [str(row.n), *[""] * (len(titles) + len(lms) - 1)]
            head = (text(part.part), text(slice_name(row.slice)))
            rows.append((*head, *map(number, values), text(f"not compared, {row.why}")))
    return Table(columns, tuple(rows))
