"""serve-model: a model of ours behind the protocol that everybody speaks."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from stereometer.cli.guard import guarded, say
from stereometer.cli.options import AllowPickle, Device, Dtype, Threads, TrustRemoteCode, loading


@guarded
def serve_model(
    model: Annotated[str, typer.Option("--model", "-m", help="A causal model.")],
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen on; others can only reach it if it is not the loopback."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any that is free.")] = 8080,
    device: Device = "cpu",
    dtype: Dtype = "float32",
    threads: Threads = None,
    allow_pickle: AllowPickle = False,
    trust_remote_code: TrustRemoteCode = False,
) -> None:
    """Serve a model on this machine: completions with echo and logprobs, and chat."""
    from stereometer import api, asking
    from stereometer.serving import ModelServer

    options = loading(device, dtype, threads, allow_pickle, trust_remote_code)
    backend = asking.writing(api.open_model(model, 0, options))
    with ModelServer(backend, host, port) as server, suppress(KeyboardInterrupt):
        say(
            f"{backend.card.name} at {server.url}; from here: --model 'server:{server.url}#{backend.card.name}'. Ctrl-C ends it."
        )
        server.serve_forever(poll_interval=0.2)
