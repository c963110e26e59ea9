"""Groups, traits and templates on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from stereometer.errors import UsageError

if TYPE_CHECKING:
    from stereometer.benchmarks.abc.items import Choice

Groups = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        help="abc: a table of your own groups, or names, domains and lists of ours, separated by commas or repeated."
    ),
]
Traits = Annotated[Optional[Path], typer.Option(help="abc: a table of your own traits.")]  # noqa: UP045
Templates = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        help="abc: a table of your own templates, or names, kinds and lists of ours, separated by commas or repeated."
    ),
]

RunningText = Annotated[
    Path | None,
    typer.Option(help="abc: running text in which ceat finds sentences, plain or JSONL."),
]
Synonyms = Annotated[
    bool,
    typer.Option(
        "--synonyms/--no-synonyms",
        help="abc: `paper` takes the median over adjective and synonyms; or not.",
    ),
]


def choice_of(
    groups: Sequence[str] | None,
    traits: Path | None,
    templates: Sequence[str] | None,
    text: Path | None,
    seed: int,
    synonyms: bool,
) -> Choice | None:
    """What was chosen, or None where nothing was."""
    if not groups and traits is None and not templates and text is None and synonyms:
        return None
    from stereometer.benchmarks.abc.items import Choice

    return Choice(parts(groups), traits, parts(templates), text, seed, synonyms=synonyms)


def parts(given: Sequence[str] | None) -> tuple[str, ...]:
    """Names between commas."""
    found = tuple(part.strip() for one in given or () for part in one.split(",") if part.strip())
    if given and not found:
        raise UsageError(
            "An option for groups or templates is empty. It takes names, separated by commas. Name some, or leave it out for all."
        )
    return found
