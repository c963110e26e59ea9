"""Measure social stereotypes in language models, with intervals, denominators and verdicts."""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from stereometer.core.types import Estimate, Result

if TYPE_CHECKING:
    from stereometer.core.compare import compare
    from stereometer.core.gate.gate import gate
    from stereometer.core.runs.open import open_benchmark
    from stereometer.core.runs.store import load
    from stereometer.core.verbs.run import run
    from stereometer.kinds.traits.abc.items import Choice
    from stereometer.kinds.traits.align.align import align
    from stereometer.kinds.traits.intersect.intersect import intersect
    from stereometer.report import write_report
    from stereometer.wings.asking.ask import ask
    from stereometer.wings.curation.analysis import analyze
    from stereometer.wings.curation.audit import audit
    from stereometer.wings.curation.split import split
    from stereometer.wings.look.published import published
    from stereometer.wings.mitigation.methods.export import export_mitigated
    from stereometer.wings.mitigation.methods.mitigate import mitigate_model as mitigate
    from stereometer.wings.relations.calibrate import calibrate
    from stereometer.wings.relations.ensemble.combine import ensemble
    from stereometer.wings.relations.relate import relate
    from stereometer.wings.replay.runs import replay
    from stereometer.wings.sweep.sweep import sweep

__all__ = [
    "Choice",
    "Estimate",
    "Result",
    "align",
    "analyze",
    "ask",
    "audit",
    "calibrate",
    "compare",
    "ensemble",
    "export_mitigated",
    "gate",
    "intersect",
    "load",
    "mitigate",
    "open_benchmark",
    "published",
    "relate",
    "replay",
    "run",
    "split",
    "sweep",
    "write_report",
]
__version__ = "0.1.0"

_PLACES = {
    "Choice": "kinds.traits.abc.items",
    "align": "kinds.traits.align.align",
    "analyze": "wings.curation.analysis",
    "ask": "wings.asking.ask",
    "audit": "wings.curation.audit",
    "calibrate": "wings.relations.calibrate",
    "compare": "core.compare",
    "ensemble": "wings.relations.ensemble.combine",
    "export_mitigated": "wings.mitigation.methods.export",
    "gate": "core.gate.gate",
    "intersect": "kinds.traits.intersect.intersect",
    "load": "core.runs.store",
    "mitigate": "wings.mitigation.methods.mitigate:mitigate_model",
    "open_benchmark": "core.runs.open",
    "published": "wings.look.published",
    "relate": "wings.relations.relate",
    "replay": "wings.replay.runs",
    "run": "core.verbs.run",
    "split": "wings.curation.split",
    "sweep": "wings.sweep.sweep",
    "write_report": "report",
}

if not TYPE_CHECKING:  # a wing may have been left out, and its verbs with it
    _ROOMS = {name: ".".join(place.split(".")[:2]) for name, place in _PLACES.items()}
    _GONE = {name for name, room in _ROOMS.items() if find_spec(f"stereometer.{room}") is None}
    __all__ = [name for name in __all__ if name not in _GONE]


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> object:
    """Verbs are imported when they are first used: `stereometer --help` loads nothing heavy."""
    if name not in __all__:
        raise AttributeError(f"module 'stereometer' has no attribute {name!r}")
    module, _, attribute = _PLACES[name].partition(":")
    value: object = getattr(import_module(f"stereometer.{module}"), attribute or name)
    return value
