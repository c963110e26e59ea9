"""The verb `serve-model`."""

from contextlib import suppress
from typing import Annotated, Unpack

from stereometer.core.errors import UsageError
from stereometer.core.options import Loading, Option, verb
from stereometer.core.runs.execute import LOG, Announce
from stereometer.core.runs.measure import backend_of
from stereometer.core.runs.open import open_model


@verb
def serve(
    *,
    model: Annotated[str, Option("A causal model.", flags=("--model", "-m"))],
    host: Annotated[
        str, "The address to listen on; other machines reach it only if it is not the loopback."
    ] = "127.0.0.1",
    port: Annotated[int, Option("The port; 0 takes any that is free.", least=0, most=65535)] = 8080,
    announce: Announce = LOG.warning,
    **loading: Unpack[Loading],
) -> None:
    """Serve a model on this machine: completions with echo and logprobs, and chat."""
    try:
        from stereometer.wings.serving.server import ModelServer
    except ModuleNotFoundError as error:
        raise UsageError(
            f"serve-model needs {error.name}. It is in the optional part `serve` of the package. "
            "From a clone: `pip install '.[serve]'`."
        ) from None
    backend = backend_of(open_model(model, 0, loading))
    server = ModelServer(backend, host, port)
    name, url = backend.card.name, server.url
    announce(f"{name} at {url}; use it with --model 'server:{url}#{name}'. Ctrl-C ends it.")
    with suppress(KeyboardInterrupt):
        server.serve()
