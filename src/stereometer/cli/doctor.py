"""doctor: what is installed; what a model is, how it reads, and what it makes of three items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.installation import installation, print_installation
from stereometer.cli.options import Json, Loading, opening
from stereometer.errors import ModelError, UsageError
from stereometer.mitigations.card import SETTING
from stereometer.types import (
    Backend,
    CausalTokens,
    Item,
    MaskedTokens,
    NamesTokens,
    Request,
    Settings,
    Skip,
    System,
)

SAMPLES = (("cat", 0), ("cat", -1), ("pair", 0))
"""An intrasentence item, an intersentence item and a pair of the starter set."""


@command("Models", "doctor", "doctor --model smollm2-135m")
def doctor(
    *,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="A model; without one, the installation is checked."),
    ] = None,
    loading: Loading,
    json: Json = False,
) -> None:
    """Check the installation, or show how a model reads and scores three sample items."""
    if model is None:
        state = installation()
        if json:
            render.print_json(state)
        else:
            print_installation(state)
        return
    _examine(model, loading, json)


def _examine(model: str, loading: Loading, json: bool) -> None:
    """How a model reads and scores three items, and what to beware of."""
    from stereometer.runs.open import open_benchmark, open_model

    opened = open_model(model, 0, opening(loading))
    if isinstance(opened, System):
        raise UsageError(
            f"{model} is a baseline that reads the gold labels. "
            "There is nothing to examine in it. Name a model."
        )
    starter = open_benchmark("starter")
    samples = [_sample(opened, shape, starter.items(shape)[index]) for shape, index in SAMPLES]
    warnings = list(opened.abilities.cautions)
    if json:
        card = vars(opened.card) | {"notes": list(opened.card.notes)}
        document = {"schema": "doctor@1", "card": card, "warnings": warnings}
        render.print_json(document | {"samples": samples})
        return
    _print(opened, warnings, samples)


def _sample(model: Backend, shape: str, item: Item) -> dict[str, Any]:
    """An item under the first measure of the starter set that the model can answer."""
    from stereometer import catalog
    from stereometer.runs.measure import bound

    sample: dict[str, Any] = {"item": item.id, "measure": None, "texts": dict(item.texts)}
    for name in catalog.find("benchmark", "starter").measures[shape]:
        try:
            measure = bound(catalog.find("method", name), model, Settings(), {})
            plan = measure.plan(item)
        except (ModelError, Skip):
            continue
        requests = {request.key: request for asked in plan.values() for request in asked}
        answers = dict(model.answer(requests))
        exchanged = {
            label: [(request, answers[request.key]) for request in asked]
            for label, asked in plan.items()
        }
        rows = {
            label: [_row(model, request, answer.rows[0]) for request, answer in pairs]
            for label, pairs in exchanged.items()
        }
        scores = dict(measure.score(item, exchanged).values)
        return sample | {"measure": measure.name, "scores": scores, "rows": rows}
    return sample | {"scores": {}, "rows": {}}


def _row(model: Backend, request: Request, row: Mapping[str, Any]) -> list[list[Any]]:
    """Every token with its number, None if it is read and not scored; of a text, the whole."""

    values = next(iter(row.values()))
    match request:
        case MaskedTokens(ids, steps):
            scored = dict(zip((at for _, at in steps), values, strict=True))
        case CausalTokens(ids, start):
            scored = dict(zip(range(start, len(ids)), values, strict=True))
        case _:
            return [["the text", value] for value in values]
    name = model.token if isinstance(model, NamesTokens) else str
    return [[name(number), scored.get(at)] for at, number in enumerate(ids)]


def _print(model: Backend, warnings: list[str], samples: list[dict[str, Any]]) -> None:
    card = model.card
    digests = f"weights {card.digest[:12]}, tokenizer {card.tokenizer_digest[:12]}"
    render.line(f": {card.family}, {card.backend}, {card.dtype}, {digests}", bold=card.name)
    for key, value in card.settings.items():
        if key != SETTING:  # a note says what matters of it
            render.line(f"  {key}: {_words(value)}")
    for note in (*card.notes, *(f"warning: {warning}" for warning in warnings)):
        render.line(f"  {note}")
    rows = (row for sample in samples for rows in sample["rows"].values() for row in rows)
    if any(value is None for row in rows for _, value in row):
        render.line("\nThree items of the starter set. Tokens in brackets are read, not scored.")
    for sample in samples:
        _print_sample(sample)


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(
            f"{key} ({_words(inner)})" if isinstance(inner, Mapping) else f"{key} {_words(inner)}"
            for key, inner in value.items()
        )
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _print_sample(sample: Mapping[str, Any]) -> None:
    measure = sample["measure"] or "cannot be scored by this model"
    render.line(f" {measure}", bold=f"\n{sample['item']}")
    for name, text in sample["texts"].items():
        score = f"  score {sample['scores'][name]:.3f}" if name in sample["scores"] else ""
        render.line(f"  {name}: {text}{score}")
        for row in sample["rows"].get(name, []):
            tokens = (
                f"({token})" if value is None else f"{token} {value:.2f}" for token, value in row
            )
            render.aside("    " + "  ".join(tokens))
