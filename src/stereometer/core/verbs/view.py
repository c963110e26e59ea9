"""Views of what verbs return that have no room of their own: names, cards, the installation, plans
of studies, answers in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from stereometer.core.show import numbers
from stereometer.core.show.view import Paragraph, Piece, View, aside, bullets, line, records
from stereometer.core.verbs.findings_view import results
from stereometer.wings.curation.view import extremes
from stereometer.wings.mitigation.card import SETTING

if TYPE_CHECKING:
    from stereometer.core.benchmarks.benchmark import Benchmark, Card
    from stereometer.core.verbs.cache import CacheInfo
    from stereometer.core.verbs.data import Places
    from stereometer.core.verbs.names import EveryName
    from stereometer.core.verbs.show import CardShown
    from stereometer.wings.asking.ask import AnswersInWords
    from stereometer.wings.doctor.installation import Installation
    from stereometer.wings.doctor.models import Examination, Sample
    from stereometer.wings.people.verbs import Rehearsal, StudyPlan, StudyStatus


def answers(made: AnswersInWords, slices: bool = False) -> View:
    """Results with what was answered; forced choice beside the likelihoods, if asked for."""
    parts: list[View] = []
    for result, answered in zip(made, made.answered, strict=True):
        parts += [results([result], slices), *([] if answered is None else [answered.view])]
    return View(parts=(*parts, *(each.view() for each in made.calibrations)))


# ------------------------------------------------------------------------ a benchmark, every name


def card(shown: CardShown, slices: bool = False) -> View:
    parts = [*_card(shown.card)]
    if shown.benchmark is not None:
        parts += _source(shown.benchmark)
        for rows in (shown.statistics or {}).values():
            parts += (line(), *records(rows))
    if shown.terms:
        ends = "annotator agreement by target term, lowest and highest (all of them: --json)"
        parts += (line(f"\n{ends}\n"), *records(extremes(shown.terms)))
    return View(parts=tuple(parts))


def _card(card: Card) -> Iterator[Piece]:
    where = [card.country, card.origin] if card.origin else []
    said = ", ".join((str(card.year), card.language, *where, card.licence))
    yield line(f" ({said})", bold=card.title)
    yield line(f"{card.citation}\n{card.population}")
    counts = ", ".join(f"{count} of shape {shape}" for shape, count in card.counts.items())
    if counts:
        yield line(f"items: {counts}\ncontent sha256: {card.digest}")
    yield line(f"available from: {card.get}")
    yield from bullets("known problems", card.known_problems)
    yield from bullets("must not be concluded", card.not_concluded)


def _source(benchmark: Benchmark) -> Iterator[Paragraph]:
    state = "as released" if benchmark.as_released else "NOT as released"
    if not benchmark.as_released and not benchmark.card.digest:
        state = "no released version to compare with"
    yield line(f"read from {benchmark.source}: content {benchmark.digest[:16]}, {state}")
    for shape, measures in benchmark.measures.items():
        if shape in benchmark.shapes:
            first = f"{', else '.join(measures)} (the first that a model can answer)"
            yield line(f"measured by default ({shape}): {first}")
    yield from bullets("notes", benchmark.notes)


MORE = {
    "models": "also a folder, a .gguf file, org/name of a hub, server:URL#model or sentiment:MODEL",
    "mitigation_methods": "cda with --dropout is the Dropout method",
}
"""What is said after the names of a kind."""
TITLES = {
    "testing_aids": "testing aids",
    "settings": "settings of `ask`",
    "mitigation_methods": "methods of `mitigate`",
    "attributes": "attributes of `mitigate`",
    "exporters": "formats of `export`",
}


def names(every: EveryName) -> View:
    own = [_benchmark(each) for each in every.benchmarks if not each["origin"]]
    packs = [_pack(each) for each in every.benchmarks if each["origin"]]
    measures = [{"measure": row["name"], "paper": row["source"]} for row in every.measures]
    others = (
        line(
            f": {', '.join(listed)}{f' ({MORE[kind]})' if kind in MORE else ''}",
            bold=f"\n{TITLES.get(kind, kind)}",
        )
        for kind, listed in every.others.items()
    )
    tables: tuple[Piece, ...] = (
        *records(own, ("items", "title", "licence")),
        line(),
        *records(packs),
        line(),
    )
    return View(parts=(*tables, *records(measures), *others))


def _items(benchmark: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {shape}" for shape, count in benchmark["items"].items())


def _pack(benchmark: Mapping[str, Any]) -> dict[str, str]:
    return {
        "in other languages": benchmark["name"],
        "language": benchmark["language"],
        "origin": benchmark["origin"],
        "items": _items(benchmark),
        "tried": "yes" if benchmark["verified"] else "no",
    }


def _benchmark(benchmark: Mapping[str, Any]) -> dict[str, str]:
    """The default is the first measure that a model can answer."""
    defaults = (measures[0] for measures in benchmark["defaults"].values() if measures)
    return {
        "benchmark": benchmark["name"],
        "title": benchmark["title"],
        "items": _items(benchmark),
        "default": ", ".join(defaults),
        "like its paper": ", ".join(benchmark["like_paper"]),
        "licence": benchmark["licence"],
    }


# ------------------------------------------------------------------------------- what is installed


def cache(info: CacheInfo) -> View:
    size, cap = info.bytes / 1e6, info.cap / 1e6
    kept = f"{info.path}: {info.answers} answers, {size:.1f} MB of at most {cap:.0f} MB"
    return View(parts=(line(kept),))


def places(known: Places) -> View:
    absent = "not on this machine"
    every = known.files.items()
    return View(
        parts=tuple(line(f"{name}: {files[0] if files else absent}") for name, files in every)
    )


def installation(state: Installation) -> View:
    return View(parts=tuple(_installed(state)))


def _installed(state: Installation) -> Iterator[Paragraph]:
    yield line(bold="versions")
    for name, number in state.versions.items():
        absent = f"not installed; part of `pip install '.[{state.parts.get(name)}]'`"
        yield line(f"  {name}: {number or absent}")
    yield line(bold="\ndata")
    for name, place in state.data_files.items():
        if place:
            yield line(f"  {name}: {place}")
    if missing := [name for name, place in state.data_files.items() if not place]:
        yield line(f"  not on this machine: {', '.join(missing)}")
        yield line("  `stereometer show NAME` says where to get one of them")
    yield line(bold="\ndefault models")
    for name, ready in state.models_ready.items():
        yield line(f"  {name}: {'ready' if ready else f'run `stereometer model add {name}`'}")
    cache = state.cache
    kept = f"{cache['path']}, {cache['answers']} answers" if "path" in cache else cache["problem"]
    yield line(f"\n  {kept}", bold="\ncache")
    yield line(f"\n  {', '.join(state.devices) or 'none: torch is missing'}", bold="\ndevices")


# ------------------------------------------------------------------------------------- one model


def examination(examined: Examination) -> View:
    return View(parts=tuple(_examined(examined)))


def _examined(examined: Examination) -> Iterator[Paragraph]:
    card = examined.card
    digests = f"weights {card.digest[:12]}, tokenizer {card.tokenizer_digest[:12]}"
    yield line(f": {card.family}, {card.backend}, {card.dtype}, {digests}", bold=card.name)
    for key, value in card.settings.items():
        if key != SETTING:  # a note says what matters of it
            yield line(f"  {key}: {_words(value)}")
    for note in (*card.notes, *(f"warning: {warning}" for warning in examined.warnings)):
        yield line(f"  {note}")
    rows = (row for sample in examined.samples for rows in sample.rows.values() for row in rows)
    if any(value is None for row in rows for _, value in row):
        yield line("\nThree items of the starter set. Tokens in brackets are read, not scored.")
    for sample in examined.samples:
        yield from _sample(sample)


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(
            f"{key} ({_words(inner)})" if isinstance(inner, Mapping) else f"{key} {_words(inner)}"
            for key, inner in value.items()
        )
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _sample(sample: Sample) -> Iterator[Paragraph]:
    measure = sample.measure or "cannot be scored by this model"
    yield line(f" {measure}", bold=f"\n{sample.item}")
    for name, text in sample.texts.items():
        score = f"  score {sample.scores[name]:.3f}" if name in sample.scores else ""
        yield line(f"  {name}: {text}{score}")
        for row in sample.rows.get(name, []):
            tokens = (
                f"({token})" if value is None else f"{token} {value:.2f}" for token, value in row
            )
            yield from aside("    " + "  ".join(tokens))


# ---------------------------------------------------------------------------------------- studies


def study_plan(plan: StudyPlan) -> View:
    """What a study takes; its table alone is a result, the sentences are said beside it."""
    document = plan.document
    people = (
        f"{document['unit_count']} {plan.about}, "
        f"{numbers.count(document['judgements'], 'judgement')} each: at least "
        f"{document['people_needed']} people who pass. With those who fail, about "
        f"{document['people_paid']} are paid: {document['cost']:.2f} "
        f"{document['currency']} ({document['hourly']:.2f} per hour)."
    )
    precision = [
        {
            "raters per group": row["raters"],
            "half width of a mean": f"{row['half_width']:.1f}",
            "split-half tau": f"{row['split_half']:.2f}",
            "panel against panel": f"{row['panel']:.2f}",
            "best possible tau": f"{row['best']:.2f}",
        }
        for row in document.get("precision", ())
    ]
    wanted = (
        f"A mean within {row['half_width']:g} points ({row['of']}) needs {row['raters']} passing "
        f"raters per group: {row['people']} people who pass, about {row['paid']} paid, "
        f"{row['cost']:.2f} {document['currency']}."
        for row in document.get("wanted", ())
    )
    said = (*wanted, *(f"- {note}" for note in document["notes"]))
    return View(parts=(_talk(people), *records(precision), *map(_talk, said)))


def _talk(words: str) -> Paragraph:
    return Paragraph(((words, False),), talk=True)


def study_status(status: StudyStatus) -> View:
    rows = [{"": name, "value": value} for name, value in status.document["summary"].items()]
    return View(parts=tuple(records(rows)))


def rehearsal(made: Rehearsal) -> View:
    return View(parts=tuple(records(made.document["ends"])))
