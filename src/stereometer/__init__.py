"""Measure social stereotypes in language models, with intervals, denominators and verdicts."""

from stereometer.types import Estimate, Result

__all__ = [
    "Choice",
    "Estimate",
    "Result",
    "align",
    "analyze",
    "ask",
    "audit",
    "compare",
    "ensemble",
    "intersect",
    "load",
    "open_benchmark",
    "relate",
    "replay",
    "run",
    "split",
    "write_report",
]
__version__ = "0.1.0"

_LAZY = {
    "Choice": ("stereometer.benchmarks.abc.items", "Choice"),
    "align": ("stereometer.studies", "align"),
    "ask": ("stereometer.studies", "ask"),
    "intersect": ("stereometer.studies", "intersect"),
    "analyze": ("stereometer.curation.analyze.analyze", "analyze"),
    "audit": ("stereometer.curation.audit.audit", "audit"),
    "ensemble": ("stereometer.findings.ensemble.combine", "ensemble_of"),
    "relate": ("stereometer.findings.relate", "relate"),
    "split": ("stereometer.curation.split", "split"),
    "compare": ("stereometer.findings.compare", "compare"),
    "load": ("stereometer.api", "load"),
    "open_benchmark": ("stereometer.api", "open_named"),
    "replay": ("stereometer.api", "replay"),
    "write_report": ("stereometer.report", "write_report"),
    "run": ("stereometer.api", "run"),
}


def __dir__() -> list[str]:
    return sorted(__all__)


def __getattr__(name: str) -> object:
    """Verbs are imported when they are first used, so that `stereometer --help` loads nothing heavy."""
    if name not in _LAZY:
        raise AttributeError(f"module 'stereometer' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _LAZY[name]
    return getattr(import_module(module), attribute)
