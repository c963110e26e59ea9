"""The pages, their links and anchors, and the generator of the reference."""

from __future__ import annotations

import importlib.util
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    [*DOCS.rglob("*.md"), *(ROOT / f"{n}.md" for n in ("README", "CONTRIBUTING", "CHANGELOG"))]
)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)


@cache
def generator() -> Any:
    """docs/generate.py as a module."""
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["docs_generate"] = module
    spec.loader.exec_module(module)
    return module


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def links(page: Path) -> list[str]:
    """Links to files here, not to the web; code is not read."""
    return [link for link in LINK.findall(CODE.sub("", text_of(page))) if "://" not in link]


def anchors(page: Path) -> set[str]:
    """What the site calls the headings of a page."""
    blocks = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
    return {_slug(title) for title in HEADING.findall(blocks.sub("", text_of(page)))}


def _slug(title: str) -> str:
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
