"""What the pages and the database of a study need, and who installs it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from stereometer.errors import UsageError

NEEDED = "fastapi uvicorn python_multipart itsdangerous sqlalchemy alembic markdown_it rapidfuzz"


def check_packages(find: Callable[[str], object] = find_spec) -> None:
    """Raises where a package is missing, before an import fails on it."""
    missing = [name for name in NEEDED.split() if find(name) is None]
    if missing:
        raise UsageError(
            f"Studies need packages that are not installed: {', '.join(missing)}. They are an "
            "optional part of the package. From a clone: `pip install '.[web]'`."
        )
