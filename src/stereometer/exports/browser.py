"""Charts drawn by a Chromium on this machine: all as SVG in one start, then each as PNG and PDF.

The page is a file of ours without anything from outside, and the browser is given no network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from html import unescape
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

from stereometer.errors import StereometerError
from stereometer.report.page import asset, libraries, safe_json, script
from stereometer.show.figure import Spec

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE = 300
"""Seconds after which a browser that says nothing is given up."""
QUIET = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--virtual-time-budget=60000",
)
DRAW = """
const specs = JSON.parse(document.getElementById("specs").textContent);
async function draw(name, spec) {
  const runtime = vega.parse(vegaLite.compile(spec).spec, null, { ast: true });
  const view = new vega.View(runtime, { expr: vega.expressionInterpreter, renderer: "none" });
  const svg = standalone(await view.toSVG());
  const place = Object.assign(document.createElement("pre"), { id: name, textContent: svg });
  document.body.append(place);
}
(async () => { for (const [name, spec] of Object.entries(specs)) await draw(name, spec); })();
"""
DRAWN = re.compile(r'<pre id="([^"]+)">(.*?)</pre>', re.DOTALL)
SIZE = re.compile(r'<svg[^>]*? width="([\d.]+)" height="([\d.]+)"')


def browser() -> str | None:
    """The program, where there is one."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def drawn(program: str, specs: Mapping[str, Spec]) -> dict[str, str]:
    """SVG by name."""
    with TemporaryDirectory() as folder:
        page = Path(folder) / "charts.html"
        page.write_text(_page(specs), encoding="utf-8")
        said = _start(program, folder, "--dump-dom", page.as_uri())
    pictures = {name: unescape(svg) for name, svg in DRAWN.findall(said)}
    if lacking := specs.keys() - pictures.keys():
        raise StereometerError(
            f"{program} drew {len(pictures)} of {len(specs)} charts and not {min(lacking)}. It may "
            "have been stopped, or be too old. Try again, or draw the .vl.json files elsewhere."
        )
    return pictures


def _page(specs: Mapping[str, Spec]) -> str:
    scripts = "".join(
        f"<script>{part.text}</script>"
        for part in (libraries(), script(asset("assets/downloads.js"), DRAW))
    )
    data = f'<script id="specs" type="application/json">{safe_json(specs)}</script>'
    style = f"<style>{asset('assets/report.css')}</style>"
    return f'<!doctype html><meta charset="utf-8">{style}<body>{data}{scripts}</body>'


def printed(program: str, svg: str, png: Path, pdf: Path) -> list[Path]:
    """The picture as PNG, at twice its size, and as a PDF page of its size."""
    size = SIZE.search(svg)
    width, height = map(float, size.groups() if size else ("640", "480"))
    style = f"@page{{size:{width}px {height}px;margin:0}}body{{margin:0}}svg{{display:block}}"
    with TemporaryDirectory() as folder:
        page = Path(folder) / "picture.html"
        page.write_text(f"<!doctype html><style>{style}</style>{svg}", encoding="utf-8")
        _start(
            program,
            folder,
            f"--screenshot={png.resolve()}",
            f"--window-size={ceil(width)},{ceil(height)}",
            "--force-device-scale-factor=2",
            "--hide-scrollbars",
            f"--print-to-pdf={pdf.resolve()}",
            "--no-pdf-header-footer",
            page.as_uri(),
        )
    return [path for path in (png, pdf) if path.exists()]


def _start(program: str, folder: str, *arguments: str) -> str:
    root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium has none for root
    command = [program, *QUIET, *root, f"--user-data-dir={folder}/profile", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise StereometerError(
            f"{program} could not draw: {error}. Pictures need a Chromium that starts. Update it, "
            "or draw the .vl.json files elsewhere."
        ) from None
    return done.stdout.decode("utf-8", "replace")
