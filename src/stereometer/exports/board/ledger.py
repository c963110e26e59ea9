"""A file that only grows: each line holds the digest of the line before it.

A line that was changed, moved or taken out breaks the chain. Lines taken from its end do not; for
that the last digest is printed on the board, and an earlier board gives a shortened ledger away.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from filelock import BaseFileLock, FileLock

from stereometer.errors import DataError
from stereometer.files import make_room, parse_json, to_json

START = "0" * 64
Entry = Mapping[str, Any]


@dataclass(frozen=True)
class Head:
    """Where a ledger ends."""

    entries: int
    digest: str


@dataclass(frozen=True)
class Ledger:
    path: Path

    def entries(self, *keys: str) -> list[Entry]:
        """All of them, in order; raises where the chain is broken, or an entry lacks a key."""
        entries = [entry for entry, _ in self._chain()]
        for number, entry in enumerate(entries, 1):
            if lacking := [key for key in keys if key not in entry]:
                raise self._broken(f"line {number} has no {lacking[0]}")
        return entries

    @property
    def head(self) -> Head:
        chain = self._chain()
        return Head(len(chain), chain[-1][1] if chain else START)

    def holds(self, head: Head) -> bool:
        """Whether the ledger goes on from there."""
        digests = [START, *(digest for _, digest in self._chain())]
        return head.entries < len(digests) and digests[head.entries] == head.digest

    def append(self, entry: Entry) -> Head:
        """The new head; one process writes at a time, and the line is on the disk afterwards."""
        private = partial(os.open, mode=0o600)
        with self.alone(), open(self.path, "ab", opener=private) as file:
            head, now = self.head, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            links = {"number": head.entries + 1, "previous": head.digest, "when": now}
            line = to_json({**links, **entry}, indent=None).encode()
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
        return Head(head.entries + 1, sha256(line).hexdigest())

    def alone(self) -> BaseFileLock:
        """While what is appended depends on what is there: others wait, and whoever has it may
        append."""
        make_room(self.path)
        return FileLock(self.path.with_name(f".{self.path.name}.lock"), is_singleton=True)

    def _chain(self) -> Sequence[tuple[Entry, str]]:
        """Entries with the digests of their lines."""
        content = self.path.read_bytes() if self.path.exists() else b""
        *lines, rest = content.split(b"\n")
        chain: list[tuple[Entry, str]] = []
        digest = START
        for number, line in enumerate(lines, 1):
            entry = parse_json(line.decode("utf-8", "replace"), f"{self.path}, line {number}")
            linked = isinstance(entry, dict) and entry.get("previous") == digest
            if not linked or entry.get("number") != number:
                raise self._broken(f"line {number} does not follow from the one before")
            digest = sha256(line).hexdigest()
            chain.append((entry, digest))
        if rest:
            raise self._broken("its last line is cut off")
        return chain

    def _broken(self, why: str) -> DataError:
        return DataError(
            f"{self.path} is broken: {why}. A ledger only grows, and somebody changed this one. "
            "Restore it from a copy."
        )
