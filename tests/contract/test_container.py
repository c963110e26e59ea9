"""The Dockerfile: what it copies is there, what it makes is in the Makefile, and it is nobody's
root."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
STEPS = [tuple(line.split(maxsplit=1)) for line in TEXT.splitlines() if line and line[0] != "#"]


def steps(name: str) -> list[str]:
    return [rest for word, rest in STEPS if word == name]


def test_the_image_is_pinned_and_ends_as_a_user() -> None:
    (image,) = steps("FROM")
    assert re.fullmatch(r"python:3\.\d+-slim-\w+", image)
    (user,) = steps("USER")
    assert f"useradd --create-home {user}" in TEXT
    after = [word for word, _ in STEPS[STEPS.index(("USER", user)) :]]
    assert "apt-get" not in " ".join(after)


def test_what_is_copied_is_there_and_not_ignored() -> None:
    copied = {name for rest in steps("COPY") for name in rest.split()[1:-1]}
    kept = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert {line[1:] for line in kept if line.startswith("!")} == copied
    assert all((ROOT / name).exists() for name in copied)


def test_what_is_made_is_in_the_makefile() -> None:
    rules = (ROOT / "Makefile").read_text("utf-8")
    (command,) = steps("CMD")
    assert command == '["make", "demo"]'
    made = re.findall(r"\bmake (\S+)", " ".join(steps("RUN")))
    assert made
    assert all(re.search(rf"^{re.escape(target)}:", rules, re.MULTILINE) for target in made)


@pytest.mark.long
def test_it_can_be_built() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True).returncode:
        pytest.skip("no docker engine is running")
    subprocess.run([docker, "build", "--quiet", str(ROOT)], check=True, capture_output=True)
