"""What is said of a mitigation as sentences and tables, for the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterator

from stereometer.core.shapes.differences import Closeness
from stereometer.core.shapes.verdicts import NULL_VALUE
from stereometer.core.show.numbers import count, p_words, signed_interval, slice_name
from stereometer.core.show.table import Cell, Table, number, text
from stereometer.core.show.view import Piece, aside, line
from stereometer.wings.mitigation.verdicts.judged import (
    IMPROVED,
    ORDER,
    WORSE,
    Effect,
    ItemsPart,
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
    yield from (line(f"  - {claim}") for claim in claims(judged))
    yield effects(judged)
    yield line("\nThe same, by whether items have a word of the lists:")
    yield leaks(judged)
    yield from aside(LEGEND)


def headline(judged: Mitigated) -> str:
    return f"{judged.after}: {conclusion(judged)}"


def conclusion(judged: Mitigated) -> str:
    """The verdict, what moved, and what fell beyond noise with it."""
    parts = "; ".join((*map(_moved, judged.targeted), *_fallen(judged)))
    return f"{judged.verdict}: {parts}" if judged.verdict else "no verdict"


def _moved(effect: Effect) -> str:
    base = effect.from_base
    where = f" in {slice_name(effect.slice)}" if effect.slice else ""
    return f"{_called(effect)}{where} {base.first:.1f} to {base.second:.1f}"


def _fallen(judged: Mitigated) -> Iterator[str]:
    for name, kept in (("lms", judged.lms), ("facts", judged.definitional)):
        if kept is not None and kept.difference.high < 0:
            row = kept.difference
            yield f"{name} fell from {row.first:.1f} to {row.second:.1f}"


def about(judged: Mitigated) -> str:
    """What was done to what."""
    of = f" of {judged.attribute}" if judged.attribute else ""
    beside = f", control {judged.control}" if judged.control else ", no control"
    return f"{judged.method}{of} on {judged.before}{beside}"


def claims(judged: Mitigated) -> Iterator[str]:
    """What was measured, most important first."""
    yield from reached(judged)
    yield from cost(judged)


def reached(judged: Mitigated) -> Iterator[str]:
    """The effect that was aimed at, beside the control's."""
    for effect in judged.targeted:
        yield _targeted(effect)
        if effect.of_control and effect.from_control:
            yield _beside(effect.of_control, effect.from_control)


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


def _targeted(effect: Effect) -> str:
    base = effect.from_base
    first, second = (abs(value - NULL_VALUE) for value in (base.first, base.second))
    power = f"A change of {_called(effect)} by {_seen(effect)} could have been seen."
    if effect.detectable is None:
        power = "Nothing varies, so what could have been seen is not known."
    return (
        f"{_called(effect)} in {slice_name(effect.slice)} is {first:.1f} points from 50 before and "
        f"{second:.1f} after: {_change(base)}, {p_words(base.p)}. {power}"
    )


def _beside(control: Closeness, nearer: Closeness) -> str:
    return (
        f"The control is {abs(control.second - NULL_VALUE):.1f} points from 50. The mitigated "
        f"model's distance differs from that by {_change(nearer)}, {p_words(nearer.p)}."
    )


def _seen(effect: Effect) -> str:
    return "not known" if effect.detectable is None else f"{effect.detectable:.1f}"


def _lms(lms: KeptMetric, margin: float) -> str:
    row = lms.difference
    said = {
        "damaged": f"more than {margin:g} was lost",
        "damage not excluded": f"a loss of more than {margin:g} is not excluded",
        None: f"a loss of more than {margin:g} is excluded",
    }
    change = signed_interval(row.difference, lms.low, row.high)
    return f"lms on {lms.benchmark} went from {row.first:.1f} to {row.second:.1f} ({change}): " + (
        f"{said[lms.damage(margin)]}."
    )


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


def effects(judged: Mitigated) -> Table:
    """The targeted domain first, then side effects."""
    titles = ["n", "before", "after", "nearer (-)", "p", "could be seen"]
    titles += ["control", "nearer than control (-)"] if judged.control else []
    rows = [("targeted", effect) for effect in judged.targeted]
    rows += [("side effect", effect) for effect in judged.side_effects]
    columns = (text(""), text(""), text("metric"), *map(number, titles), text("says"))
    return Table(columns, tuple(_cells(role, effect, judged) for role, effect in rows))


def _cells(role: str, effect: Effect, judged: Mitigated) -> tuple[Cell, ...]:
    base, control = effect.from_base, effect.of_control
    values = [
        str(effect.n),
        f"{base.first:.1f}",
        f"{base.second:.1f}",
        _change(base),
        p_words(base.p),
        _seen(effect),
    ]
    if judged.control:
        values += [f"{control.second:.1f}" if control else "", _change(effect.from_control)]
    head = (text(role), text(slice_name(effect.slice)), text(_called(effect)))
    return (*head, *map(number, values), text(says(effect, judged.control is not None)))


def _called(effect: Effect) -> str:
    """As tables head it: `preference` for `pair_preference`."""
    return effect.name.rpartition("_")[2]


def says(effect: Effect, has_control: bool) -> str:
    """Of one slice, where damage is not in question."""
    verdict = effect.verdict(has_control)
    return {IMPROVED: "nearer to 50", WORSE: "farther from 50"}.get(verdict, verdict)


def leaks(judged: Mitigated) -> Table:
    """The effects on items that share a word with the lists, and on the others."""
    has_lms = any(part.lms for part in judged.parts)
    has_control = judged.control is not None
    titles = ["n", "before", "after", "nearer (-)", "could be seen"]
    titles += ["nearer than control (-)"] if has_control else []
    titles += ["change of lms"] if has_lms else []
    columns = (text("items"), text(""), *map(number, titles), text("says"))
    rows = (row for part in judged.parts for row in _part_rows(part, has_control, has_lms))
    return Table(columns, tuple(rows))


def _part_rows(part: ItemsPart, has_control: bool, has_lms: bool) -> Iterator[tuple[Cell, ...]]:
    for effect in part.effects:
        base = effect.from_base
        values = [str(effect.n), f"{base.first:.1f}", f"{base.second:.1f}", _change(base)]
        values += [_seen(effect), *([_change(effect.from_control)] if has_control else [])]
        values += [_lms_change(part, effect)] if has_lms else []
        head = (text(part.part), text(slice_name(effect.slice)))
        yield (*head, *map(number, values), text(says(effect, has_control)))
    for row in part.withheld:
        blanks = [""] * (4 + has_control + has_lms)
        head = (text(part.part), text(slice_name(row.slice)))
        yield (*head, *map(number, [str(row.n), *blanks]), text(f"not compared, {row.why}"))


def _lms_change(part: ItemsPart, effect: Effect) -> str:
    """Beside all items of a part, as the verdict takes it."""
    if part.lms is None or effect.slice:
        return ""
    row = part.lms.difference
    return signed_interval(row.difference, part.lms.low, row.high)
