"""Views of an installation, and of how a model reads and scores sample items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from stereometer.core.show.view import Paragraph, View, aside, line

if TYPE_CHECKING:
    from stereometer.wings.doctor.installation import Installation
    from stereometer.wings.doctor.models import Examination, Sample


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
        # Of what has a schema of its own, such as a mitigation, a note says what matters.
        if not (isinstance(value, Mapping) and "schema" in value):
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
