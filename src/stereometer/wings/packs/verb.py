"""The verb `pack check`: whether a folder is a pack, and what comes out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from stereometer.core import catalog
from stereometer.core.options import Data, verb
from stereometer.wings.packs.source import PackCheck
from stereometer.wings.packs.source import check as check_source


@verb
def check(
    folder: Annotated[str | Path, "A folder with pack.toml, or the name of a pack."],
    *,
    data: Data = None,
) -> PackCheck:
    """Check a pack, and read its data if they are on this machine."""
    return check_source(catalog.pack(str(folder)), Path(data) if data else None)
