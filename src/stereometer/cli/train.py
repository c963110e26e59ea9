"""train nsp and train sentiment: next-sentence heads and sentiment classifiers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from stereometer.cli import render
from stereometer.cli.command import TYPED, command
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


RecipeName = Annotated[str, "`paper`: what the StereoSet paper prints. Other options change it."]
"""What is not set is taken from it."""


def _typed(options: Any) -> dict[str, Any]:
    """What a user set, also where it is the default: a recipe has others."""
    return {name: value for name, value in asdict(options).items() if name in TYPED.get()}


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
    recipe: RecipeName = "",
    training: Training,
    loading: InFullPrecision,
    json: Json = False,
) -> None:
    """Train a head that says whether one sentence follows another. A stopped run can resume."""
    from stereometer.runs.open import open_model
    from stereometer.training.recipe import check_order, recipe_for

    chosen = recipe_for(recipe, _typed(training))
    check_order(chosen, out)
    backend: Any = open_model(model, chosen.seed, opening(loading, dtype="float32"))
    from stereometer.training.next_sentence import train
    from stereometer.training.recipe import trainable

    started = perf_counter()
    with render.training() as progress:
        card = train(trainable(backend), text, out, chosen, progress)
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
    for note in trained["notes"]:
        typer.echo(note)


@dataclass(frozen=True)
class Tuned:
    """How a classifier is trained."""

    epochs: Annotated[int, typer.Option(min=1, help="Times through the reviews.")] = 2
    rate: Annotated[float, "Learning rate."] = 2e-5
    held_out: Annotated[float, "Share of reviews held out for testing."] = 0.1
    seed: Annotated[int, "Seed of every random draw."] = 0


@command("Models", "train sentiment -m bert-base-cased --reviews reviews.csv --out my-sentiment")
def sentiment(
    *,
    model: Annotated[str, typer.Option("--model", "-m", help="The model that is fine-tuned.")],
    reviews: Annotated[
        Path,
        typer.Option(
            help="A table or JSON lines with `text` and `label` (positive or negative), or a "
            "folder of text files in `pos` and `neg`."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The classifier's folder.")],
    recipe: RecipeName = "",
    tuned: Tuned,
    loading: InFullPrecision,
    json: Json = False,
) -> None:
    """Fine-tune a sentiment classifier on reviews; `sentiment:FOLDER` is then a model."""
    from dataclasses import replace

    from stereometer.errors import UnknownName
    from stereometer.runs.open import open_model
    from stereometer.training.recipe import trainable

    backend: Any = open_model(model, tuned.seed, opening(loading, dtype="float32"))
    from stereometer.training.sentiment import RECIPES, Tuning, train

    if recipe and recipe not in RECIPES:
        raise UnknownName("recipe", recipe, RECIPES)
    tuning = replace(RECIPES.get(recipe, Tuning()), **_typed(tuned))
    with render.training() as progress:
        record = train(trainable(backend), reviews, out, tuning, progress)
    if json:
        render.print_json({"schema": "classifier@1", "folder": str(out), "training": record})
        return
    accuracy = record["accuracy"]
    value, low, high = (100 * accuracy[name] for name in ("value", "low", "high"))
    typer.echo(
        f"{out}: sentiment classifier from {record['base']}, trained on {record['reviews']} "
        f"reviews\nheld-out accuracy {value:.1f} % [{low:.1f}, {high:.1f}] on {accuracy['n']} "
        f"reviews\nuse it: --model sentiment:{out}"
    )
