"""train nsp: next-sentence heads."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import InFullPrecision, Json, opening


@dataclass(frozen=True)
class Training:
    """The recipe; epochs depend on what is trained."""

    pairs: Annotated[int, "Train on at most this many pairs, drawn at random."] = 20_000
    pooling: Annotated[
        str,
        "first, last, mean or parts (each sentence's mean, their product and distance); "
        "by default what suits the model.",
    ] = ""
    layer: Annotated[int, "The layer whose output is pooled, from 1; 0 is the last."] = 0
    hidden: Annotated[int, typer.Option(min=1, help="Width of the head's hidden layer.")] = 256
    epochs: Annotated[
        int | None,
        typer.Option(min=1, help="Times through the pairs; 20 on a frozen trunk, 2 with --full."),
    ] = None
    held_out: Annotated[float, "Share of article groups held out for testing."] = 0.1
    full: Annotated[bool, "Train the trunk too."] = False
    trunk_rate: Annotated[float, "Learning rate of the trunk with --full."] = 2e-5
    accumulate: Annotated[
        int, typer.Option(min=1, help="Batches of 80 pairs whose gradients are added, with --full.")
    ] = 1
    seed: Annotated[int, "Seed of every random draw."] = 0


@command("Models", "train nsp -m gpt2 --text articles.txt --out gpt2-head")
def nsp(
    *,
    model: Annotated[str, typer.Option("--model", "-m", help="The model the head is for.")],
    text: Annotated[
        Path,
        typer.Option(
            help="Articles with blank lines between them, JSON lines with `text`, "
            "or WikiExtractor's folder."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The head's file.")],
    training: Training,
    loading: InFullPrecision,
    json: Json = False,
) -> None:
    """Train a head that says whether one sentence follows another. A stopped run can go on."""
    from stereometer.runs.open import open_model
    from stereometer.training.recipe import Recipe, check_order

    epochs = training.epochs or (2 if training.full else 20)
    recipe = Recipe(**asdict(replace(training, epochs=epochs)))
    check_order(recipe, out)
    backend: Any = open_model(model, training.seed, opening(loading, dtype="float32"))
    from stereometer.training.next_sentence import train
    from stereometer.training.recipe import with_states

    started = perf_counter()
    with render.training() as progress:
        card = train(with_states(backend), text, out, recipe, progress)
    if json:
        render.print_json({"schema": "head@1", "file": str(out), "card": vars(card)})
    else:
        _print(card, out)
    say(f"Trained in {perf_counter() - started:.0f} s.")


def _print(card: Any, out: Path) -> None:
    accuracy, trained = card.accuracy, card.training
    value, low, high = (100 * accuracy[name] for name in ("value", "low", "high"))
    typer.echo(
        f"{out}: next-sentence head for {card.base}, pooling {card.pooling}\n"
        f"held-out accuracy {value:.1f} % [{low:.1f}, {high:.1f}] "
        f"on {accuracy['n']} pairs of {accuracy['groups']} groups of articles\n"
        f"trained on {trained['training_pairs']} pairs; {trained['training_articles']} articles "
        f"in {trained['training_groups']} groups, {trained['held_out_articles']} in "
        f"{trained['held_out_groups']} held out; {trained['too_long']} pairs were longer than "
        f"{trained['longest']} tokens"
    )
