"""Measure social stereotypes in language models, with intervals, denominators and verdicts."""

from importlib import import_module
from typing import TYPE_CHECKING

from stereometer.types import Estimate, Result

if TYPE_CHECKING:
    from stereometer.benchmarks.abc.items import Choice
    from stereometer.benchmarks.published import published
    from stereometer.curation.analysis import analyze
    from stereometer.curation.audit import audit
    from stereometer.curation.split import split
    from stereometer.findings.align.align import align
    from stereometer.findings.calibrate import calibrate
    from stereometer.findings.compare import compare
    from stereometer.findings.ensemble.combine import ensemble
    from stereometer.findings.intersect.intersect import intersect
    from stereometer.readings.sweep import sweep
    from stereometer.report import write_report
    from stereometer.runs.open import open_benchmark
    from stereometer.runs.store import load
    from stereometer.training.mitigation.export import export_mitigated
    from stereometer.training.mitigation.mitigate import mitigate_model as mitigate
    from stereometer.verbs.ask import ask
    from stereometer.verbs.gate import gate
    from stereometer.verbs.relate import relate
    from stereometer.verbs.replay import replay
    from stereometer.verbs.run import run

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
    "Choice": "benchmarks.abc.items",
    "align": "findings.align.align",
    "analyze": "curation.analysis",
    "ask": "verbs.ask",
    "audit": "curation.audit",
    "calibrate": "findings.calibrate",
    "compare": "findings.compare",
    "ensemble": "findings.ensemble.combine",
    "export_mitigated": "training.mitigation.export",
    "gate": "verbs.gate",
    "intersect": "findings.intersect.intersect",
    "load": "runs.store",
    "mitigate": "training.mitigation.mitigate:mitigate_model",
    "open_benchmark": "runs.open",
    "published": "benchmarks.published",
    "relate": "verbs.relate",
    "replay": "verbs.replay",
    "run": "verbs.run",
    "split": "curation.split",
    "sweep": "readings.sweep",
    "write_report": "report",
}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> object:
    """Verbs are imported when they are first used: `stereometer --help` loads nothing heavy."""
    if name not in _PLACES:
        raise AttributeError(f"module 'stereometer' has no attribute {name!r}")
    module, _, attribute = _PLACES[name].partition(":")
    value: object = getattr(import_module(f"stereometer.{module}"), attribute or name)
    return value
