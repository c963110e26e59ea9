"""`BASE+FILE`: how a model's spec names a mitigation."""

from __future__ import annotations

from pathlib import Path

from stereometer.errors import ModelError

SIGN = "+"
SUFFIX = ".safetensors"
"""Of a mitigation's file; no part of what a model with it is called."""


def parts(spec: str) -> tuple[str, Path | None]:
    """The base and the mitigation's path; a spec that is a path itself has no mitigation.

    The longest part after a sign that exists is the mitigation: names of files may hold the sign.
    """
    if SIGN not in spec or Path(spec).exists():
        return spec, None
    places = [at for at, sign in enumerate(spec) if sign == SIGN]
    for at in places:
        path = Path(spec[at + 1 :])
        if spec[at + 1 :] and path.exists():
            return spec[:at], path
    return spec[: places[-1]], Path(spec[places[-1] + 1 :])


def split(spec: str) -> tuple[str, Path | None]:
    """As `parts`; raises where the mitigation is missing, or stands alone."""
    base, path = parts(spec)
    if path is None:
        return base, None
    if not base:
        raise ModelError(
            f"{spec} names a mitigation and no model. A mitigation changes a model. Write the "
            "model before the sign: MODEL+FILE."
        )
    if not path.name:
        raise ModelError(
            f"{spec} names no mitigation after the +. Without one, the numbers would be those of "
            "the unchanged model. Write MODEL+FILE."
        )
    if not path.exists():
        raise ModelError(
            f"The mitigation '{path}' of {base} does not exist. Without it, the numbers would be "
            "those of the unchanged model. Check the path after the +."
        )
    return base, path
