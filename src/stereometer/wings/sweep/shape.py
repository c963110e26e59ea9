"""One set of items under many readings, as a kind of result: the specification curve."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import ClassVar

from stereometer.core.shapes.shape import Metric, NotCompared, Shape, metrics_beside
from stereometer.core.shapes.verdicts import NULL_VALUE, PREFERENCE
from stereometer.core.shapes.view import VERDICT, used_cell, verdict_cells
from stereometer.core.show import numbers
from stereometer.core.show.table import Table, number, text
from stereometer.core.show.view import View, aside
from stereometer.core.types import Estimate, Result, Score

READING, JOINT, SHARE = "preference", "median_preference", "significant_readings"
SHIFT, CHANGES = "choice_shift", "conclusions_changed"
DIFFERENCE, AGREEMENT = "preference_difference", "item_agreement"
OVER, SPREAD = "preference_over_wordings", "spread_over_wordings"
ANOTHER = "preference_in_another_wording"
TURNS = "Holm over choices"
ASKED = ("asking", "answer", "form", "thinking", "neutral")
"""What may be chosen of a question in words besides its wording."""
WORDING = "wording"
WORDED = ("asking", "answer", "neutral", WORDING)
"""What a reading says only beside those of other wordings."""
IN_WORDS = {
    ("thinking", "no"): "not thinking",
    ("thinking", "yes"): "thinking",
    ("neutral", "offered"): "neutral",
    ("neutral", "not offered"): "",
}
"""Where a choice in a list of others would not say what it is of."""
CHOICES = ("variant", "length", "hides", *ASKED, WORDING, "averaging", "items")
"""What readings of one question may differ in."""
QUESTION = ("task", "question")
"""What a curve is of."""
FOR, AGAINST, NEITHER = PREFERENCE.above, PREFERENCE.below, PREFERENCE.neither
CAUTION = (
    "Readings of one question are tested together, with the labels of whole target terms swapped "
    "and the same swaps for all; joint p is after Holm over the questions. Different questions are "
    "only described. p of a reading is corrected by the largest t of its question."
)


def conclusion(reading: Estimate) -> str:
    """What a reading says, whether by much or by little."""
    if not reading.beyond_noise or reading.value is None:
        return NEITHER
    return FOR if reading.value > NULL_VALUE else AGAINST


def said_together(joint: Estimate, beside: Sequence[Estimate]) -> str:
    """One sentence of all readings of a question."""
    readings = [row for row in beside if row.name == READING and row.value is not None]
    if len(readings) == 1:
        alone = f"{numbers.short(readings[0])}, {numbers.p_words(joint.p_adjusted)}"
        return f"the only reading with a score: {alone}"
    says = [conclusion(row).replace("prefers", "prefer", 1) for row in readings]
    side, other = (each.replace("prefers", "prefer", 1) for each in (FOR, AGAINST))
    if says.count(other) > says.count(side):
        side, other = other, side
    count = numbers.count(len(readings), "reading")
    opposed = f" and {says.count(other)} {other}" if other in says else ""
    p = f"joint {numbers.p_words(joint.p_adjusted)}"
    return f"{says.count(side)} of {count} {side}{opposed}, {p}, {_turns(beside)}"


def _turns(beside: Sequence[Estimate]) -> str:
    """On what moves values, where wordings were varied; else on what changes conclusions."""
    if any(row.name == OVER for row in beside):
        moved = ", ".join(words for _, words in moving(beside))
        return f"it turns on: {moved}" if moved else "it turns on nothing varied, beyond noise"
    # A choice that changes what is said while values hardly move may do so by fewer items.
    sure = {row.slice["choice"] for row in beside if row.name == SHIFT and row.beyond_noise}
    turns = (f"{name}{'' if name in sure else ' (shift within noise)'}" for name in turning(beside))
    said = ", ".join(turns)
    return f"it turns on: {said}" if said else "no choice changes what they say"


def moving(beside: Iterable[Estimate]) -> list[tuple[float, str]]:
    """The choices that move values beyond noise, those that move them further first: by how many
    points, and in words. Two wordings differ by the root of two times their spread."""
    found: list[tuple[float, str]] = []
    for row in beside:
        if row.correction != TURNS or not row.beyond_noise or row.value is None:
            continue
        if row.name == SPREAD:
            apart = sqrt(2) * row.value
            found.append((apart, f"{WORDING} (two of them {numbers.number(apart)} points apart)"))
        else:
            to = f"{numbers.signed(row.value)} points for {row.slice['to']}"
            found.append((abs(row.value), f"{row.slice['choice']} ({to})"))
    return sorted(found, reverse=True)


def turning(beside: Iterable[Estimate]) -> list[str]:
    """The choices on which what readings say hangs, those that change it oftener first."""
    changed: dict[str, list[float]] = {}
    for row in beside:
        if row.name == CHANGES:
            counts = changed.setdefault(row.slice["choice"], [0.0, 0.0])
            counts[0] += (row.value or 0.0) * row.n
            counts[1] += row.n
    shares = {name: part / whole for name, (part, whole) in changed.items()}
    return sorted((name for name, share in shares.items() if share), key=lambda name: -shares[name])


class SweepShape(NotCompared, Shape):
    """Readings of the same items."""

    not_compared = (
        "The runs are sweeps over readings. Two models are set against each other reading by "
        "reading. Sweep them together: stereometer sweep BENCHMARK -m ONE -m OTHER."
    )
    name = "sweep"
    noun = "item"
    of_runs = True
    fine: ClassVar[tuple[str, ...]] = ("measure", "choice", "other")
    places: ClassVar[Mapping[str, tuple[str, ...]]] = {SHIFT: ("choice",), CHANGES: ("choice",)}
    settings: ClassVar[Mapping[str, tuple[type, ...]]] = {"shape": (str,), "questions": (dict,)}
    metrics = metrics_beside(__file__, **{READING: PREFERENCE, OVER: PREFERENCE})

    def leading(self, result: object) -> Metric:
        return self.metric(JOINT)

    def is_whole(self, score: Score) -> bool:
        return bool(score.values) and set(score.values.values()) <= {-1.0, 0.0, 1.0}

    def view(self, results: Sequence[Result]) -> View:
        tables: list[Table] = []
        silent: list[str] = []
        for result in results:
            whose = f"{result.model}: " if len(results) > 1 else ""
            for joint, rows in curves(result):
                ways = ways_of(result, joint)
                foot = closing(joint, ways or rows)
                if joint.value is None:
                    silent += [f"{headed(joint)}: {line}" for line in foot.splitlines()]
                    continue
                caption = f"{whose}{headed(joint)}: {asks(result, joint)}"
                over = (result, joint, caption, foot)
                tables.append(_over_wordings(*over) if ways else _curve(caption, rows, foot))
            tables += _across(result)
        return View(parts=(*tables, *aside(*silent)))


def named(result: Result, name: str) -> list[Estimate]:
    return [row for row in result.estimates if row.name == name]


def headed(row: Estimate) -> str:
    """A curve by its part and its question; a part that is the whole shape is left out."""
    task, question = (row.slice[name] for name in QUESTION)
    return question if task == "pair" else f"{task}, {question}"


def curves(result: Result) -> Iterator[tuple[Estimate, list[Estimate]]]:
    """What each question's readings say together, and the readings, from low to high."""
    for joint in named(result, JOINT):
        yield joint, _ordered(result, joint, READING)


def ways_of(result: Result, joint: Estimate) -> list[Estimate]:
    """What each way of asking says over its wordings, from low to high, where they were varied."""
    return [row for row in _ordered(result, joint, OVER) if row.slice != joint.slice]


def within(result: Result, joint: Estimate, name: str) -> list[Estimate]:
    """What was estimated within a question."""
    return [row for row in named(result, name) if joint.slice.items() <= row.slice.items()]


def _ordered(result: Result, joint: Estimate, name: str) -> list[Estimate]:
    """From low to high."""
    rows = within(result, joint, name)
    return sorted(rows, key=lambda row: (row.value is None, row.value or 0.0))


def beside(result: Result, row: Estimate, name: str) -> Estimate | None:
    """Another estimate of what an estimate is of."""
    return next((each for each in named(result, name) if each.slice == row.slice), None)


def way(row: Estimate, names: Sequence[str] = ASKED) -> str:
    """A way of asking in words, as far as it was chosen."""
    chosen = {name: row.slice[name] for name in names if name in row.slice}
    return ", ".join(filter(None, (IN_WORDS.get(each, each[1]) for each in chosen.items())))


def asks(result: Result, joint: Estimate) -> str:
    """The question in words."""
    return str(result.settings["questions"].get(joint.slice["question"], ""))


def varied(rows: Sequence[Estimate]) -> list[str]:
    """The choices in which readings differ."""
    return [name for name in CHOICES if len({row.slice.get(name, "") for row in rows}) > 1]


def closing(joint: Estimate, rows: Sequence[Estimate]) -> str:
    """What the readings say together, and which have no score for which reason."""
    absent: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.value is None:
            absent.setdefault(row.why or "", {})[row.slice.get("measure") or way(row)] = None
    missing = (f"no score of {'; '.join(of)}: {why}" for why, of in absent.items())
    said = [joint.verdict or joint.why or "", *missing]
    return "\n".join(f"{each[:1].upper()}{each[1:]}." for each in said)


def _curve(caption: str, every: Sequence[Estimate], foot: str) -> Table:
    """The specification curve on a terminal: a row per reading, with its choices beside it."""
    rows = [row for row in every if row.value is not None]
    chosen = varied(rows)
    heads = [text(name) for name in ("measure", *chosen)]
    tied = any(row.ties for row in rows)
    columns = [*heads, number("n / asked", spare=3), number("preference (ideal 50)")]
    columns += [number("ties", spare=4)] if tied else []
    body = []
    for row in rows:
        head = (text(row.slice.get(name, "")) for name in ("measure", *chosen))
        value = used_cell(row), number(numbers.with_interval(row))
        ties = [number(*numbers.ties(row))] if tied else []
        body.append((*head, *value, *ties, *verdict_cells(row)))
    return Table((*columns, *VERDICT), tuple(body), caption, foot)


def _over_wordings(result: Result, joint: Estimate, caption: str, foot: str) -> Table:
    """On a terminal: a row per way of asking, over its wordings, and one for all of them."""
    rows = [row for row in ways_of(result, joint) if row.value is not None]
    body = []
    for row in (*rows, *([whole] if (whole := beside(result, joint, OVER)) else [])):
        spread, another = beside(result, row, SPREAD), beside(result, row, ANOTHER)
        value = numbers.with_interval(row), numbers.interval(another) if another else ""
        cells = map(number, (*value, numbers.with_interval(spread) if spread else ""))
        body.append((text(way(row) or "all ways"), used_cell(row), *cells, *verdict_cells(row)))
    titles = [number("wordings", spare=3), number("over wordings (ideal 50)", spare=-2)]
    titles += [number("one more wording", spare=4), number("spread", spare=-1)]
    return Table((text("way of asking"), *titles, *VERDICT), tuple(body), caption, foot)


def _across(result: Result) -> Iterator[Table]:
    """Different questions about the same items, described."""
    agreement = {tuple(row.slice.items()): row for row in named(result, AGREEMENT)}
    rows = []
    for row in named(result, DIFFERENCE):
        moved = row.why or "none"
        if row.value is not None:
            moved = numbers.signed_interval(row.value, row.low, row.high)
        agree = numbers.with_interval(agreement[tuple(row.slice.items())])
        cells = map(number, (f"{row.n} / {row.asked}", moved, agree))
        rows.append((text(headed(row)), text(row.slice["other"]), *cells))
    titles = map(number, ("n / asked", "difference", "agree, %"))
    caption = "Across questions, the first way of asking of each (described, not tested)"
    if rows:
        yield Table((text("question"), text("other"), *titles), tuple(rows), caption)


SHAPE = SweepShape()
