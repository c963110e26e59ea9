"""Charts drawn by vl-convert where it is installed, or by a page that draws itself.

Neither needs the network.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec

from stereometer.exports.pdf import reproducible
from stereometer.report.page import asset, libraries, safe_json, script
from stereometer.show.figure import Spec

IDS = re.compile(r"""(?<=["#])(clip|gradient_)\d+(?=[")])""")
DRAW = """
const specs = JSON.parse(document.getElementById("specs").textContent);
async function draw(name, spec) {
  const runtime = vega.parse(vegaLite.compile(spec).spec, null, { ast: true });
  const view = new vega.View(runtime, { expr: vega.expressionInterpreter, renderer: "none" });
  const svg = standalone(await view.toSVG());
  const place = Object.assign(document.createElement("pre"), { id: name, innerHTML: svg });
  document.body.append(place);
}
(async () => { for (const [name, spec] of Object.entries(specs)) await draw(name, spec); })();
"""


def can_convert() -> bool:
    return find_spec("vl_convert") is not None


def svgs(specs: Mapping[str, Spec]) -> dict[str, str]:
    """By name; nothing where vl-convert is not installed."""
    return {name: _svg(spec) for name, spec in specs.items()} if can_convert() else {}


def _svg(spec: Spec) -> str:
    """A specification needs nothing from outside, and nothing may be loaded. The converter counts
    the ids in all pictures that it draws; here each picture has its own."""
    import vl_convert

    svg, known = str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])), dict[str, str]()
    return IDS.sub(lambda id_: known.setdefault(id_[0], f"{id_[1]}{len(known)}"), svg)


def printed(svg: str) -> dict[str, bytes]:
    """The picture as PNG, at twice its size, and as a PDF page of its size, by ending."""
    import vl_convert

    return {
        "png": vl_convert.svg_to_png(svg, scale=2),
        "pdf": reproducible(vl_convert.svg_to_pdf(svg)),
    }


def page_of(specs: Mapping[str, Spec]) -> str:
    """A page that draws itself."""
    scripts = "".join(
        f"<script>{part.text}</script>"
        for part in (libraries(), script(asset("assets/downloads.js"), DRAW))
    )
    data = f'<script id="specs" type="application/json">{safe_json(specs)}</script>'
    style = f"<style>{asset('assets/report.css')}</style>"
    return f'<!doctype html><meta charset="utf-8">{style}<body>{data}{scripts}</body>'
