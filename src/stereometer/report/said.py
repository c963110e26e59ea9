"""The report of what models said: recognition runs as one HTML file without scripts, pictures drawn as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from stereometer import asking
from stereometer.errors import UsageError
from stereometer.measures.recognition.settings import SETTINGS, setting_of
from stereometer.report.page import asset
from stereometer.runs.store import folders_of, load_result, load_scores, runs_in
from stereometer.types import Estimate, Result, Score

MEASURE = "recognition-"
WIDTH, LEFT, RIGHT, ROW = 800, 300, 30, 26
"""Of a picture, in its own units."""
LABEL = 42
"""Letters that fit to the left of a picture."""
REASONS = ("empty", "unparsed", "refused")
SHOWN = 60
"""Out-of-scope answers of a setting in the page; all of them are in the run."""


@dataclass(frozen=True)
class Told:
    """One setting of one model."""

    result: Result
    scores: Sequence[Score]

    @property
    def setting(self) -> str:
        return self.result.measure.removeprefix(MEASURE).split("@")[0]

    @property
    def label(self) -> str:
        return f"{self.result.model} · {self.setting}"

    def find(self, name: str, **fixed: str) -> Estimate | None:
        return next(
            (one for one in self.result.estimates if one.name == name and dict(one.slice) == fixed),
            None,
        )

    @property
    def asked(self) -> str:
        """How it was asked, in a line."""
        found = self.result.settings
        parts = [f"variant {self.result.variant}", self.result.scoring]
        parts += [f"{found['repeats']} repeats"] if "repeats" in found else []
        parts += [f"temperature {found['temperature']:g}"] if "temperature" in found else []
        parts += [f"sample {found['sample']}, size {found['size']}"] if "sample" in found else []
        return ", ".join(parts)

    @property
    def verdict(self) -> str:
        """What a reader should take away, before any picture."""
        flipped = self.find("flipped")
        if flipped is not None:
            return (
                f"{flipped.value:.0f} % of the comments are turned round by some edit; {flipped.verdict}."
                if flipped.value is not None
                else f"No number: {flipped.why}."
            )
        one = self.find("balanced_accuracy")
        if one is None or one.value is None:
            return f"No score: {one.why if one else 'nothing was answered'}."
        accuracy = self.find("accuracy")
        shown = (
            f"accuracy {accuracy.value:.1f} % [{accuracy.low:.1f}, {accuracy.high:.1f}]"
            if accuracy and accuracy.value is not None
            else ""
        )
        return f"{(one.verdict or '').capitalize()}: {shown}, balanced accuracy {one.value:.1f} % [{one.low:.1f}, {one.high:.1f}] (chance is 50)."

    @property
    def agreement(self) -> str:
        lines = []
        for name, text in (
            ("repeat_agreement", "two repeats of a question are read the same in {} of cases"),
            (
                "readings_agree",
                "written answers agree with the likeliest label word in {} of cases",
            ),
            ("likelihood_accuracy", "the likeliest label word is right in {} of cases"),
        ):
            one = self.find(name)
            if one is not None and one.value is not None:
                lines.append(text.format(f"{one.value:.1f} % [{one.low:.1f}, {one.high:.1f}]"))
        return f"{'; '.join(lines)}." if lines else ""

    @property
    def confusion(self) -> tuple[list[str], list[tuple[str, list[int]]]]:
        found = asking.confusion(self.scores)
        labels = sorted(
            {label for row in found.values() for label in row},
            key=lambda label: (label.startswith("("), label),
        )
        return labels, [
            (gold, [row.get(label, 0) for label in labels]) for gold, row in found.items()
        ]

    @property
    def out_of_scope(self) -> list[tuple[str, int]]:
        return asking.out_of_scope(self.scores, setting_of(self.result.settings["setting"]))

    @property
    def rows(self) -> list[tuple[str, list[str]]]:
        """Every slice with its metrics, as text."""
        names = ("accuracy", "precision", "recall", "f1", "balanced_accuracy", "matches")
        slices = dict.fromkeys(tuple(one.slice.items()) for one in self.result.estimates)
        return [(" / ".join(f"{value}" if name != "example_set" else f"set {value}" for name, value in key) or "overall",
                 [_cell(self.find(name, **dict(key))) for name in names]) for key in slices]  # fmt: skip


def _cell(one: Estimate | None) -> str:
    if one is None or one.value is None:
        return "" if one is None else "none"
    return f"{one.value:.1f} [{one.low:.1f}, {one.high:.1f}]"


# -------------------------------------------------------------------------------------------- pictures


@dataclass(frozen=True)
class Mark:
    """A value with its interval, or the reason there is none."""

    label: str
    one: Estimate | None
    tone: int = 0

    @property
    def filled(self) -> bool:
        return bool(self.one and self.one.verdict and not self.one.verdict.startswith("not"))


def across(value: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * value / 100


def forest(marks: Sequence[Mark], line: float | None, title: str) -> Markup:
    """Dots with intervals on a scale from 0 to 100, a dashed line where chance is."""
    height = ROW * len(marks) + 44
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{_plain(title)}" class="said">'
    ]
    for tick in (0, 25, 50, 75, 100):
        x = across(tick)
        parts.append(
            f'<line x1="{x:.1f}" y1="8" x2="{x:.1f}" y2="{height - 34}" class="grid"/><text x="{x:.1f}" y="{height - 14}" class="tick">{tick}</text>'
        )
    if line is not None:
        parts.append(
            f'<line x1="{across(line):.1f}" y1="4" x2="{across(line):.1f}" y2="{height - 34}" class="chance"/>'
        )
    for number, mark in enumerate(marks):
        parts.append(_drawn(mark, 20 + ROW * number))
    return Markup("".join(parts) + "</svg>")


def _drawn(mark: Mark, y: float) -> str:
    label = f'<text x="{LEFT - 12}" y="{y + 4}" class="name">{_plain(_short(mark.label))}</text>'
    one = mark.one
    if one is None or one.value is None or one.low is None or one.high is None:
        return f'{label}<text x="{LEFT + 8}" y="{y + 4}" class="none">no score: {_plain(_why(one))}</text>'
    tone = f"tone{mark.tone}"
    fill = tone if mark.filled else f"{tone} hollow"
    return (
        f'{label}<line x1="{across(one.low):.1f}" y1="{y}" x2="{across(one.high):.1f}" y2="{y}" class="bar {tone}"/>'
        f'<circle cx="{across(one.value):.1f}" cy="{y}" r="5" class="dot {fill}"><title>{one.value:.1f} [{one.low:.1f}, {one.high:.1f}]</title></circle>'
    )


def _why(one: Estimate | None) -> str:
    why = (one.why if one else None) or "nothing was answered"
    return "below the coverage floor" if "coverage floor" in why else why


def _short(label: str) -> str:
    """What fits beside a picture: the end of a long name tells settings apart."""
    return label if len(label) <= LABEL else f"…{label[1 - LABEL :]}"


def _plain(text: str) -> str:
    return str(Markup.escape(text))


def coverage(told: Sequence[Told]) -> Markup:
    """How many answers could be read, and why the others could not."""
    height = ROW * len(told) + 44
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Share of answers that could be read, by setting" class="said">'
    ]
    for number, one in enumerate(told):
        y, at = 10 + ROW * number, 0.0
        parts.append(
            f'<text x="{LEFT - 12}" y="{y + 14}" class="name">{_plain(_short(one.label))}</text>'
        )
        for name, share in _shares(one):
            x, width = across(at), across(at + share) - across(at)
            parts.append(
                f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="18" class="part {name}"><title>{share:.1f} % {name}</title></rect>'
            )
            at += share
    floor = across(100 * float(told[0].result.settings["coverage"]))
    parts.append(
        f'<line x1="{floor:.1f}" y1="4" x2="{floor:.1f}" y2="{height - 34}" class="chance"/>'
    )
    parts += [
        f'<text x="{across(tick):.1f}" y="{height - 14}" class="tick">{tick}</text>'
        for tick in (0, 25, 50, 75, 100)
    ]
    return Markup("".join(parts) + "</svg>")


def _shares(one: Told) -> Iterator[tuple[str, float]]:
    given = [answer.get("skipped", "read") for score in one.scores for answer in score.answers]
    given += [
        score.skipped for score in one.scores if score.skipped is not None and not score.answers
    ]
    for name in ("read", *REASONS, "other"):
        count = sum(
            (reason if reason in ("read", *REASONS) else "other") == name for reason in given
        )
        if count:
            yield name, 100 * count / len(given)


def example_sets(told: Sequence[Told]) -> tuple[Markup, float] | None:
    """The study's Figure 1: answers that are the gold label, by example set; and what always saying `neither` gives."""
    mixed = [one for one in told if "mixed" in one.setting]
    sets = sorted(
        {
            slice_.slice["example_set"]
            for one in mixed
            for slice_ in one.result.estimates
            if "example_set" in slice_.slice
        },
        key=int,
    )
    if not sets:
        return None
    marks = [Mark(f"set {number} · {one.setting.removeprefix('few-shot-')}", one.find("matches", example_set=number), tone)
             for number in sets for tone, one in enumerate(mixed)]  # fmt: skip
    golds = [score.slices["gold"] for one in mixed for score in one.scores]
    common = 100 * max(golds.count(gold) for gold in set(golds)) / len(golds)
    return forest(marks, common, "Share of answers that are the gold label, by example set"), common


# ------------------------------------------------------------------------------------------------ page


def said_page(paths: Sequence[str | Path]) -> str | None:
    """The page, where every run is of recognition; None where none is."""
    folders = [found for path in folders_of(paths) for found in runs_in(path)]
    results = [load_result(folder) for folder in folders]
    named = [result.measure.startswith(MEASURE) for result in results]
    if not any(named):
        return None
    if not all(named):
        raise UsageError(
            "Some runs are of recognition and some are not. Their numbers do not belong on one page. Write two reports."
        )
    order = list(SETTINGS)
    found = [
        Told(result, list(load_scores(folder)))
        for folder, result in zip(folders, results, strict=True)
    ]
    told = sorted(
        found,
        key=lambda one: (
            one.result.model,
            order.index(one.setting) if one.setting in order else len(order),
        ),
    )
    environment = Environment(
        loader=PackageLoader("stereometer.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    html = environment.get_template("said.html.j2").render(
        told=told,
        models=", ".join(dict.fromkeys(one.result.model for one in told)),
        style=Markup(asset("assets/report.css") + asset("assets/said.css")),
        overall=forest(list(_overall(told)), 50.0, "Balanced accuracy by setting and category"),
        coverage=coverage(told),
        sets=example_sets(told),
        notes=list(dict.fromkeys(note for one in told for note in one.result.notes)),
        problems=list(
            dict.fromkeys(
                line
                for one in told
                for line in (*one.result.data["known_problems"], *one.result.data["not_concluded"])
            )
        ),
        citations=list(dict.fromkeys(str(one.result.data["citation"]) for one in told)),
        shown=SHOWN,
    )
    return html.encode("utf-8", "replace").decode()


def _overall(told: Sequence[Told]) -> Iterator[Mark]:
    for one in told:
        if one.find("flipped") is not None:
            continue
        yield Mark(one.label, one.find("balanced_accuracy"))
        for name in _categories(one):
            yield Mark(name, one.find("balanced_accuracy", category=name), 1)


def _categories(one: Told) -> Mapping[str, None]:
    return dict.fromkeys(
        slice_.slice["category"]
        for slice_ in one.result.estimates
        if set(slice_.slice) == {"category"}
    )
