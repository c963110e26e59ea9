"""serve-model: a model on this machine, over HTTP."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Loading, opening


@command("Models", "serve-model --model smollm2-135m --port 8080")
def serve_model(
    *,
    model: Annotated[str, typer.Option("--model", "-m", help="A causal model.")],
    host: Annotated[
        str, "The address to listen on; other machines reach it only if it is not the loopback."
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")
    ] = 8080,
    loading: Loading,
) -> None:
    """Serve a model on this machine: completions with echo and logprobs, and chat."""
    from stereometer.runs.ask import backend_of
    from stereometer.runs.open import open_model
    from stereometer.serving import ModelServer

    backend = backend_of(open_model(model, 0, opening(loading)))
    with ModelServer(backend, host, port) as server, suppress(KeyboardInterrupt):
        name = backend.card.name
        say(
            f"{name} at {server.url}; use it with --model 'server:{server.url}#{name}'. "
            "Ctrl-C ends it."
        )
        server.serve_forever(poll_interval=0.2)
