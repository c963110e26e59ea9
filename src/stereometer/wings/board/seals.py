"""What shows that nothing was changed: a file that only grows, and signatures by `ssh-keygen -Y`.

Each line of a ledger holds the digest of the line before it. A line that was changed, moved or
taken out breaks the chain. Lines taken from its end do not; for that the last digest is printed on
the board, and an earlier board gives a shortened ledger away. Of signatures: most people have a
key, and no library is needed.
"""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from filelock import BaseFileLock, FileLock

from stereometer.core.errors import DataError, StereometerError
from stereometer.core.files import make_room, parse_json, to_json

START = "0" * 64
Entry = Mapping[str, Any]


@dataclass(frozen=True)
class LedgerHead:
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
    def head(self) -> LedgerHead:
        chain = self._chain()
        return LedgerHead(len(chain), chain[-1][1] if chain else START)

    def holds(self, head: LedgerHead) -> bool:
        """Whether the ledger goes on from there."""
        digests = [START, *(digest for _, digest in self._chain())]
        return head.entries < len(digests) and digests[head.entries] == head.digest

    def append(self, entry: Entry) -> LedgerHead:
        """The new head; one process writes at a time, and the line is on the disk afterwards."""
        private = partial(os.open, mode=0o600)
        with self.alone(), open(self.path, "ab", opener=private) as file:
            head, now = self.head, datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            links = {"number": head.entries + 1, "previous": head.digest, "when": now}
            line = to_json({**links, **entry}, indent=None).encode()
            file.write(line + b"\n")
            file.flush()
            os.fsync(file.fileno())
        return LedgerHead(head.entries + 1, sha256(line).hexdigest())

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


NAMESPACE = "stereometer-bundle"
PROGRAM = "ssh-keygen"
SECONDS = 120
"""Time to type a passphrase."""
KEY = re.compile(r"\bkey (SHA256:\S+)")


def sign(content: bytes, key: Path) -> bytes:
    """A signature of these bytes by a private key, or by the public one of a key in an agent."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "manifest"
        file.write_bytes(content)
        done = _run(["sign", "-f", str(key), "-n", NAMESPACE, str(file)])
        if done.returncode:
            raise StereometerError(
                f"The bundle cannot be signed with {key}: {_said(done)}. ssh-keygen needs a key "
                "that it can read. Name another with --sign, or leave it out."
            )
        return file.with_name("manifest.sig").read_bytes()


def signer(content: bytes, signature: bytes, allowed: Path | None = None) -> str:
    """Who signed: a principal of the file of allowed signers, or without one the key alone.

    Raises where the signature is not of these bytes, or of nobody who is allowed.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "manifest.sig"
        file.write_bytes(signature)
        if allowed is None:
            done = _run(["check-novalidate", "-n", NAMESPACE, "-s", str(file)], content)
            return _held(KEY.search(done.stdout.decode("utf-8", "replace")), done)
        by = ["-f", str(allowed), "-s", str(file)]
        named = _run(["find-principals", *by])
        name = named.stdout.decode("utf-8", "replace").splitlines()[:1]
        if named.returncode or not name:
            raise DataError(
                f"Nobody in {allowed} signed the bundle. Only they may submit here. Add the key, "
                "or refuse the bundle."
            )
        done = _run(["verify", *by, "-I", name[0], "-n", NAMESPACE], content)
        return name[0] if not done.returncode else _held(None, done)


def _held(key: re.Match[str] | None, done: subprocess.CompletedProcess[bytes]) -> str:
    if done.returncode or key is None:
        raise DataError(
            f"The signature is not of this manifest: {_said(done)}. The bundle was changed after "
            "it was signed, or is of somebody else. Refuse it."
        )
    return key[1]


def _said(done: subprocess.CompletedProcess[bytes]) -> str:
    text = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
    return text.splitlines()[-1][:200] if text else f"{PROGRAM} ended with {done.returncode}"


def _run(arguments: Sequence[str], content: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            [PROGRAM, "-Y", *arguments],
            input=content,
            capture_output=True,
            check=False,
            timeout=SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise StereometerError(
            f"{PROGRAM} cannot be used: {error}. Signatures are made and checked by it. Install "
            "OpenSSH 8.2 or newer."
        ) from None
