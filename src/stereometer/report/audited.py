"""What an audit of a run's items says of its numbers, as it is kept beside the run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stereometer.core.errors import DataError
from stereometer.core.files import read_json
from stereometer.core.shapes.differences import Shift
from stereometer.core.types import Estimate, Result

AUDIT, AUDIT_SCHEMA = "audit.json", "audit-of-run@1"


@dataclass(frozen=True)
class Audited:
    """What `audit.json` beside a run holds."""

    items: int
    clean: int
    counting: Sequence[str]
    """The flags that make an item unclean."""
    errata: str | None
    flags: Mapping[str, Mapping[str, Any]]
    estimates: Sequence[Estimate]
    """Of the clean items."""
    shifts: Sequence[Shift]
    by_flag: Mapping[str, Sequence[Shift]]


def load_audit(folder: Path, result: Result) -> Audited | None:
    """The audit of a run, where there is one; raises where it is of other items or damaged."""
    file = folder / AUDIT
    if not file.exists():
        return None
    value = read_json(file)
    if (
        not isinstance(value, dict)
        or value.get("schema") != AUDIT_SCHEMA
        or value.get("digest") != result.data.get("digest")
    ):
        raise DataError(
            f"{file} is not an audit of this run. It is of other items or another version. Run "
            "`stereometer audit` again."
        )
    try:
        return Audited(
            value["items"],
            value["clean"],
            value["counting"],
            value["errata"],
            value["flags"],
            [Estimate.from_json(row) for row in value["estimates"]],
            [Shift.from_json(row) for row in value["shifts"]],
            {flag: list(map(Shift.from_json, rows)) for flag, rows in value["by_flag"].items()},
        )
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise DataError(
            f"{file} is damaged: {error}. It was edited or cut off. Run `stereometer audit` again."
        ) from None
