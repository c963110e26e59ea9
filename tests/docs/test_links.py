"""Every link leads to a page, a heading or a picture, and every page can be reached."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import DOCS, PAGES, ROOT, anchors, links, text_of


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name} links to {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name} links to {link}"


def test_every_page_is_in_the_navigation() -> None:
    site = tomllib.loads(text_of(ROOT / "zensical.toml"))["project"]
    listed = list(_pages(site["nav"]))
    assert sorted(listed) == sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md"))


def _pages(entry: Any) -> Iterator[str]:
    if isinstance(entry, str):
        yield entry
    else:
        for part in entry.values() if isinstance(entry, dict) else entry:
            yield from _pages(part)


def test_pages_that_the_code_names_exist() -> None:
    files = [file for room in ("src", "bench", "tests") for file in (ROOT / room).rglob("*.py")]
    named = {
        path
        for file in files
        if file != Path(__file__)
        for path in re.findall(r"\bdocs/[\w/.-]+\.md\b", text_of(file))
    }
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_decisions_are_numbered_without_a_gap() -> None:
    records = sorted((DOCS / "decisions").glob("0*.md"))
    assert [int(page.name[:4]) for page in records] == list(range(1, len(records) + 1))
    index = text_of(DOCS / "decisions" / "index.md")
    assert [page.name for page in records if page.name not in index] == []


def test_every_file_that_a_walk_names_exists() -> None:
    named = re.findall(r"`([\w./]+(?:\.py|\.toml|/))`", text_of(DOCS / "walks.md"))
    files = [f"/{path.relative_to(ROOT)}" for path in (ROOT / "src").rglob("*")]
    assert [
        name for name in named if not any(f.endswith(f"/{name.rstrip('/')}") for f in files)
    ] == []
