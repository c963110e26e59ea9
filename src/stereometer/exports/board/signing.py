"""Signatures by `ssh-keygen -Y`: most people have a key, and no library is needed."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from stereometer.errors import DataError, StereometerError

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
