"""Options that several commands share, alone and in groups that belong together.

A command takes a group as one parameter, `loading: Loading`, and typer sees its fields.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

if TYPE_CHECKING:
    from stereometer.benchmarks.abc.items import Choice
    from stereometer.benchmarks.comments import Columns
    from stereometer.runs.engines.pool.choice import Engines
    from stereometer.tables import Layout
    from stereometer.types import Settings

Slices = Annotated[bool, "Also print the slices: domains, bias types, example sets."]
Json = Annotated[bool, "Print JSON and nothing else."]
Benchmark = Annotated[str, "A benchmark, or a file of your own items."]
Model = Annotated[str, typer.Option("--model", "-m", help="A model.")]
Coverage = Annotated[float, "Share of items that must be answered before a score is printed."]
Data = Annotated[
    Path | None, "The data file or folder; by default STEREOMETER_DATA, then the user data folder."
]
Out = Annotated[
    Path | None, "Folder for the runs, each in one of its own; by default stereometer-runs."
]
Require = Annotated[
    list[str] | None,
    "A bar for the whole interval of an overall value, such as 'icat>=70' or '|ss-50|<=5'; exit "
    "code 5 if missed, 7 if undecided. 'point(ss)<=55' is about the value alone.",
]
Runs = Annotated[list[Path] | None, "Folder of a run on these items; may be repeated."]
NegativeLabel = Annotated[
    str | None,
    "The negative label of a `sentiment:MODEL`, if its configuration does not name it.",
    "Loading",
]
Head = Annotated[
    Path | None, "A next-sentence head for the model, from `stereometer train nsp`.", "Loading"
]
Traits = Annotated[Path | None, "abc: a table of your own traits."]


@dataclass(frozen=True)
class Drawing:
    """What random draws depend on."""

    panel: ClassVar = "Statistics"
    seed: Annotated[int, "Seed of every random draw."] = 0
    resamples: Annotated[int, "Bootstrap resamples."] = 10_000

    @property
    def settings(self) -> Settings:
        from stereometer.types import Settings

        return Settings(**asdict(self))


@dataclass(frozen=True)
class Counting(Drawing):
    """How scores become numbers."""

    variant: Annotated[str, "`sound`, or `paper` for what the authors' code computes."] = "sound"
    coverage: Coverage = 0.90


@dataclass(frozen=True)
class Judging(Counting):
    """The same, and what is said of them."""

    delta: Annotated[float, "How many points from 50 still count as near 50."] = 5.0


@dataclass(frozen=True)
class Running:
    """What is asked about, and where it is kept."""

    data: Data = None
    limit: Annotated[int | None, "Use at most this many items: a random but fixed sample."] = None
    out: Out = None
    cache: Annotated[bool, "Keep answers for later runs."] = True
    dry_run: Annotated[
        bool, "Only say what would be asked and how long it may take; no server is asked."
    ] = False

    def __post_init__(self) -> None:
        from stereometer.types.settings import check_limit

        check_limit(self.limit)


@dataclass(frozen=True)
class Holding:
    """Bars that a run is held against, and whether it stops when they are decided."""

    panel: ClassVar = "Bars"
    require: Require = None
    bars: Annotated[Path | None, "Also check the bars in this file, as `gate` does."] = None
    until_decided: Annotated[
        bool,
        "Ask items in random order, and stop as soon as every bar is met or missed.",
    ] = False


@dataclass(frozen=True)
class Spreading:
    """Who answers: this process, several, a cluster, or one part of many."""

    panel: ClassVar = "Workers"
    workers: Annotated[
        str | None,
        "Processes that answer: a number on this machine, `ray`, or ray://HOST:PORT.",
    ] = None
    gpus_per_worker: Annotated[
        int | None,
        "GPUs of each worker; by default one on a cluster that has any, none on this machine.",
    ] = None
    worker_timeout: Annotated[
        float, "Seconds in which a worker must answer a window of requests."
    ] = 900.0
    shard: Annotated[
        str | None,
        "Ask only part K of N, as K/N, and keep the answers for `cache merge`; no result is made.",
    ] = None

    def engines(self) -> Engines:
        from stereometer.runs.engines.pool.choice import Engines, hands

        return Engines(hands(self.workers, self.gpus_per_worker, self.worker_timeout))


@dataclass(frozen=True)
class InFullPrecision:
    """How a model on this machine is loaded, in float32."""

    panel: ClassVar = "Loading"
    device: Annotated[str, "Where a model runs: cpu, cuda, mps ..."] = "cpu"
    threads: Annotated[
        int | None, typer.Option(min=1, help="CPU threads that a model may use.")
    ] = None
    allow_pickle: Annotated[
        bool, "Also load weights that are not safetensors or GGUF; they can run code."
    ] = False
    trust_remote_code: Annotated[bool, "Run code that comes with the model."] = False


@dataclass(frozen=True)
class Loading(InFullPrecision):
    """How a model on this machine is loaded."""

    dtype: Annotated[str, "Precision of the weights; results say so if it is not float32."] = (
        "float32"
    )
    option: Annotated[
        list[str] | None, "An option of the model's own scheme, NAME=VALUE; may be repeated."
    ] = None


@dataclass(frozen=True)
class Serving:
    """How a server is asked."""

    panel: ClassVar = "Server"
    budget: Annotated[
        str | None, "Stop before a server costs more: a number of tokens, or '$2.50' with --price."
    ] = None
    price: Annotated[
        str | None, "Price of a million tokens read and written, such as 0.15/0.60."
    ] = None
    in_flight: Annotated[
        int, typer.Option(min=1, help="Requests sent to a server at the same time.")
    ] = 8
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds to wait for each answer of a server.")
    ] = 60.0


@dataclass(frozen=True)
class Cells:
    """Which groups, traits and templates of abc."""

    panel: ClassVar = "Groups"
    groups: Annotated[
        list[str] | None,
        "abc: a table of your own groups, or names, domains and lists of ours; "
        "separate them by commas or repeat the option.",
    ] = None
    traits: Traits = None
    templates: Annotated[
        list[str] | None,
        "abc: a table of your own templates, or names, kinds and lists of ours; "
        "separate them by commas or repeat the option.",
    ] = None


@dataclass(frozen=True)
class Choosing(Cells):
    """The same, and the sentences of a text."""

    synonyms: Annotated[
        bool, "abc: whether `paper` takes the median over an adjective and its synonyms."
    ] = True
    text: Annotated[Path | None, "abc: a text in which ceat finds sentences, plain or JSONL."] = (
        None
    )

    def choice(self, seed: int) -> Choice | None:
        """What was chosen, or None if nothing was."""
        if self.synonyms and not any((self.groups, self.traits, self.templates, self.text)):
            return None
        from stereometer.benchmarks.abc.items import Choice

        groups, templates = names_in(self.groups), names_in(self.templates)
        return Choice(groups, self.traits, templates, self.text, seed, synonyms=self.synonyms)


@dataclass(frozen=True)
class OwnFile:
    """How a file of the user's own is written."""

    panel: ClassVar = "Files"
    column: Annotated[
        list[str] | None,
        "What a file of your own calls a column: sent_more=NAME, comment=NAME, group=NAME ...; "
        "separate them by commas or repeat the option.",
    ] = None
    encoding: Annotated[
        str | None, "Encoding of a file of your own, such as latin-1; by default UTF-8."
    ] = None

    @property
    def pairs(self) -> list[str]:
        """`a=b,c=d` as two; a comma inside a name of a column stays."""
        return [pair for text in self.column or () for pair in re.split(r",(?=\s*\w+\s*=)", text)]

    @property
    def layout(self) -> Layout:
        from stereometer.benchmarks.comments import column_pair
        from stereometer.tables import Layout

        pairs = dict(column_pair(pair) for pair in self.pairs)
        return Layout(columns=pairs) if self.encoding is None else Layout(self.encoding, pairs)


@dataclass(frozen=True)
class Comments(OwnFile):
    """What a table of comments calls its parts."""

    category: Annotated[
        list[str] | None,
        "Category columns, separated by commas; column=word uses another word in prompts.",
    ] = None
    neither: Annotated[str, "The label of comments of no category, in a table of your own."] = (
        "neither"
    )

    @property
    def words(self) -> Mapping[str, str]:
        """`gender=sexist` as column and word; a column alone is its own word."""
        pairs = (category.partition("=") for category in names_in(self.category))
        return {name: word or name for name, _, word in pairs}

    @property
    def columns(self) -> Columns:
        from stereometer.benchmarks.comments import columns_from

        encoding = self.layout.encoding
        return columns_from(self.pairs, list(self.words), self.neither, encoding)


def opening(*groups: Any, **more: Any) -> dict[str, Any]:
    """Groups of options as `open_model` takes them."""
    options = {name: value for group in groups for name, value in asdict(group).items()} | more
    pairs = (text.partition("=") for text in options.pop("option", None) or ())
    return options | {"option": {name.strip().replace("-", "_"): value for name, _, value in pairs}}


def names_in(values: Sequence[str] | None) -> tuple[str, ...]:
    """Names between commas."""
    parts = (part.strip() for value in values or () for part in value.split(","))
    names = tuple(part for part in parts if part)
    if values and not names:
        from stereometer.errors import UsageError

        raise UsageError(
            "An option for groups or templates is empty. It takes names, separated by commas. "
            "List some, or leave the option out for all."
        )
    return names
