"""Models as verbs take them: by name, by pattern, or in memory."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from glob import glob
from itertools import count, product
from pathlib import Path
from typing import Any

from stereometer.core import catalog
from stereometer.core.errors import UsageError
from stereometer.core.options import Model, Serving, Workers
from stereometer.core.runs.engines import Engines
from stereometer.core.runs.open import CHECKPOINT, check_model, model_spec, open_model
from stereometer.core.types import Backend, Charges, Job, Opener, Scorer
from stereometer.core.types.names import SIGN, SUFFIX, ModelName, name_of

NamedModel = tuple[Model, "Member", str | None]
"""A model, its place in a series, and what it is called where that is not its own name."""


def opened(
    model: Model, seed: int, options: Mapping[str, Any], engines: Engines
) -> Backend | Scorer:
    """The model for as long as there are its engines."""
    if any(options.get(name) is not None for name in Serving.__annotations__):
        # Of every scheme: a slip is refused also for a model that has no use for the option.
        for scheme in catalog.names("opener"):
            catalog.find("opener", scheme).check_options(options)
    if isinstance(model, str | Path):
        name, loading = str(model), engines.loading(options)
        there = engines if engines.elsewhere and not options.get("dry_run") else None
        found = open_model(name, seed, loading, when_asked=True, elsewhere=there)
        if engines.elsewhere and not isinstance(found, Scorer):
            engines.remember(found, model_spec(name, seed, loading))
        return found
    # What says who answers, and whether, is not of the model.
    others = {*Workers.__annotations__, "dry_run"}
    own = {key: value for key, value in options.items() if key not in others}
    local: Opener = catalog.find("opener", CHECKPOINT)
    return engines.enter_context(local.held(model, own))


def opened_in_turn(
    models: Sequence[NamedModel],
    seed: int,
    options: Mapping[str, Any],
    engines: Engines,
    ways: Sequence[Mapping[str, Any]] = ({},),
) -> Iterator[tuple[Backend | Scorer, Member, str | None]]:
    """Each model once its turn comes, in each of these ways, with its place in a series and what it
    is called; a budget is for all of them together."""
    if models[1:]:  # what one of them lacks is said before the first is asked
        loading = engines.loading(options)
        for model, _, _ in models:
            if isinstance(model, str | Path) and not catalog.has("system", str(model)):
                model_spec(str(model), seed, loading).ready()
    backend: Backend | Scorer | None = None
    how = dict(options)
    paid = not options.get("dry_run")
    for (model, member, called), way in product(models, ways):
        if paid and isinstance(backend, Charges) and (left := backend.rest) is not None:
            how["budget"] = left
        backend = opened(model, seed, how | way, engines)
        yield backend, member, called


def named(model: Model | list[Model], name: str | Sequence[str] | None = None) -> list[NamedModel]:
    """A pattern stands for several models; raises for a slip in any name."""
    given = model if isinstance(model, list) else [model]
    models: list[tuple[Model, Member]] = []
    for each in given:
        if isinstance(each, str | Path):
            models += [(member.spec, member) for member in members(str(each))]
        else:
            models.append((each, Member("")))
    for each, _ in models:
        if isinstance(each, str | Path):
            check_model(str(each))
    names = [name] if isinstance(name, str) else list(name or ())
    if names and len(names) != len(models):
        raise UsageError(
            f"--name is given {len(names)} times for {len(models)} models. It is not clear which "
            "model is meant. Give each --model its --name, or none."
        )
    several = models[1:] and not names
    own = names_for([member.spec or "in memory" for _, member in models]) if several else names
    return [
        (*pair, called) for pair, called in zip(models, own or [None] * len(models), strict=True)
    ]


WILD = re.compile(r"[*?\[]")
UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9}
NUMBER = re.compile(r"(\d+(?:\.\d+)?)([kmb]?)(?![a-z])", re.IGNORECASE)


@dataclass(frozen=True)
class Member:
    """One model of a series."""

    spec: str
    pattern: str = ""
    """What it was found by; empty for a model that was named."""
    step: float = 0.0
    """The number that the pattern leaves open, such as a step or a size; its place where there is
    none."""

    def job(self, job: Job) -> Job:
        """A job whose result says which series it is of."""
        if not self.pattern:
            return job
        return replace(job, series={"series": self.pattern, "step": self.step})


def members(spec: str) -> list[Member]:
    """The models that a spec stands for, in the order of their steps; itself where it is no
    pattern."""
    if not WILD.search(spec):
        return [Member(spec)]
    name = catalog.model_name(spec)
    base, mitigation = str(name.base), name.mitigation
    is_mitigated = mitigation is not None and mitigation.exists()
    if is_mitigated and WILD.search(base) and not Path(base).exists():
        raise UsageError(
            f"{base} is a pattern, and {mitigation} is a mitigation, which is for the weights of "
            "one model. Name that model before the +."
        )
    if name.scheme or is_mitigated or Path(spec).exists():
        return [Member(spec)]
    on_hub = name.revision and mitigation is None and not WILD.search(name.path)
    matched = (
        _revisions(name)
        if on_hub
        else [path for path in glob(spec) if Path(path).is_dir() or path.endswith(".gguf")]
    )
    if not matched:
        raise UsageError(
            f"{spec} matches nothing. It is a pattern for folders, .gguf files or, after @, "
            "revisions on the hub. Check it; quote it, so that the shell leaves it alone."
        )
    steps = [_step(spec, each) for each in matched]
    numbered = all(step is not None for step in steps)
    keyed = sorted(zip(matched, steps, strict=True), key=lambda pair: (pair[1] or 0.0, pair[0]))
    return [
        Member(each, spec, float(step if numbered and step is not None else place))
        for place, (each, step) in enumerate(keyed, 1)
    ]


def names_for(specs: Sequence[str]) -> list[str | None]:
    """What models of one command are called: None for a model's own name, and as many more parts of
    its path as are needed where another path ends alike."""
    names: list[str | None] = [None] * len(specs)
    ends, whole = [_ending(spec, 1) for spec in specs], [_ending(spec, None) for spec in specs]
    for shown in count(2):
        shared = Counter(dict(zip(whole, ends, strict=True)).values())
        if max(shared.values(), default=1) == 1:
            break
        for at, spec in enumerate(specs):
            if shared[ends[at]] > 1:
                names[at] = ends[at] = _ending(spec, shown)
    return names


def _ending(spec: str, shown: int | None) -> str:
    """A model's name by the last parts of its path, and by those of its mitigation's; with None, by
    the whole of them."""
    name = catalog.model_name(spec)
    if name.scheme:
        return f"{name.scheme}:{name_of(name.path, shown)}"
    if name.mitigation is None:
        return name_of(spec, shown)
    after = name_of(str(name.mitigation), shown).removesuffix(SUFFIX)
    return f"{_ending(str(name.base), shown)}{SIGN}{after}"


def _revisions(name: ModelName) -> list[str]:
    wanted, local = _captured(name.revision), catalog.find("opener", CHECKPOINT)
    known = (each for each in local.revisions(name.path) if wanted.fullmatch(each))
    return [str(replace(name, revision=each)) for each in known]


def _captured(pattern: str) -> re.Pattern[str]:
    """A pattern whose wildcards are groups; a set in brackets counts as one."""
    pieces = re.split(r"(\*|\?|\[!?\]?[^\]]*\])", pattern)
    return re.compile("".join(_part(piece) for piece in pieces), re.DOTALL)


def _part(part: str) -> str:
    wild = {"*": "(.*)", "?": "(.)"}
    if part in wild or not part.endswith("]") or not part.startswith("["):
        return wild.get(part) or re.escape(part)
    inside = part[1:-1].replace("\\", r"\\")
    return f"([^{inside[1:]}])" if inside.startswith("!") else f"([{inside}])"


def _step(pattern: str, spec: str) -> float | None:
    """The last number in what the wildcards stand for: `step1000`, `1.4b`, `run2/step1000`."""
    match = _captured(pattern).fullmatch(spec)
    numbers = list(NUMBER.finditer(_left_open(match))) if match else []
    return float(numbers[-1][1]) * UNITS[numbers[-1][2].lower()] if numbers else None


def _left_open(match: re.Match[str]) -> str:
    """What the wildcards stand for, with a space where something else is between two of them."""
    text, end = "", 0
    for number, part in enumerate(match.groups(), 1):
        text += part if match.start(number) == end else f" {part}"
        end = match.end(number)
    return text
