"""What is installed; what a model is, how it reads, and what it makes of three items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stereometer.cli import render
from stereometer.mitigations.card import SETTING

if TYPE_CHECKING:
    from stereometer.verbs.doctor import Examination, Sample
    from stereometer.verbs.installation import Installation


def print_installation(state: Installation) -> None:
    render.line(bold="versions")
    for name, number in state.versions.items():
        absent = f"not installed; part of `pip install '.[{state.parts.get(name)}]'`"
        render.line(f"  {name}: {number or absent}")
    render.line(bold="\ndata")
    for name, place in state.data_files.items():
        if place:
            render.line(f"  {name}: {place}")
    if missing := [name for name, place in state.data_files.items() if not place]:
        render.line(f"  not on this machine: {', '.join(missing)}")
        render.line("  `stereometer show NAME` says where to get one of them")
    render.line(bold="\ndefault models")
    for name, ready in state.models_ready.items():
        render.line(f"  {name}: {'ready' if ready else f'run `stereometer model add {name}`'}")
    cache = state.cache
    kept = f"{cache['path']}, {cache['answers']} answers" if "path" in cache else cache["problem"]
    render.line(f"\n  {kept}", bold="\ncache")
    render.line(f"\n  {', '.join(state.devices) or 'none: torch is missing'}", bold="\ndevices")


def print_examination(examined: Examination) -> None:
    card = examined.card
    digests = f"weights {card.digest[:12]}, tokenizer {card.tokenizer_digest[:12]}"
    render.line(f": {card.family}, {card.backend}, {card.dtype}, {digests}", bold=card.name)
    for key, value in card.settings.items():
        if key != SETTING:  # a note says what matters of it
            render.line(f"  {key}: {_words(value)}")
    for note in (*card.notes, *(f"warning: {warning}" for warning in examined.warnings)):
        render.line(f"  {note}")
    rows = (row for sample in examined.samples for rows in sample.rows.values() for row in rows)
    if any(value is None for row in rows for _, value in row):
        render.line("\nThree items of the starter set. Tokens in brackets are read, not scored.")
    for sample in examined.samples:
        _print_sample(sample)


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(
            f"{key} ({_words(inner)})" if isinstance(inner, Mapping) else f"{key} {_words(inner)}"
            for key, inner in value.items()
        )
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _print_sample(sample: Sample) -> None:
    measure = sample.measure or "cannot be scored by this model"
    render.line(f" {measure}", bold=f"\n{sample.item}")
    for name, text in sample.texts.items():
        score = f"  score {sample.scores[name]:.3f}" if name in sample.scores else ""
        render.line(f"  {name}: {text}{score}")
        for row in sample.rows.get(name, []):
            tokens = (
                f"({token})" if value is None else f"{token} {value:.2f}" for token, value in row
            )
            render.aside("    " + "  ".join(tokens))
