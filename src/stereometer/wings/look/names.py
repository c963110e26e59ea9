"""The verb `names`: everything that has one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stereometer.core import catalog
from stereometer.core.options import verb
from stereometer.core.show.view import View, line, records
from stereometer.core.types.backend import ForTesting
from stereometer.core.types.shown import Shown

MORE = {
    "models": "also a folder, a .gguf file, org/name of a hub, server:URL#model or sentiment:MODEL",
    "mitigation_methods": "cda with --dropout is the Dropout method",
}
"""What is said after the names of a kind."""
TITLES = {
    "testing_aids": "testing aids",
    "settings": "settings of `ask`",
    "mitigation_methods": "methods of `mitigate`",
    "attributes": "attributes of `mitigate`",
    "exporters": "formats of `export`",
}


@dataclass(frozen=True, repr=False)
class EveryName(Shown):
    """What the catalog holds."""

    benchmarks: list[dict[str, Any]]
    measures: list[dict[str, str]]
    others: dict[str, list[str]]
    """By kind: models, baselines, settings ..."""

    def view(self) -> View:
        own = [_benchmark_row(each) for each in self.benchmarks if not each["origin"]]
        packs = [_pack_row(each) for each in self.benchmarks if each["origin"]]
        measures = [{"measure": row["name"], "paper": row["source"]} for row in self.measures]
        others = []
        for kind, listed in self.others.items():
            more = f" ({MORE[kind]})" if kind in MORE else ""
            others.append(line(f": {', '.join(listed)}{more}", bold=f"\n{TITLES.get(kind, kind)}"))
        first, second = records(own, ("items", "title", "licence")), records(packs)
        return View(parts=(*first, line(), *second, line(), *records(measures), *others))

    def as_json(self) -> dict[str, Any]:
        document = {"schema": "list@1", "benchmarks": self.benchmarks, "measures": self.measures}
        return document | self.others


def _items(benchmark: Mapping[str, Any]) -> str:
    return ", ".join(f"{count} {shape}" for shape, count in benchmark["items"].items())


def _pack_row(benchmark: Mapping[str, Any]) -> dict[str, str]:
    return {
        "in other languages": benchmark["name"],
        "language": benchmark["language"],
        "origin": benchmark["origin"],
        "items": _items(benchmark),
        "tried": "yes" if benchmark["verified"] else "no",
    }


def _benchmark_row(benchmark: Mapping[str, Any]) -> dict[str, str]:
    """The default is the first measure that a model can answer."""
    defaults = (measures[0] for measures in benchmark["defaults"].values() if measures)
    return {
        "benchmark": benchmark["name"],
        "title": benchmark["title"],
        "items": _items(benchmark),
        "default": ", ".join(defaults),
        "like its paper": ", ".join(benchmark["like_paper"]),
        "licence": benchmark["licence"],
    }


@verb
def names() -> EveryName:
    """Every benchmark, measure, model and baseline by name."""
    sources = catalog.every("benchmark")
    backends = catalog.every("backend")
    aids = [
        name
        for name, entry in backends.items()
        if isinstance(entry, type) and issubclass(entry, ForTesting)
    ]
    methods = catalog.every("method")
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
