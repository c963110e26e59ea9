"""The verb `names`: everything that has one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stereometer.core import catalog
from stereometer.core.options import verb
from stereometer.core.types.backend import ForTesting
from stereometer.core.types.shown import Shown
from stereometer.wings.look import names_view as views


@dataclass(frozen=True, repr=False)
class EveryName(Shown):
    """What the catalog holds."""

    benchmarks: list[dict[str, Any]]
    measures: list[dict[str, str]]
    others: dict[str, list[str]]
    """By kind: models, baselines, settings ..."""

    view = views.names

    def as_json(self) -> dict[str, Any]:
        document = {"schema": "list@1", "benchmarks": self.benchmarks, "measures": self.measures}
        return document | self.others


@verb
def names() -> EveryName:
    """Every benchmark, measure, model and baseline by name."""
    sources = {name: catalog.find("benchmark", name) for name in catalog.names("benchmark")}
    backends = {name: catalog.find("backend", name) for name in catalog.names("backend")}
    aids = [
        name
        for name, entry in backends.items()
        if isinstance(entry, type) and issubclass(entry, ForTesting)
    ]
    methods = {name: catalog.find("method", name) for name in catalog.names("method")}
    others = {
        "models": list(catalog.names("model")),
        "baselines": [*catalog.names("system"), *(name for name in backends if name not in aids)],
        "testing_aids": aids,
        "settings": [method.setting for method in methods.values() if method.setting],
        "mitigation_methods": list(catalog.names("mitigation")),
        "attributes": list(catalog.names("attribute")),
        "exporters": list(catalog.names("exporter")),
    }
    measures = [{"name": name, "source": method.source} for name, method in methods.items()]
    return EveryName(
        [_benchmark(name, source) for name, source in sources.items()], measures, others
    )


def _benchmark(name: str, source: Any) -> dict[str, Any]:
    card = source.card
    return {
        "name": name,
        "title": card.title,
        "licence": card.licence,
        "language": card.language,
        "origin": card.origin,
        "verified": bool(card.digest),
        "items": dict(card.counts),
        "defaults": {shape: list(measures) for shape, measures in source.measures.items()},
        "like_paper": list(source.published),
    }
