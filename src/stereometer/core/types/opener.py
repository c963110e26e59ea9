"""How a model is opened: an Opener for each kind of spec, and a ModelSpec for any process.

A user writes `SCHEME:SPEC`, or just SPEC for a checkpoint or a baseline. The catalog finds the
opener as a `module:object` string, fills its `options` dataclass from the command line, and hands
`ModelSpec(opener, spec, options)` to a run. That is all another process needs to open the same
model: it is picklable and holds no weights. `memory`, a part of the cache, is passed to `open`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from pkgutil import resolve_name
from typing import Any, Literal, Protocol

from stereometer.core.errors import ModelError, UsageError
from stereometer.core.types.backend import Abilities, Backend, ModelCard, WritesTokens
from stereometer.core.types.items import Scorer

Records = Literal["models", "servers"]
"""What was seen of a model when it was loaded, by its fingerprint; what a server gave for a known
sentence, by its name."""


@dataclass(frozen=True)
class Record:
    """What was seen of a model when it was loaded."""

    card: ModelCard
    abilities: Abilities
    writes: bool
    """Whether it turns tokens back into text."""

    @classmethod
    def of(cls, model: Backend) -> Record:
        return cls(model.card, model.abilities, isinstance(model, WritesTokens))


class Memory(Protocol):
    """What models and servers were known by when they were last seen: tables of the cache."""

    def record(self, table: Records, key: str) -> str | None: ...

    def keep(self, table: Records, key: str, record: str) -> None:
        """One that is there already stays."""
        ...


@dataclass(frozen=True)
class Opener(ABC):
    """Opens the models of one scheme. Its module must be importable without what it `needs`."""

    scheme: str
    """What a user writes before the colon; empty for specs without one."""
    options: type[Any]
    """A frozen dataclass with a default for every field."""
    needs: tuple[str, ...] = ()
    """Modules outside the core of the package."""
    extra: str = ""
    """The optional part of the package that installs them."""
    wraps: bool = False
    """Whether `open` is given what follows the + of a model, and has a wrapper put it on."""

    @abstractmethod
    def open(self, spec: str, options: Any, memory: Memory | None = None) -> Backend | Scorer:
        """`memory` is for a model that can only be recognised by what it answered before."""

    def check(self, spec: str) -> None:
        """Raises for a slip that shows in the spec alone, without what is needed to open it."""
        return

    def ready(self, spec: str, options: Any) -> None:
        """Raises for what is missing to open it, as far as that can be told beforehand: of several
        models, before the first is asked."""
        return

    def fingerprint(self, spec: str, options: Any) -> str | None:
        """Alike only where `open` would give the same model; None where that cannot be told."""
        return None

    def reader(self, spec: str, options: Any) -> Any:
        """What has the model's `encode`, `decode` and `tokenizer_digest` without its weights; None
        where only the model itself has."""
        return None

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raises for a slip in an option of models of this scheme, also where it is given for a
        model that has no use for it."""
        return

    def revisions(self, name: str) -> Sequence[str]:
        """Those that a pattern after @ may stand for."""
        return ()

    def held(self, loaded: object, options: Mapping[str, Any]) -> AbstractContextManager[Backend]:
        """A model that a user has loaded, ready to be asked; afterwards it is as it was."""
        raise UsageError(
            f"model= cannot take a value of type {type(loaded).__name__}. It takes a name or a "
            "path. Pass one of those."
        )


@dataclass(frozen=True)
class BaselineOptions:
    seed: int = 0


class NamedOpener(Opener):
    """Any backend that the catalog names, by where its class is: `module:object`."""

    def open(self, spec: str, options: BaselineOptions, memory: Memory | None = None) -> Backend:
        backend: Backend = resolve_name(spec)(seed=options.seed)
        return backend


NAMED = NamedOpener("", BaselineOptions)


@dataclass(frozen=True)
class ModelSpec:
    """Everything that opens a model, here or in another process."""

    opener: str
    """`module:object`."""
    spec: str
    """Without the scheme."""
    options: Any = None
    """An instance of the opener's dataclass; None for its defaults."""

    def open(self, memory: Memory | None = None) -> Backend | Scorer:
        opener, options = self._parts()
        return opener.open(self.spec, options, memory)

    def fingerprint(self) -> str | None:
        """By what the model is known without being opened, where it can be."""
        opener, options = self._parts()
        files = opener.fingerprint(self.spec, options)
        return files and f"{self.opener} {files}"

    def reader(self) -> Any:
        """What reads texts as the model does, where that is possible without its weights."""
        opener, options = self._parts()
        return opener.reader(self.spec, options)

    def ready(self) -> None:
        opener, options = self._parts()
        opener.ready(self.spec, options)

    def check(self) -> Opener:
        """The opener, which sees nothing wrong with the spec."""
        opener: Opener = resolve_name(self.opener)
        opener.check(self.spec)
        return opener

    def _parts(self) -> tuple[Opener, Any]:
        """Raises ModelError where a module that the opener needs is missing."""
        opener = self.check()
        if any(find_spec(module) is None for module in opener.needs):
            name = f"{opener.scheme}:{self.spec}" if opener.scheme else self.spec
            raise ModelError(
                f"{name} needs {' and '.join(opener.needs)}. They are in the optional part "
                f"`{opener.extra}` of the package. From a clone: `pip install '.[{opener.extra}]'`."
            )
        return opener, self.options if self.options is not None else opener.options()
