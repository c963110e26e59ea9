"""Charts drawn as SVG without a browser, by vl-convert where it is installed."""

from __future__ import annotations

from importlib.util import find_spec

from stereometer.show.figure import Spec


def can_convert() -> bool:
    return find_spec("vl_convert") is not None


def converted(spec: Spec) -> str:
    """A specification needs nothing from outside, and nothing may be loaded."""
    import vl_convert

    return str(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]))
