"""Teaching a model what a measure needs: next-sentence heads."""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from stereometer.cli.guard import guarded, say
from stereometer.cli.options import (
    AllowPickle,
    Device,
    Json,
    Seed,
    Threads,
    TrustRemoteCode,
    loading,
)

train_app = typer.Typer(help="Train what a measure needs of a model.", no_args_is_help=True)


@train_app.callback()
def root() -> None:
    """Keeps `nsp` a command of its own while it is the only one."""


@train_app.command()
@guarded
def nsp(
    model: Annotated[str, typer.Option("--model", "-m", help="The model the head is for.")],
    text: Annotated[
        Path,
        typer.Option(
            help="Blank lines between articles, JSON lines with `text`, or WikiExtractor's folder."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The head's file.")],
    pairs: Annotated[
        int, typer.Option(help="At most this many pairs to train on, drawn by lot.")
    ] = 20_000,
    pooling: Annotated[
        str,
        typer.Option(
            help="first, last, mean or parts (each sentence's mean, their product and distance); by default as suits the model."
        ),
    ] = "",
    layer: Annotated[int, typer.Option(help="Whose output is pooled, from 1; 0 is the last.")] = 0,
    hidden: Annotated[int, typer.Option(min=1, help="Width of the head's hidden layer.")] = 256,
    epochs: Annotated[
        int | None,
        typer.Option(min=1, help="Times through the pairs; 20 on a frozen trunk, 2 with --full."),
    ] = None,
    held_out: Annotated[
        float, typer.Option(help="Share of article groups kept for judging.")
    ] = 0.1,
    full: Annotated[bool, typer.Option("--full", help="Train the trunk too.")] = False,
    trunk_rate: Annotated[
        float, typer.Option(help="Learning rate of the trunk with --full.")
    ] = 2e-5,
    accumulate: Annotated[
        int, typer.Option(min=1, help="Batches of 80 pairs whose gradients are added, with --full.")
    ] = 1,
    seed: Seed = 0,
    device: Device = "cpu",
    threads: Threads = None,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
    json: Json = False,
) -> None:
    """Train a head that says whether one sentence follows another. A run that was stopped goes on where it was."""
    from stereometer import api
    from stereometer.errors import UsageError
    from stereometer.files import to_json
    from stereometer.training.recipe import Recipe, check_order

    recipe = Recipe(
        pooling=pooling, layer=layer, pairs=pairs, hidden=hidden, epochs=epochs or (2 if full else 20), held_out=held_out,
        full=full, trunk_rate=trunk_rate, accumulate=accumulate, seed=seed,
    )  # fmt: skip
    check_order(recipe, out)
    backend: Any = api.open_model(
        model, seed, loading(device, "float32", threads, allow_pickle, trust_remote_code)
    )
    if not hasattr(backend, "split"):
        raise UsageError(
            f"{model} has no states that a head could be trained on. It is a baseline. Name a language model."
        )
    from stereometer.training.next_sentence import train

    started = perf_counter()
    with _bar() as progress:
        card = train(backend, text, out, recipe, progress)
    if json:
        typer.echo(to_json({"schema": "head@1", "file": str(out), "card": vars(card)}))
    else:
        _print(card, out)
    say(f"Trained in {perf_counter() - started:.0f} s.")


class _bar:
    """A line that fills, with loss and accuracy; nothing where nobody looks."""

    def __enter__(self) -> Any:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[how]}"),
        )
        self._progress = Progress(
            *columns, console=Console(stderr=True), disable=not sys.stderr.isatty(), transient=True
        )
        self._progress.start()
        self._tasks: dict[str, Any] = {}
        return self._told

    def _told(self, what: str, done: int, total: int, how: str) -> None:
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(what, total=total, how=how)
        self._progress.update(self._tasks[what], completed=done, how=how)

    def __exit__(self, *error: object) -> None:
        self._progress.stop()


def _print(card: Any, out: Path) -> None:
    judged, trained = card.accuracy, card.training
    typer.echo(
        f"{out}: next-sentence head for {card.base}, pooling {card.pooling}\n"
        f"held-out accuracy {100 * judged['value']:.1f} % [{100 * judged['low']:.1f}, {100 * judged['high']:.1f}] "
        f"on {judged['n']} pairs of {judged['groups']} groups of articles\n"
        f"trained on {trained['training_pairs']} pairs; {trained['training_articles']} articles in {trained['training_groups']} groups, "
        f"{trained['held_out_articles']} in {trained['held_out_groups']} held out; {trained['too_long']} pairs were longer than {trained['longest']} tokens"
    )
