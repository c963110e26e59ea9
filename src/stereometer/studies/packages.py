"""What the pages and the database of a study need, and who installs it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from stereometer.types import packages

NEEDED = "fastapi uvicorn python_multipart itsdangerous sqlalchemy alembic markdown_it rapidfuzz"


def check_packages(find: Callable[[str], object] = find_spec) -> None:
    """Raises where a package is missing, before an import fails on it."""
    packages.check_packages("Studies", NEEDED.split(), "web", find)
