"""`model-card`: Markdown to paste into a model card, with one table and one picture."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from shlex import join

from stereometer.core import catalog
from stereometer.core.files import replacing
from stereometer.core.runs.store import folder_name
from stereometer.core.runs.stored import Run
from stereometer.core.show import numbers
from stereometer.core.show.figure import FILLS, fill_of
from stereometer.core.show.slices import named
from stereometer.core.types import Estimate, Method, Result
from stereometer.report.method import GENERAL, SCORINGS
from stereometer.report.page import environment
from stereometer.wings.exports.markdown import code, one_line, plain, row
from stereometer.wings.exports.metadata import headlines, measured, sample

COLUMNS = ("Benchmark", "Measure", "Metric", "Ideal")
HEAD = (*COLUMNS, "Value, with its interval", "Items used", "Verdict")
ASKED = ("computed", "constructed")
"""Scores that the commands `run` and `ask` make."""
FENCE = "```"
MOST_ROWS = 24
"""Of the picture: more would not be read on a page."""


def write(runs: Sequence[Run], folder: Path) -> list[Path]:
    models: dict[str, list[Result]] = {}
    for run in runs:
        models.setdefault(run.result.model, []).append(run.result)
    return [path for model, own in models.items() for path in _of_model(model, own, folder)]


def _of_model(model: str, results: Sequence[Result], folder: Path) -> Iterator[Path]:
    stem = folder_name(model, "stereotypes")
    drawn, page = folder / f"{stem}.svg", folder / f"{stem}.md"
    with replacing(drawn) as file:
        file.write(_draw(results))
    yield drawn
    with replacing(page) as file:
        file.writelines(f"{text}\n" for text in _lines(results, drawn.name))
    yield page


def _draw(results: Sequence[Result]) -> str:
    """The leading metric of the first benchmark; of others overall, if their ideal is the same."""
    first, *others = results
    leading = catalog.shape(first.kind).leading(first)
    rows = [
        (named(estimate.slice) if estimate.slice else f"{first.benchmark}, overall", estimate)
        for estimate in first.estimates
        if estimate.name == leading.name
        and len(estimate.slice) < 2
        and catalog.shape(first.kind).headline_slice(estimate.slice)
    ]
    for other in others:
        metric = catalog.shape(other.kind).leading(other)
        same = metric.ideal == leading.ideal
        rows += [
            (f"{other.benchmark}, {other.measured_by.unversioned}", estimate)
            for estimate in headlines(other)
            if same and estimate.name == metric.name
        ]
    title = f"{leading.label} by {first.measured_by.unversioned}: {first.model}, {sample(first)}"
    return picture(title, rows[:MOST_ROWS])


def _lines(results: Sequence[Result], picture_name: str) -> Iterator[str]:
    levels = dict.fromkeys(numbers.share(float(result.settings["level"])) for result in results)
    yield from ("### Stereotypes", "", f"Intervals are at {' or '.join(levels)}.", "", row(HEAD))
    yield "|" + "---|" * len(HEAD)
    yield from (_row(result, each) for result in results for each in headlines(result))
    label = catalog.shape(results[0].kind).leading(results[0]).label
    yield from ("", f"![{label}, overall and by slice, with intervals]({picture_name})", "")
    yield f"Marks are {', '.join(f'{key.fill} ({key.text})' for key in FILLS[:3])}."
    yield from ("", "**What to read with it**", "")
    yield from (f"- {plain(text)}" for text in _notes(results))
    yield from ("", "**What this does not mean**", "")
    own = [str(text) for result in results for text in result.data.get("not_concluded") or ()]
    yield from (f"- {plain(text)}" for text in dict.fromkeys((*own, *GENERAL[:3])))
    yield from ("", "**How to repeat it**", "", FENCE)
    yield from (one_line(_command(result)) for result in results)
    yield from (FENCE, "")
    for result in results:
        version, model = result.versions.get("stereometer", "unknown"), result.model_card["digest"]
        measure = f"{result.benchmark}: {measured(result)}, model {model[:12]}"
        yield f"- {code(f'{measure}, stereometer {version}')}"


def _row(result: Result, estimate: Estimate) -> str:
    metric = catalog.shape(result.kind).metric(estimate.name, estimate.ideal)
    measure = f"{result.measured_by.unversioned}, {result.variant}"
    head = f"{result.benchmark}, {sample(result)}", measure, metric.label, numbers.ideal(estimate)
    value = numbers.both(estimate, metric.digits)
    return row((*head, value, numbers.used(estimate), numbers.verdict(estimate)))


def _notes(results: Sequence[Result]) -> Iterator[str]:
    """Each once, with the measures that it is about where those are not all."""
    about: dict[str, list[str]] = {}
    for result in results:
        for note in dict.fromkeys(result.notes):
            about.setdefault(note, []).append(f"{result.benchmark}, {result.measure}")
    for note, runs in about.items():
        yield note if len(runs) == len(results) else f"{'; '.join(runs)}: {note}"


def _command(result: Result) -> str:
    """What measured it; a result that was made from other scores says so."""
    if catalog.shape(result.kind).of_runs or result.scoring not in ASKED:
        others = f"from {result.scoring} scores of other runs"
        scored = SCORINGS["replayed"] if result.scoring == "replayed" else others
        return f"# {result.benchmark}, {result.measure}: {scored}"
    settings, own = result.settings, not result.data.get("as_released", True)
    method = catalog.method(result.measure)
    parts = (
        *("stereometer", "ask" if method and method.in_words else "run", result.benchmark),
        *("--model", str(result.model_card.get("spec") or result.model)),
        *(["--data", Path(str(result.data.get("source", "FILE"))).name] if own else []),
        *_measure(result, method),
        *("--variant", result.variant, "--seed", str(settings.get("seed", 0))),
        *(["--limit", str(settings["limit"])] if settings["limit"] else []),
        *(_stopping(result.stopped["bars"]) if result.stopped else []),
    )
    return join(parts)


def _measure(result: Result, method: Method | None) -> Iterator[str]:
    """The measure, or the setting that stands for it, and options that are not as by default."""
    if method is None or not method.in_words:
        yield from ("--measure", result.measured_by.name)
    elif method.setting:
        yield from ("--setting", method.setting)
    recorded = {**result.settings, **result.measured_by.settings}
    for option in fields(method.options) if method else ():
        value, flag = recorded.get(option.name), f"--{option.name.replace('_', '-')}"
        if value is True:
            yield flag
        elif value is False and option.default is None:
            yield flag.replace("--", "--no-", 1)
        elif type(value) in (int, float) and value != option.default and option.name != "seed":
            yield from (flag, f"{value:g}")


def _stopping(bars: Sequence[str]) -> list[str]:
    """A bar that says which runs it is about stands in a file."""
    in_file = any(" " in bar for bar in bars)
    held = ["--bars", "FILE"] if in_file else [part for bar in bars for part in ("--require", bar)]
    return [*held, "--until-decided"]


LEFT, WIDTH = 190, 380
"""Of labels, and of the axis."""
TICKS = 5


@dataclass(frozen=True)
class PictureAxis:
    low: float
    high: float
    width: int = WIDTH

    def place(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(LEFT + self.width * min(max(share, 0.0), 1.0), 1)

    @property
    def ticks(self) -> list[float]:
        step = (self.high - self.low) / (TICKS - 1)
        return [self.low + step * number for number in range(TICKS)]


def axis_of(rows: Sequence[Estimate]) -> PictureAxis:
    """Percent where the ideal is 50 or 100; otherwise as far as intervals and ideal reach."""
    if all(row.ideal in (50.0, 100.0) for row in rows):
        return PictureAxis(0, 100)
    ends = [end for row in rows for end in (row.value, row.low, row.high, row.ideal)]
    known = [end for end in ends if end is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    margin = (high - low or 1.0) / 10
    return PictureAxis(low - margin, high + margin)


def picture(title: str, rows: Sequence[tuple[str, Estimate]]) -> str:
    """One row for each estimate under its label, its mark drawn as everywhere (`FILLS`); an ideal
    is drawn where all rows have the same."""
    estimates = [row for _, row in rows]
    first, *others = {row.ideal for row in estimates} or {None}
    template = environment("stereometer.wings.exports").get_template("picture.svg.j2")
    return template.render(
        title=title,
        spoken="; ".join(f"{label}: {numbers.spoken(row)}" for label, row in rows),
        axis=axis_of(estimates),
        ideal=None if others else first,
        rows=[(label, row, fill_of(row)) for label, row in rows],
        left=LEFT,
        top=34,
        step=26,
    )
