"""What verbs can be told: each parameter's meaning stands once, beside its name and default.

A verb annotates its parameters, `limit: Limit = None`, and is at once a Python function and a
command: `cli/command.py` reads the annotations, `help(stereometer.run)` shows them. A parameter
without an annotation of this kind is for Python alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from typing import (
    Annotated,
    Any,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeVar,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
)

from stereometer.core.errors import UsageError, did_you_mean
from stereometer.core.types import Variant

COMMON = "Common"
PANELS = ("Questions", "Statistics", "Loading", "Server", "Groups", "Files", "Bars", "Workers")
"""Headings of `--help` after the common ones, the rare ones last."""
QUESTIONS, STATISTICS, LOADING, SERVER, GROUPS, FILES, BARS, WORKERS = PANELS


@dataclass(frozen=True)
class Option:
    """What a parameter means, and how people type it."""

    help: str
    panel: str = COMMON
    words: Any = None
    """The type of what is typed, where the parameter takes more than that in Python."""
    read: Callable[[Any], Any] | None = None
    """From what is typed to what the verb takes."""
    flags: tuple[str, ...] = ()
    """Its names on the command line, where they are not the parameter's own."""
    default: Any = None
    """Of a keyword in a TypedDict, which has no other place for it."""
    least: float | None = None
    most: float | None = None
    metavar: str = ""
    is_argument: bool = False
    """Typed without a name though it has a default."""
    has_default: bool = True
    """Whether help shows the default."""


@dataclass(frozen=True)
class VerbParameter:
    """One parameter of a verb as it is declared."""

    name: str
    type: Any
    option: Option
    default: Any
    """`Parameter.empty` where it must be given."""
    kind: Any = Parameter.KEYWORD_ONLY

    @property
    def words(self) -> Any:
        return _words(self.type) if self.option.words is None else self.option.words

    @property
    def is_argument(self) -> bool:
        positional = self.kind is not Parameter.KEYWORD_ONLY and not self.option.flags
        return self.option.is_argument or (positional and self.default is Parameter.empty)


@cache
def declared(verb: Callable[..., Any]) -> tuple[VerbParameter, ...]:
    """The parameters of a verb that can be typed, in the order of its signature."""
    hints = get_type_hints(verb, include_extras=True)
    found: list[VerbParameter] = []
    for name, parameter in signature(verb).parameters.items():
        hint, kind = hints.get(name), parameter.kind
        if kind is Parameter.VAR_KEYWORD:
            # Classes whose fields are keywords: a TypedDict, or `Annotated[Any, ADataclass, ...]`.
            of = get_args(hint) if get_origin(hint) is Unpack else getattr(hint, "__metadata__", ())
            found += [each for group in of for each in _fields(group)]
            continue
        bare, option = _parts(hint)
        if option is not None:
            taken = Sequence[bare] if kind is Parameter.VAR_POSITIONAL else bare  # type: ignore[valid-type]
            found.append(VerbParameter(name, taken, option, parameter.default, kind))
    return tuple(found)


def _fields(group: Any) -> Iterator[VerbParameter]:
    for name, hint in get_type_hints(group, include_extras=True).items():
        bare, option = _parts(hint)
        if option is not None:
            yield VerbParameter(name, bare, option, getattr(group, name, option.default))


def _parts(hint: Any) -> tuple[Any, Option | None]:
    """The type that Python takes, and what it means."""
    known = (each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Option | str))
    first = next(known, None)
    bare = hint.__origin__ if get_origin(hint) is Annotated else hint
    return bare, Option(first) if isinstance(first, str) else first


def _words(hint: Any) -> Any:
    """A place that Python takes as text too is typed as a path; of several, or one, a list."""
    inner = get_args(hint)
    several = [each for each in (hint, *inner) if get_origin(each) is Sequence]
    if several:
        each = _words(get_args(several[0])[0])
        return list[each]  # type: ignore[valid-type]
    return Path if str in inner and Path in inner else hint


Args = ParamSpec("Args")
Returned = TypeVar("Returned")


def verb(function: Callable[Args, Returned]) -> Callable[Args, Returned]:
    """Adds to a verb's docstring what its parameters mean."""
    lines = (f"- `{each.name}`: {each.option.help}" for each in declared(function))
    function.__doc__ = "\n".join((cleandoc(function.__doc__ or ""), "", *lines))
    return function


def check_known(options: Mapping[str, Any], verb: Callable[..., Any]) -> None:
    """Raises for a keyword that the verb does not have."""
    names = {each.name for each in declared(verb)} | set(signature(verb).parameters)
    for name in options:
        if name not in names:
            nearest = did_you_mean(name, {each: each for each in names})
            raise UsageError(
                f"There is no parameter '{name}'. {nearest or 'It would change nothing.'} "
                f"help(stereometer.{verb.__name__}) explains all of them."
            )


# ------------------------------------------------------------------------------- from words


def names_in(values: str | Sequence[str] | None) -> tuple[str, ...]:
    """Names between commas."""
    texts = [values] if isinstance(values, str) else values or ()
    parts = (part.strip() for text in texts for part in text.split(","))
    names = tuple(part for part in parts if part)
    if texts and not names:
        raise UsageError(
            "A list of names is empty. Such an option takes names, separated by commas. List some, "
            "or leave the option out."
        )
    return names


def listed(given: str | Path | Sequence[str]) -> tuple[str, ...]:
    """One name or file, names between commas, or a list of names."""
    return names_in(str(given)) if isinstance(given, str | Path) else tuple(given)


def pairs_in(texts: Sequence[str]) -> dict[str, str]:
    """`a=b,c=d` as two; a comma inside a name of a column stays."""
    pairs: dict[str, str] = {}
    for text in (part for each in texts for part in re.split(r",(?=\s*\w+\s*=)", each)):
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (sign and name and value):
            raise UsageError(
                f"--column '{text}' is not understood. Write our name, = and your column's name. "
                "For instance --column answer=response."
            )
        pairs[name] = value
    return pairs


def scheme_options(texts: Sequence[str]) -> dict[str, str]:
    pairs = (text.partition("=") for text in texts)
    return {name.strip().replace("-", "_"): value for name, _, value in pairs}


def words_of_categories(texts: Sequence[str]) -> dict[str, str]:
    """`gender=sexist` as column and word; a column alone is its own word."""
    pairs = (category.partition("=") for category in names_in(texts))
    return {name: word or name for name, _, word in pairs}


# ------------------------------------------------------------------------------- models


class Pipeline(Protocol):
    """A pipeline of transformers, as far as it matters here."""

    @property
    def model(self) -> Any: ...

    @property
    def tokenizer(self) -> Any: ...


Model: TypeAlias = str | Path | tuple[Any, Any] | Pipeline
"""A name, a path, a pair of model and tokenizer in memory, or a pipeline."""

OneModel = Annotated[
    Model,
    Option(
        "A name, a folder, a .gguf file, org/name or server:URL#model; in Python also (model, "
        "tokenizer) or a pipeline.",
        words=str,
        flags=("--model", "-m"),
    ),
]
Models = Annotated[
    Model | list[Model],
    Option(
        "A model or baseline: a name, a folder, a .gguf file, org/name or server:URL#model; or a "
        "pattern for several, such as 'checkpoints/step*'; may be repeated. In Python also "
        "(model, tokenizer) or a pipeline.",
        words=list[str],
        flags=("--model", "-m"),
    ),
]


class InFullPrecision(TypedDict, total=False):
    """How a model on this machine is loaded, in float32."""

    device: Annotated[
        str,
        Option(
            "Where a model runs: cpu, cuda, cuda:1, gpus for all together ...; auto is a GPU that "
            "stands idle and holds it, else the CPU.",
            LOADING,
            default="auto",
        ),
    ]
    threads: Annotated[int | None, Option("CPU threads that a model may use.", LOADING, least=1)]
    allow_pickle: Annotated[
        bool,
        Option(
            "Also load weights that are not safetensors or GGUF; they can run code.",
            LOADING,
            default=False,
        ),
    ]
    trust_remote_code: Annotated[
        bool, Option("Run code that comes with the model.", LOADING, default=False)
    ]


class Loading(InFullPrecision, total=False):
    """How a model on this machine is loaded."""

    dtype: Annotated[
        str,
        Option(
            "Precision of the weights: float32, bfloat16 ...; auto is float32, or bfloat16 where "
            "only that fits on a GPU. Results say so if it is not float32.",
            LOADING,
            default="auto",
        ),
    ]
    option: Annotated[
        Mapping[str, Any] | None,
        Option(
            "An option of the model's own scheme, NAME=VALUE; may be repeated.",
            LOADING,
            words=list[str],
            read=scheme_options,
        ),
    ]


class Serving(TypedDict, total=False):
    """How a server is asked."""

    budget: Annotated[
        str | None,
        Option(
            "Stop before a server costs more: a number of tokens, or '$2.50' with --price.", SERVER
        ),
    ]
    price: Annotated[
        str | None,
        Option(
            "Price of a million tokens read and written, such as 0.15/0.60; of several models "
            "NAME=3/15,NAME=0.15/0.60.",
            SERVER,
        ),
    ]
    in_flight: Annotated[
        int, Option("Requests sent to a server at the same time.", SERVER, default=8, least=1)
    ]
    timeout: Annotated[
        float,
        Option("Seconds to wait for each answer of a server.", SERVER, default=60.0, least=0.1),
    ]
    room: Annotated[
        int,
        Option(
            "Tokens beside an answer's own in which a model may think.",
            SERVER,
            default=0,
            least=0,
        ),
    ]
    thinking: Annotated[
        bool, Option("Whether a model that can may think first.", SERVER, default=True)
    ]


class Workers(TypedDict, total=False):
    """Who answers: this process, several, a cluster, or one part of many."""

    workers: Annotated[
        int | str | None,
        Option(
            "Processes that answer: a number on this machine, `ray`, or ray://HOST:PORT.",
            WORKERS,
            words=str,
        ),
    ]
    gpus_per_worker: Annotated[
        int | None,
        Option(
            "GPUs of each worker; by default one on a cluster that has any, none on this machine.",
            WORKERS,
        ),
    ]
    worker_timeout: Annotated[
        float,
        Option(
            "Seconds in which a worker must answer a window of requests.", WORKERS, default=900.0
        ),
    ]
    shard: Annotated[
        str | None,
        Option(
            "Ask only part K of N, as K/N, and keep the answers for `cache merge`; no result is "
            "made.",
            WORKERS,
        ),
    ]


class ModelOptions(Loading, Serving, Workers, total=False):
    """How any model is loaded or asked, and by whom."""

    dry_run: Annotated[
        bool,
        Option(
            "Only say what would be asked and how long it may take; no server is asked.",
            default=False,
        ),
    ]


class HeadedModelOptions(ModelOptions, total=False):
    """Also what is attached to a model."""

    head: Annotated[
        str | Path | None,
        Option("A next-sentence head for the model, from `stereometer train nsp`.", LOADING),
    ]


# ------------------------------------------------------------------------------- shared parameters

Benchmark = Annotated[str | Path, Option("A benchmark, or a file of your own items.", words=str)]
Measures = Annotated[str | Sequence[str], "Measures; by default the benchmark's own."]
Data = Annotated[
    str | Path | None,
    "The data file or folder; by default STEREOMETER_DATA, then the user data folder.",
]
Limit = Annotated[int | None, "Use at most this many items: a random but fixed sample."]
NegativeLabel = Annotated[
    str | None,
    Option(
        "The negative label of a `sentiment:MODEL`, if its configuration does not name it.", LOADING
    ),
]
Out = Annotated[
    str | Path | None, "Folder for the runs, each in one of its own; by default stereometer-runs."
]
Cache = Annotated[bool, "Keep answers for later runs."]
Seed = Annotated[int, Option("Seed of every random draw.", STATISTICS)]
Resamples = Annotated[int, Option("Bootstrap resamples.", STATISTICS)]
VariantName = Annotated[
    Variant,
    Option("`sound`, or `paper` for what the authors' code computes.", STATISTICS, words=str),
]
Coverage = Annotated[
    float, Option("Share of items that must be answered before a score is printed.", STATISTICS)
]
Delta = Annotated[float, Option("How many points from 50 still count as near 50.", STATISTICS)]
Column = Annotated[
    Mapping[str, str] | None,
    Option(
        "What a file of your own calls a column: sent_more=NAME, comment=NAME, group=NAME ...; "
        "separate them by commas or repeat the option.",
        FILES,
        words=list[str],
        read=pairs_in,
    ),
]
Encoding = Annotated[
    str,
    Option(
        "Encoding of a file of your own, such as latin-1; by default UTF-8.",
        FILES,
        has_default=False,
    ),
]
Category = Annotated[
    Mapping[str, str] | Sequence[str],
    Option(
        "Category columns, separated by commas; column=word uses another word in prompts.",
        FILES,
        words=list[str],
        read=words_of_categories,
    ),
]
Neither = Annotated[
    str, Option("The label of comments of no category, in a table of your own.", FILES)
]
Groups = Annotated[
    str | Path | Sequence[str],
    Option(
        "abc: a table of your own groups, or names, domains and lists of ours; separate them by "
        "commas or repeat the option.",
        GROUPS,
        read=names_in,
    ),
]
Traits = Annotated[str | Path | None, Option("abc: a table of your own traits.", GROUPS)]
Templates = Annotated[
    str | Path | Sequence[str],
    Option(
        "abc: a table of your own templates, or names, kinds and lists of ours; separate them by "
        "commas or repeat the option.",
        GROUPS,
        read=names_in,
    ),
]
Require = Annotated[
    str | Sequence[str],
    Option(
        "A bar for the whole interval of an overall value, such as 'icat>=70' or '|ss-50|<=5'; "
        "exit code 5 if missed, 7 if undecided. 'point(ss)<=55' is about the value alone.",
        BARS,
    ),
]
Runs = Annotated[
    Any, Option("Folders of runs on the same items, measured alike.", words=list[Path])
]
