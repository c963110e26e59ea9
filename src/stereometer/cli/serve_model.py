"""serve-model: a model on this machine, over HTTP."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

import typer

from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Loading, opening
from stereometer.errors import UsageError


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

    try:
        from stereometer.serving import ModelServer
    except ModuleNotFoundError as error:
        raise UsageError(
            f"serve-model needs {error.name}. It is in the optional part `serve` of the package. "
            "From a clone: `pip install '.[serve]'`."
        ) from None
    backend = backend_of(open_model(model, 0, opening(loading)))
    server = ModelServer(backend, host, port)
    name = backend.card.name
    say(
        f"{name} at {server.url}; use it with --model 'server:{server.url}#{name}'. Ctrl-C ends it."
    )
    with suppress(KeyboardInterrupt):
        server.serve()
