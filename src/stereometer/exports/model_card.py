"""`model-card`: Markdown to paste into a model card, with one table and one picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path

from stereometer import catalog
from stereometer.exports.metadata import headlines
from stereometer.exports.picture import picture
from stereometer.files import replacing
from stereometer.measures.declared import options_in
from stereometer.report.method import GENERAL, SCORINGS
from stereometer.runs.store import folder_name
from stereometer.show import numbers
from stereometer.show.slices import named
from stereometer.types import Estimate, Finished, Method, Result

HEAD = "| Benchmark | Metric | Ideal | Value, with its interval | Items used | Verdict |"
ASKED = ("computed", "constructed")
"""Scores that the commands `run` and `ask` make."""
MOST_ROWS = 24
"""Of the picture: more would not be read on a page."""


class ModelCard:
    name = "model-card"

    def write(self, results: Sequence[Finished], folder: Path) -> list[Path]:
        models: dict[str, list[Result]] = {}
        for finished in results:
            models.setdefault(finished.result.model, []).append(finished.result)
        return [path for model, own in models.items() for path in _of_model(model, own, folder)]


def _of_model(model: str, results: Sequence[Result], folder: Path) -> Iterator[Path]:
    stem = folder_name(model, "stereotypes")
    drawn = folder / f"{stem}.svg"
    with replacing(drawn) as file:
        file.write(_drawn(results))
    yield drawn
    with replacing(folder / f"{stem}.md") as file:
        file.writelines(f"{text}\n" for text in _lines(results, drawn.name))
    yield folder / f"{stem}.md"


def _drawn(results: Sequence[Result]) -> str:
    """The leading metric of the first benchmark, overall and by slice; of others overall, where
    their ideal is the same."""
    first, *others = results
    leading = catalog.shape(first.kind).leading(first)
    rows = [
        (named(row.slice) if row.slice else f"{first.benchmark}, overall", row)
        for row in first.estimates
        if row.name == leading.name and len(row.slice) < 2 and _in_first_table(first, row)
    ]
    for other in others:
        metric = catalog.shape(other.kind).leading(other)
        same = metric.ideal == leading.ideal
        rows += [
            (f"{other.benchmark}, {metric.label}", row)
            for row in headlines(other)
            if same and row.name == metric.name
        ]
    return picture(f"{leading.label}: {first.model}", rows[:MOST_ROWS])


def _in_first_table(result: Result, row: Estimate) -> bool:
    return catalog.shape(result.kind).headline_slice(row.slice)


def _lines(results: Sequence[Result], picture_name: str) -> Iterator[str]:
    level = numbers.share(float(results[0].settings["level"]))
    yield from ("### Stereotypes", "", f"Intervals are at {level}.", "", HEAD)
    yield "|" + "---|" * (HEAD.count("|") - 1)
    yield from (_row(result, row) for result in results for row in headlines(result))
    label = catalog.shape(results[0].kind).leading(results[0]).label
    yield from ("", f"![{label}, overall and by slice, with intervals]({picture_name})", "")
    yield "A filled mark is beyond noise after the correction for the tests made."
    yield from ("", "**What this does not mean**", "")
    yield from (f"- {text}" for text in _limits(results))
    yield from ("", "**How to repeat it**", "", "```")
    yield from (_command(result) for result in results)
    yield from ("```", "", *(f"- {_read(result)}" for result in results))


def _row(result: Result, row: Estimate) -> str:
    metric = catalog.shape(result.kind).metric(row.name, row.ideal)
    cells = (
        result.benchmark,
        metric.label,
        numbers.ideal(row),
        numbers.both(row, metric.digits),
        numbers.used(row),
        numbers.verdict(row),
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _limits(results: Sequence[Result]) -> list[str]:
    own = [str(text) for result in results for text in result.data.get("not_concluded") or ()]
    notices = [str(result.data["notice"]) for result in results if result.data["notice"]]
    stopped = [result.notes[0] for result in results if result.stopped]
    return list(dict.fromkeys((*stopped, *notices, *own, *GENERAL[:3])))


def _command(result: Result) -> str:
    """What measured it; a result that was made from other scores says so."""
    if catalog.shape(result.kind).of_runs or result.scoring not in ASKED:
        return f"# {result.benchmark}, {result.measure}: {_scored(result)}"
    settings, own = result.settings, not result.data.get("as_released", True)
    method = catalog.method(result.measure)
    parts = (
        f"stereometer {'ask' if method and method.in_words else 'run'} {result.benchmark}",
        f"--model {result.model}",
        *([f"--data {Path(str(result.data.get('source', 'FILE'))).name}"] if own else []),
        *_measure(result, method),
        f"--variant {result.variant} --seed {settings.get('seed', 0)}",
        *([f"--limit {settings['limit']}"] if settings["limit"] else []),
        *([_stopping(result.stopped["bars"])] if result.stopped else []),
    )
    return " ".join(parts)


def _scored(result: Result) -> str:
    if result.scoring == "replayed":
        return SCORINGS[result.scoring]
    return f"from {result.scoring} scores of other runs"


def _measure(result: Result, method: Method | None) -> Iterator[str]:
    """The measure, or the setting that stands for it, and its options where they are not as by
    default."""
    if method is None or not method.in_words:
        yield f"--measure {result.measure.partition('@')[0]}"
    elif method.setting:
        yield f"--setting {method.setting}"
    recorded = {**result.settings, **options_in(result.measure)}
    for option in fields(method.options) if method else ():
        value, flag = recorded.get(option.name), f"--{option.name.replace('_', '-')}"
        if value is True:
            yield flag
        elif type(value) in (int, float) and value != option.default and option.name != "seed":
            yield f"{flag} {value:g}"


def _stopping(bars: Sequence[str]) -> str:
    """A bar that says which runs it is about stands in a file."""
    in_file = any(" " in bar for bar in bars)
    held = "--bars FILE" if in_file else " ".join(f"--require '{bar}'" for bar in bars)
    return f"{held} --until-decided"


def _read(result: Result) -> str:
    return (
        f"{result.benchmark}: `{result.measure}`, variant `{result.variant}`, data "
        f"`{result.data['digest'][:12]}`, model `{result.model_card['digest'][:12]}`, stereometer "
        f"{result.versions.get('stereometer', 'unknown')}"
    )


EXPORTER = ModelCard()
