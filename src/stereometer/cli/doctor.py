"""doctor: what a model is, how it reads, and what it makes of three items, so that a person can see what is measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.markup import escape

from stereometer import api, catalog
from stereometer.cli.guard import say
from stereometer.cli.tables import console, print_json
from stereometer.errors import ModelError, UsageError
from stereometer.types import (
    Backend,
    CausalTokens,
    Item,
    MaskedTokens,
    Measure,
    Request,
    Score,
    Skip,
    System,
)

SAMPLES = (("cat", 0), ("cat", -1), ("pair", 0))
"""An intrasentence item, an intersentence item and a pair of the starter set."""


def doctor_command(name: str, options: Mapping[str, Any], json: bool) -> None:
    model = api.open_model(name, 0, options)
    if isinstance(model, System):
        raise UsageError(
            f"{name} is a baseline that reads the gold labels. There is nothing to examine in it. Name a model."
        )
    starter = api.open_named("starter")
    samples = [_sample(model, shape, starter.items(shape)[at]) for shape, at in SAMPLES]
    warnings = list(getattr(model, "warnings", []))
    if json:
        print_json(
            {
                "schema": "doctor@1",
                "card": vars(model.card) | {"notes": list(model.card.notes)},
                "warnings": warnings,
                "samples": samples,
            }
        )
        return
    out, card = console(), model.card
    out.print(
        f"[bold]{escape(card.name)}[/]: {card.family}, {card.backend}, {card.dtype}, weights {card.digest[:12]}, tokenizer {card.tokenizer_digest[:12]}"
    )
    for key, value in card.settings.items():
        out.print(f"  {key}: {escape(_in_words(value))}")
    for line in (*card.notes, *(f"warning: {warning}" for warning in warnings)):
        out.print(f"  {escape(line)}")
    if any(
        value is None
        for sample in samples
        for rows in sample["rows"].values()
        for row in rows
        for _, value in row
    ):
        out.print("\nThree items of the starter set. Tokens in brackets are read, not scored.")
    for sample in samples:
        _print_sample(sample)


def _sample(model: Backend, shape: str, item: Item) -> dict[str, Any]:
    for name in catalog.find("benchmark", "starter").measures[shape]:
        try:
            measure: Measure = catalog.find("measure", name)(model, "sound")
            plan = measure.plan(item)
        except (ModelError, Skip):
            continue
        answers = dict(model.answer({one.key: one for asked in plan.values() for one in asked}))
        found = measure.score(
            item, {label: [answers[one.key] for one in asked] for label, asked in plan.items()}
        )
        scores = found.values if isinstance(found, Score) else found
        rows = {
            label: [_row(model, one, answers[one.key].rows[0]) for one in asked]
            for label, asked in plan.items()
        }
        return {
            "item": item.id,
            "measure": measure.name,
            "texts": dict(item.texts),
            "scores": dict(scores),
            "rows": rows,
        }
    return {"item": item.id, "measure": None, "texts": dict(item.texts), "scores": {}, "rows": {}}


def _row(model: Backend, request: Request, row: Mapping[str, Any]) -> list[list[Any]]:
    """Every token with its number, None where it is read and not scored; a text request has one entry for the whole."""
    values = next(iter(row.values()))
    match request:
        case MaskedTokens(ids, steps):
            scored = dict(zip((at for _, at in steps), values, strict=True))
        case CausalTokens(ids, start):
            scored = dict(zip(range(start, len(ids)), values, strict=True))
        case _:
            return [["the text", value] for value in values]
    return [[_token(model, one), scored.get(at)] for at, one in enumerate(ids)]


def _in_words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(
            f"{key} ({_in_words(one)})" if isinstance(one, Mapping) else f"{key} {_in_words(one)}"
            for key, one in value.items()
        )
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _token(model: Backend, number: int) -> str:
    checkpoint = getattr(model, "checkpoint", None)
    return (
        str(number)
        if checkpoint is None
        else str(checkpoint.tokenizer.convert_ids_to_tokens(number))
    )


def _print_sample(sample: Mapping[str, Any]) -> None:
    out = console()
    out.print(
        f"\n[bold]{sample['item']}[/] {sample['measure'] or 'cannot be scored by this model'}"
    )
    for name, text in sample["texts"].items():
        score = f"  score {sample['scores'][name]:.3f}" if name in sample["scores"] else ""
        out.print(f"  {name}: {escape(text)}{score}")
        for row in sample["rows"].get(name, []):
            shown = (
                f"({token})" if value is None else f"{token} {value:.2f}" for token, value in row
            )
            out.print("    " + escape("  ".join(shown)), style="dim")


def model_add_command(name: str, json: bool) -> None:
    folder = catalog.find("model", name).add()
    if json:
        print_json({"schema": "model@1", "name": name, "folder": str(folder)})
    else:
        say(f"{name} is ready in {folder}.")
