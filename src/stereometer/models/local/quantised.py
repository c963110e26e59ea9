"""Checkpoints whose weights have a few bits each: what reads them, and how they compute."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from stereometer.core.errors import ModelError

PACKAGES = {
    "bitsandbytes": ("bitsandbytes",),
    "gptq": ("gptqmodel", "optimum"),
    "awq": ("gptqmodel",),
}
"""What transformers reads each kind with. Others are its own affair: it says what it lacks."""
USUAL_BITS = {"bitsandbytes": 8}
PRECISION = "float16"
"""What they compute in where their configuration does not say."""


@dataclass(frozen=True)
class Quantisation:
    method: str
    bits: int
    dtype: str

    def __str__(self) -> str:
        return f"{self.method}, {self.bits} bits"


def quantisation_of(config: Any) -> Quantisation | None:
    """What a model's configuration says of it."""
    said = getattr(config, "quantization_config", None)
    if said is None:
        return None
    stored: Mapping[str, Any] = said if isinstance(said, Mapping) else said.to_dict()
    four, eight = (bool(stored.get(f"load_in_{bits}bit")) for bits in (4, 8))
    method = "bitsandbytes" if four or eight else str(stored.get("quant_method") or "unknown")
    bits = 4 if four else 8 if eight else stored.get("bits") or stored.get("w_bit") or 0
    dtype = str(getattr(config, "dtype", None) or PRECISION).removeprefix("torch.")
    return Quantisation(method, int(bits) or USUAL_BITS.get(method, 4), dtype)


def check_quantisation(spec: str, found: Quantisation | None) -> None:
    """Raises where a package is missing that reads such weights."""
    needed = PACKAGES.get(found.method, ()) if found else ()
    missing = [name for name in needed if find_spec(name) is None]
    if found and missing:
        are, them = ("are", "them") if missing[1:] else ("is", "it")
        raise ModelError(
            f"{spec} is quantised ({found}), and {' and '.join(missing)} {are} not installed. "
            f"Without {them} its weights cannot be read. `pip install {' '.join(missing)}`, or "
            "name the model it was made of."
        )
