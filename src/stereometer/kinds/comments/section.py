"""What models said of comments: against chance, what could be read, and every setting's answers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from stereometer.core.runs.stored import Run
from stereometer.core.show import numbers
from stereometer.core.show.figure import SQUARE, Chart, Figure, Key, Spec
from stereometer.core.show.table import Table
from stereometer.core.show.view import Verdict
from stereometer.core.types import Estimate, Result
from stereometer.kinds.comments import answers
from stereometer.kinds.comments.items import MISSPELLING, SETTINGS, Setting, setting_of
from stereometer.kinds.comments.view import slice_label
from stereometer.report import tables
from stereometer.report.charts import frame
from stereometer.report.charts.forest import Axis, chance_axis
from stereometer.report.figures.differences import differences
from stereometer.report.figures.slices import by_slice
from stereometer.report.matrix import Column, entry
from stereometer.report.sections.section import Section, drawn_from, metric_line
from stereometer.report.systems import Group, System
from stereometer.report.tables import tabled

NAME = "balanced_accuracy"
LISTED = ("accuracy", "precision", "recall", "f1", NAME, "matches")
READINGS = {
    "read": ("read", "var(--read)"),
    "empty": ("empty", "var(--strong)"),
    "unparsed": ("no label in it", "var(--unread)"),
    "refused": ("refused", "var(--refused)"),
    "filtered": ("filtered", "var(--less)"),
    "no room": ("no room", "var(--warn)"),
    "other": ("other", "var(--ink)"),
}
"""What became of answers: the words and the colour for each."""
AGREEMENTS = {
    "repeat_agreement": "two repeats of a question are read the same in {} of cases",
    "readings_agree": "written answers agree with the likeliest label word in {} of cases",
    "likelihood_accuracy": "the likeliest label word is right in {} of cases",
}
SHOWN = 60
"""Out-of-scope answers of a setting on the page; all of them are in the run."""


def _setting(result: Result) -> Setting:
    return setting_of(str(result.settings["setting"]))


class Comments(Section):
    subject = "Recognition of speech by"
    without_items = "Comments are not shown here; they are in the folders of the runs."
    citation = (
        "Chiu, Collins, Alexander (2021). Detecting hate speech with GPT-3. arXiv:2103.12407",
        "Settings of the prompts",
    )

    def alike(self, result: Result) -> tuple[object, ...]:
        """The settings of a study stand side by side, each in rows of its own."""
        return (result.benchmark, result.variant, result.asked_as, result.data.get("digest"))

    def ordered(self, runs: Sequence[Run]) -> Sequence[Run]:
        order = list(SETTINGS.values())
        return sorted(runs, key=lambda run: (run.result.model, order.index(_setting(run.result))))

    def added(self, result: Result) -> str:
        return f" · {_setting(result).name}"

    def subtitle(self, group: Group) -> str:
        asked = f", asked as {group.first.asked_as}" if group.first.asked_as else ""
        return f"{drawn_from(group)}recognition by prompting, variant {group.first.variant}{asked}"

    def columns(self, group: Group) -> Iterator[Column]:
        """One for each setting: numbers of different settings do not share a column."""
        for setting in _settings(group):
            alike = _only(group, setting)
            rows = [(system, row) for system in alike.systems if (row := _main(system)) is not None]
            entries = {system.name: entry(system, row, 1) for system, row in rows}
            label = group.shape.metric(rows[0][1].name).label if rows else ""
            named = metric_line(label, [row for _, row in rows])
            yield Column(group, group.title, named, alike.how, entries)

    def verdicts(self, group: Group) -> Iterator[Verdict]:
        tested = [(system, _main(system)) for system in group.systems]
        rows = [(system, row) for system, row in tested if row is not None]
        for system, row in rows:
            headline = f"{system.label}: {row.verdict}."
            if row.value is None:
                headline, sentence = f"{system.label} has no score.", f"No score: {row.why}."
            elif row.name == NAME:
                sentence = _accuracy(system, row)
            else:
                share = numbers.number(row.value, 0)
                sentence = f"{share} % of the comments are turned round by some edit."
            yield Verdict(system.number, row, headline, (sentence,), unit="%")

    def tables(self, group: Group) -> Iterable[Table]:
        """One for each setting: numbers of different settings do not share a column."""
        for setting in _settings(group):
            table = tables.headline(_only(group, setting))
            yield replace(table, caption=f"{setting.name}: {table.caption}")

    def figures(self, group: Group) -> Iterator[Figure]:
        yield _chance(group)
        # Misspellings set a model against itself.
        others = (each for each in _settings(group) if each is not MISSPELLING)
        yield differences(_only(group, *others))
        yield _coverage(group)
        yield _example_sets(group)
        for index, system in enumerate(group.systems):
            yield _answers(group, system, index)


def _settings(group: Group) -> list[Setting]:
    return list(dict.fromkeys(_setting(system.result) for system in group.systems))


def _only(group: Group, *settings: Setting) -> Group:
    """The systems that were asked in these settings."""
    kept = (system for system in group.systems if _setting(system.result) in settings)
    return replace(group, systems=tuple(kept))


def _main(system: System) -> Estimate | None:
    return system.find("flipped", {}) or system.find(NAME, {})


def _accuracy(system: System, row: Estimate) -> str:
    accuracy = system.find("accuracy", {})
    share = _percent(accuracy) if accuracy is not None and accuracy.value is not None else ""
    first = f"Accuracy {share}, balanced" if share else "Balanced"
    p = f"; {numbers.p_value(row.p_adjusted)}" if row.p_adjusted is not None else ""
    return f"{first} accuracy {_percent(row)}, where 50 is chance ({numbers.used(row)} used{p})."


def _percent(row: Estimate) -> str:
    return f"{numbers.value(row)} % {numbers.interval(row)}"


# ------------------------------------------------------------------------------------------ figures


def _chance(group: Group) -> Figure:
    lead = (
        "Balanced accuracy in percent: the mean of how often comments of a category and comments "
        "that are not of it are recognised. The dashed line at 50 is chance, which answering "
        "always the same way reaches too. Intervals resample comments with all their answers.",
    )
    estimates = [row for _, row in group.placed(NAME, group.slices(NAME))]
    axis = chance_axis("balanced accuracy", estimates)
    return by_slice(group, NAME, "Against chance", lead, axis, ", against chance at 50")


def _readings(system: System) -> dict[str, float]:
    """The share of answers that could be read, and why the others could not, in percent."""
    reasons = [row.get("skipped", "read") for score in system.scores for row in score.answers]
    reasons += [score.skipped for score in system.scores if score.skipped and not score.answers]
    counts = Counter(reason if reason in READINGS else "other" for reason in reasons)
    kinds = ((words, counts[name]) for name, (words, _) in READINGS.items())
    return {words: 100 * count / len(reasons) for words, count in kinds if count}


def _coverage(group: Group) -> Figure:
    parts = [(system.label, _readings(system)) for system in group.systems if system.scores]
    floor = 100 * group.settings.coverage
    said = [f"{label} {numbers.number(shared.get('read', 0.0))}" for label, shared in parts]
    described = f"Share of answers that could be read, in percent, by setting: {'; '.join(said)}."
    colours = dict(READINGS.values())
    cells = [
        (label, *(numbers.number(of.get(name, 0.0)) for name in colours)) for label, of in parts
    ]
    heads = ("Setting", *(f"#{name}" for name in colours))
    table = tabled(heads, cells, "What became of the answers, in percent")
    lead = ("Answers in percent. Left of the dashed line, too few could be read for a score.",)
    legend = tuple(Key(name, colour, SQUARE, "filled") for name, colour in colours.items())
    chart = Chart("", described, shares(parts, colours, floor))
    id_, title = f"{group.id}-coverage", "What could be read"
    shown = bool(parts)
    return Figure(id_, title, lead, (chart,) * shown, (table,) * shown, legend=legend)


def _example_sets(group: Group) -> Figure:
    """The study's Figure 1: answers that are the gold label, by example set."""
    mixed = [system for system in group.systems if _setting(system.result).mixed]
    golds = Counter(score.slices["gold"] for system in mixed for score in system.scores)
    commonest = 100 * max(golds.values(), default=0) / max(1, golds.total())
    share = numbers.number(commonest, 0)
    lead = (
        "Answers that are the gold label and no other, in percent, for each set of examples. The "
        f"dashed line is what always giving the commonest label reaches ({share} %).",
    )
    axis = Axis("gold label alone, %", (0.0, 100.0), [commonest])
    against = f", against what the commonest label reaches, {share} percent"
    return by_slice(group, "matches", "Example sets", lead, axis, against)


# -------------------------------------------------------------------------------------- one setting


def _answers(group: Group, system: System, index: int) -> Figure:
    lead = tuple(filter(None, (f"{_how_asked(system.result)}.", _agreement(system))))
    listed = (_confusion(system), _numbers(group, system), *_by_set(system), *_out_of_scope(system))
    shown = listed if system.scores else listed[1:2]
    return Figure(f"{group.id}-answers-{index}", system.label, lead, (), shown)


def _how_asked(result: Result) -> str:
    """How it was asked, in a line."""
    settings = result.settings
    parts = [f"Variant {result.variant}", result.scoring]
    parts += [numbers.count(settings["repeats"], "repeat")] if "repeats" in settings else []
    parts += [f"temperature {settings['temperature']:g}"] if "temperature" in settings else []
    sample = f"sample {settings['sample']}, size {settings['size']}" if "sample" in settings else ""
    return ", ".join(filter(None, (*parts, sample)))


def _agreement(system: System) -> str:
    rows = ((words, system.find(name, {})) for name, words in AGREEMENTS.items())
    known = [words.format(_percent(row)) for words, row in rows if row and row.value is not None]
    said = "; ".join(known)
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def _confusion(system: System) -> Table:
    counts = answers.confusion(system.scores)
    labels = answers.labels_read(counts)
    rows = [(gold, *(str(row.get(label, 0)) for label in labels)) for gold, row in counts.items()]
    heads = ("gold \\ read as", *(f"#{label}" for label in labels))
    return tabled(heads, rows, "Gold labels and how answers were read")


def _by_set(system: System) -> Iterator[Table]:
    """The study's Tables 18 to 21."""
    rows = answers.confusion_by_set(system.scores, system.result.variant)
    counts = ("not of it: not called so", "not of it: called so", "of it: not", "of it: called so")
    heads = ("category", "set", *(f"#{count}" for count in counts))
    if rows:
        cells = [tuple(map(str, row.values())) for row in rows]
        yield tabled(heads, cells, "Gold labels and answers by example set")


def _numbers(group: Group, system: System) -> Table:
    slices = {tuple(row.slice.items()): row.slice for row in system.result.estimates}
    rows = [
        (slice_label(slice_), *(_cell(system.find(name, slice_)) for name in LISTED))
        for slice_ in slices.values()
    ]
    labels = [f"#{group.shape.metric(name).label}" for name in LISTED]
    return tabled(("slice", *labels), rows, "Every number")


def _cell(row: Estimate | None) -> str:
    if row is None or row.value is None:
        return "" if row is None else "none"
    return numbers.both(row)


def _out_of_scope(system: System) -> Iterator[Table]:
    found = answers.out_of_scope(system.scores, _setting(system.result))
    if found:
        rows = [(words or "(nothing)", str(n)) for words, n in found[:SHOWN]]
        more = f"And {len(found) - SHOWN} more in the run's folder." if found[SHOWN:] else ""
        caption = f"Out-of-scope answers: {len(found)} different ones (they may offend)"
        yield tabled(("answer", "#times"), rows, caption, more)


# ----------------------------------------------------------------------------------- bars in parts

ROW, THICK = 30, 18
"""Pixels of a row and of its bar."""


def shares(
    parts: Sequence[tuple[str, Mapping[str, float]]], colours: Mapping[str, str], floor: float
) -> Spec:
    """A labelled bar for each entry, with the shares of its parts; a dashed line at the floor."""
    height = ROW * len(parts) + 8
    scale = {"title": "answers, %", "orient": "top", "tickCount": 5, "grid": False}
    x = frame.quantity("low", (0, 100), scale)
    y = frame.quantity("top", (0, height), None, reverse=True)
    labels: list[frame.Row] = []
    bars: list[frame.Row] = []
    for number, (label, shared) in enumerate(parts):
        top, low = number * ROW + 10, 0.0
        labels.append({"top": top + THICK / 2, "label": label})
        for part, share in shared.items():
            tip = f"{label}\n{numbers.number(share)} % {part}"
            bar = {"top": top, "end": top + THICK, "low": low, "high": low + share}
            bars.append({**bar, "colour": colours[part], "tip": tip})
            low += share
    ends = {"x": x, "x2": {"field": "high"}, "y": y, "y2": {"field": "end"}}
    rect = {"type": "rect", "stroke": frame.PAPER, "opacity": 1}
    name = {"type": "text", "align": "right", "dx": -9, "color": frame.INK, "limit": 260}
    line = [{"low": floor, "top": 2, "end": height}]
    layers = [
        frame.layer(bars, rect, **ends, color=frame.plain("colour"), tooltip=frame.TOOLTIP),
        frame.layer(labels, name, x={"value": 0}, y=y, text=frame.words()),
        frame.layer(line, frame.DASHED, x=x, y=y, y2={"field": "end"}),
    ]
    return frame.spec(layers, height)


SECTION = Comments()
