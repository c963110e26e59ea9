"""The site is built strictly, and its pages load nothing from another host."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

pytestmark = pytest.mark.long

LOADS = re.compile(
    r"<(?:script|link|img|iframe|source|video|audio|object|embed)\b[^>]*?"
    r"\b(?:src|href|srcset|data)\s*=\s*[\"']?\s*((?:https?:)?//[^\"'\s>]+)",
    re.IGNORECASE,
)
STYLE_LOADS = re.compile(r"(?:url\(|@import)\s*[\"']?\s*((?:https?:)?//[^\"')\s]+)", re.IGNORECASE)
FETCHES_MORE = re.compile(r'class="[^"]*\b(?:mermaid|glightbox|pyodide)\b')
"""What makes the theme's script load another one from a foreign host."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("zensical") is None:
        pytest.skip("zensical is not installed: pip install --group docs")
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder / "site"


def test_every_page_is_built_and_nothing_else_is_copied(site: Path) -> None:
    pages = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if not (site / page.with_suffix(".html")).exists()] == []
    assert [*site.rglob("*.py"), *site.rglob("*.toml")] == []


def test_pages_and_styles_load_nothing_from_another_host(site: Path) -> None:
    loads: list[tuple[str, str]] = []
    for file in site.rglob("*"):
        pattern = {".html": LOADS, ".css": STYLE_LOADS}.get(file.suffix)
        if pattern:
            text = file.read_text(encoding="utf-8")
            loads += [(file.name, address) for address in pattern.findall(text)]
            loads += [(file.name, mark) for mark in FETCHES_MORE.findall(text)]
    assert loads == []


def test_the_check_would_see_a_foreign_load() -> None:
    assert LOADS.findall('<link rel="stylesheet" href="https://fonts.example/x.css">')
    assert LOADS.findall("<script defer src=//cdn.example/x.js></script>")
    assert STYLE_LOADS.findall("@font-face { src: url('https://fonts.example/x.woff2') }")
    assert not LOADS.findall('<a href="https://pypi.org/project/wordfreq/">wordfreq</a>')


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    handler = functools.partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.mark.browser
def test_a_browser_asks_no_other_host(address: str) -> None:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api")
    asked: list[str] = []
    with playwright.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        for name in ("index.html", "papers/abc.html", "reference/json.html"):
            page.goto(f"{address}/{name}", wait_until="networkidle")
        browser.close()
    assert asked
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
