"""Optional parts of the package: said before an import fails."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec

from stereometer.core.errors import UsageError


def check_packages(
    who: str, needed: Sequence[str], extra: str, find: Callable[[str], object] = find_spec
) -> None:
    """Raises where a package is missing; `who` needs them, and the part `extra` installs them."""
    missing = [name for name in needed if find(name) is None]
    if missing:
        raise UsageError(
            f"{who} need packages that are not installed: {', '.join(missing)}. They are an "
            f"optional part of the package. From a clone: `pip install '.[{extra}]'`."
        )
