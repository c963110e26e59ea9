"""mitigate leace ...: mitigations for a model, with their controls, and the folder of one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import InFullPrecision, Json, opening

Base = Annotated[str, typer.Option("--model", "-m", help="The model that is changed.")]
Words = Annotated[
    str, typer.Option(help="What is to be taken away: gender, race, or a file of your own.")
]
Text = Annotated[
    Path,
    typer.Option(
        help="Articles with blank lines between them, JSON lines with `text`, "
        "or WikiExtractor's folder."
    ),
]
File = Annotated[Path, typer.Option(help="The mitigation's file, which ends in .safetensors.")]
VARIANT = "`sound`, or `paper` for what the authors' code computes."


@dataclass(frozen=True)
class Fitting:
    """What every method that is fitted has."""

    sentences: Annotated[
        int, "Fit on at most this many sentences of each class, drawn at random."
    ] = 1500
    seed: Annotated[int, "Seed of every random draw."] = 0
    control: Annotated[
        bool, typer.Option(help="Also make the control: as many directions, but any.")
    ] = True


@command(
    "Models",
    "mitigate leace -m smollm2-135m --attribute gender --text wiki.jsonl --out leace.safetensors",
)
def leace(
    *,
    model: Base,
    attribute: Words,
    text: Text,
    out: File,
    fitting: Fitting,
    loading: InFullPrecision,
    json: Json = False,
) -> None:
    """Take away what a linear classifier could read, at the least change (LEACE)."""
    _mitigate("leace", model, attribute, text, out, "sound", fitting, loading, {}, json)


def _mitigate(
    method: str,
    model: str,
    attribute: str,
    text: Path,
    out: Path,
    variant: str,
    fitting: Fitting,
    loading: InFullPrecision,
    options: dict[str, Any],
    json: bool,
) -> None:
    from stereometer.training.mitigation.verb import Wish, mitigate

    wish = Wish(
        method,
        model,
        attribute,
        text,
        out,
        variant,
        **vars(fitting),
        loading=opening(loading, dtype="float32"),
        options=options,
    )
    started = perf_counter()
    with render.training() as progress:
        cards = mitigate(wish, progress)
    if json:
        written = {"file": str(out), "cards": [card.as_json() for card in cards]}
        render.print_json({"schema": "mitigations@1", **written})
    else:
        for card in cards:
            _print(card)
        typer.echo(f"use it: --model {model} --model {model}+{out}")
    say(f"Made in {perf_counter() - started:.0f} s.")


def _print(card: Any) -> None:
    name = f"control ({card.method})" if card.control_of else f"{card.method} ({card.variant})"
    counts = ", ".join(f"{label} {count}" for label, count in card.sentences.items())
    typer.echo(f"{name} for {card.base}: {card.attribute}, rank {card.rank}; sentences: {counts}")
    if card.probe is not None:
        before, after = (_value(part, " %") for part in (card.probe.before, card.probe.after))
        typer.echo(
            f"  held-out probe accuracy {before} before, {after} after (chance "
            f"{card.probe.chance:.0f} %), on {card.probe.after.n} sentences"
        )
    if card.perplexity is not None:
        found = card.perplexity
        typer.echo(
            f"  perplexity {found.before:.2f} before, {found.after:.2f} after, ratio "
            f"{found.ratio.value:.3f} [{found.ratio.low:.3f}, {found.ratio.high:.3f}] on "
            f"{found.ratio.n} passages"
        )


def _value(measured: Any, unit: str) -> str:
    return f"{measured.value:.1f}{unit} [{measured.low:.1f}, {measured.high:.1f}]"
