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
from stereometer.show.numbers import listed

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
Measured = Annotated[
    Path | None,
    typer.Option("--text", help="What probes and perplexity are measured on; nothing is fitted."),
]
File = Annotated[Path, typer.Option(help="The mitigation's file, which ends in .safetensors.")]
Variant = Annotated[str, "`sound`, or `paper`, which follows the code of Meade et al. 2022."]


@dataclass(frozen=True)
class Making:
    """What every method has."""

    seed: Annotated[int, "Seed of every random draw."] = 0
    control: Annotated[bool, typer.Option(help="Also make the control to compare it with.")] = True
    against: Annotated[
        list[Path] | None,
        "A file of items of your own that the text must share no sentence with, besides the "
        "benchmarks on this machine; may be repeated.",
    ] = None
    states: Annotated[
        Path | None,
        "Keep the model's states in this folder, to reuse for other methods or after a stop.",
    ] = None


@dataclass(frozen=True)
class Fitting(Making):
    """What every method that is fitted has."""

    sentences: Annotated[
        int, "Fit on at most this many sentences of each class, drawn at random."
    ] = 1000


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
    """Remove what a linear classifier could read, with the smallest possible change (LEACE)."""
    _mitigate("leace", model, attribute, text, out, "sound", fitting, loading, {}, json)


@command("Models", "mitigate inlp -m gpt2 --attribute gender --text wiki.jsonl --out m.safetensors")
def inlp(
    *,
    model: Base,
    attribute: Words,
    text: Text,
    out: File,
    variant: Variant = "sound",
    rounds: Annotated[
        int,
        typer.Option(
            help="Number of classifiers, one after another; by default 80 for `paper` and at most "
            "40 for `sound`.",
            show_default=False,
        ),
    ] = 0,
    fitting: Fitting,
    loading: InFullPrecision,
    json: Json = False,
) -> None:
    """Remove what linear classifiers read, one after another (INLP)."""
    options = {"rounds": rounds}
    _mitigate("inlp", model, attribute, text, out, variant, fitting, loading, options, json)


@command(
    "Models",
    "mitigate sentence-debias -m gpt2 --attribute gender --text wiki.jsonl --out m.safetensors",
)
def sentence_debias(
    *,
    model: Base,
    attribute: Words,
    text: Text,
    out: File,
    variant: Variant = "sound",
    components: Annotated[int, "Directions that are removed."] = 1,
    fitting: Fitting,
    loading: InFullPrecision,
    json: Json = False,
) -> None:
    """Remove the directions in which counterfactuals differ most (SentenceDebias)."""
    options = {"components": components}
    name = "sentence-debias"
    _mitigate(name, model, attribute, text, out, variant, fitting, loading, options, json)


@command("Models", "mitigate self-debias -m gpt2 --attribute gender --out m.safetensors")
def self_debias(
    *,
    model: Base,
    attribute: Words,
    text: Measured = None,
    out: File,
    prompt: Annotated[
        str, "What is put before a text; by default our prompt for the attribute."
    ] = "",
    decay: Annotated[
        float, "lambda: how fast a word's weight falls as the prompt makes the word likelier."
    ] = 50.0,
    eps: Annotated[float, "The least weight of a word."] = 0.01,
    making: Making,
    loading: InFullPrecision,
    json: Json = False,
) -> None:
    """Lower the probability of words that a prompt for undesired text makes likelier
    (Self-Debias)."""
    options = {"prompt": prompt, "decay": decay, "eps": eps}
    name = "self-debias"
    _mitigate(name, model, attribute, text, out, "sound", making, loading, options, json)


@command("Models", "mitigate cda -m gpt2 --attribute gender --text wiki.jsonl --out FOLDER")
def cda(
    *,
    model: Base,
    attribute: Words,
    text: Text,
    out: Annotated[Path, typer.Option(help="A new folder for the adapter.")],
    dropout: Annotated[
        float | None, "Use the Dropout method instead: no swaps, and this dropout rate."
    ] = None,
    tokens: Annotated[int, "Train on at most this many tokens."] = 300_000,
    rank: Annotated[int, "Rank of the change to each linear layer."] = 8,
    rate: Annotated[float, "The learning rate."] = 3e-4,
    fitting: Fitting,
    loading: InFullPrecision,
    json: Json = False,
) -> None:
    """Fine-tune on sentences and their counterfactuals (CDA, as LoRA)."""
    options = {"dropout": dropout, "tokens": tokens, "rank": rank, "rate": rate}
    _mitigate("cda", model, attribute, text, out, "sound", fitting, loading, options, json)


@command("Models", "mitigate export smollm2-135m+leace.safetensors --out smollm2-leace")
def export(
    *,
    model: Annotated[str, "A model with a mitigation: MODEL+FILE."],
    out: Annotated[Path, typer.Option(help="The model's folder, which must be new.")],
    loading: InFullPrecision,
    json: Json = False,
) -> None:
    """Write a mitigated model as an ordinary model folder."""
    from stereometer.training.mitigation.export import export as exported

    done = exported(model, out, opening(loading, dtype="float32"))
    if json:
        record = {"folder": str(done.folder), "weights": done.weights, "notes": list(done.notes)}
        render.print_json({"schema": "mitigation-export@1", **record, "card": done.card.as_json()})
        return
    typer.echo(f"{done.folder}: {done.card.base} with {done.card.method}")
    for note in done.notes:
        typer.echo(note)


def _mitigate(
    method: str,
    model: str,
    attribute: str,
    text: Path | None,
    out: Path,
    variant: str,
    making: Making,
    loading: InFullPrecision,
    options: dict[str, Any],
    json: bool,
) -> None:
    from stereometer.training.mitigation.mitigate import Wish, mitigate

    wish = Wish(
        method,
        model,
        attribute,
        text,
        out,
        variant,
        **vars(making) | {"against": tuple(making.against or ())},
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
            print_card(card)
        beside = [out.with_name(card.control) for card in cards if card.control]
        changed = "".join(f" --model {model}+{place}" for place in (out, *beside))
        typer.echo(f"use it: --model {model}{changed}")
    say(f"Made in {perf_counter() - started:.0f} s.")


def print_card(card: Any) -> None:
    name = f"control ({card.method})" if card.control_of else f"{card.method} ({card.variant})"
    render.line(f"{name} for {card.base}: {card.attribute}, {_fitted(card)}")
    if card.probe is not None:
        before, after = (_value(part, " %") for part in (card.probe.before, card.probe.after))
        render.line(
            f"  held-out probe accuracy {before} before, {after} after (chance "
            f"{card.probe.chance:.0f} %), on {card.probe.after.n} sentences"
        )
    if card.leaks and not card.control_of:
        render.line(
            f"  the text shares no sentence with {listed(list(card.leaks))}; other items were not "
            "looked at (--against FILE)"
        )
    if card.earlier is not None and not card.control_of:
        earlier, layer = _value(card.earlier.after, " %"), card.earlier.layer
        render.line(f"  halfway up, at layer {layer}: {earlier} after")
    if card.perplexity is not None:
        cost, ratio = card.perplexity, card.perplexity.ratio
        render.line(
            f"  {cost.name} {cost.before:.2f} before, {cost.after:.2f} after, ratio "
            f"{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}] on {ratio.n} sentences"
        )


def _fitted(card: Any) -> str:
    """What it was fitted on, or the prompt of one that is not fitted."""
    if card.rank is None:
        return f"prompt: {card.settings.get('prompt', '')}"
    counts = ", ".join(f"{label} {count}" for label, count in card.sentences.items())
    return f"rank {card.rank}; sentences: {counts}"


def _value(measured: Any, unit: str) -> str:
    return f"{measured.value:.1f}{unit} [{measured.low:.1f}, {measured.high:.1f}]"
