"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import typer

Json = Annotated[
    bool, typer.Option("--json", help="Print JSON on standard output and nothing else.")
]
Variant = Annotated[
    str, typer.Option(help="`sound` (default) or `paper`, what the authors' code computes.")
]
Seed = Annotated[int, typer.Option(help="Seed of every random draw.")]
Resamples = Annotated[int, typer.Option(help="Bootstrap resamples.")]
Coverage = Annotated[
    float, typer.Option(help="Share of items that must be answered before a score is printed.")
]
Data = Annotated[
    Path | None,
    typer.Option(
        help="The data file or folder; otherwise STEREOMETER_DATA, then the user data folder."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        help="Folder of the run; by default stereometer-runs/<benchmark>-<model>-<digest>."
    ),
]
Require = Annotated[
    list[str] | None,
    typer.Option(help="A bar for an overall value, such as 'icat>=70'; exit 5 where it is missed."),
]
MeasureOption = Annotated[
    str | None,
    typer.Option(help="Name the measure that made the scores, to compare them with runs of it."),
]
Device = Annotated[str, typer.Option(help="Where a model runs: cpu, cuda, mps ...")]
Dtype = Annotated[str, typer.Option(help="float32 unless asked; less is labelled in the result.")]
Threads = Annotated[Optional[int], typer.Option(min=1, help="Threads of a model on the CPU.")]  # noqa: UP045
AllowPickle = Annotated[
    bool,
    typer.Option(
        "--allow-pickle",
        help="Also load weights that are not safetensors or GGUF; they can run code.",
    ),
]
TrustRemoteCode = Annotated[
    bool, typer.Option("--trust-remote-code", help="Run code that comes with the model.")
]
NegativeLabel = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(
        help="The negative label of a `sentiment:MODEL`, where its configuration does not say."
    ),
]


def loading(
    device: str, dtype: str, threads: int | None, allow_pickle: bool, trust_remote_code: bool
) -> dict[str, Any]:
    """How a model on this machine is loaded, as `open_model` takes it."""
    return {
        "device": device,
        "dtype": dtype,
        "threads": threads,
        "allow_pickle": allow_pickle,
        "trust_remote_code": trust_remote_code,
    }


def asked_of(
    budget: str | None, price: str | None, in_flight: int, timeout: float
) -> dict[str, Any]:
    """How a server is asked, as `open_model` takes it."""
    return {"budget": budget, "price": price, "in_flight": in_flight, "timeout": timeout}
