"""What tutorials show as output is what the commands print today, on the released scores."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.builders.commands import call
from tests.conftest import default_model, released
from tests.docs.pages import DOCS, text_of

pytestmark = pytest.mark.long

BLOCK = re.compile(r"^```\n\$ stereometer (.+)\n((?:.*\n)*?)```", re.MULTILINE)
RUNS = {"bert": "bert-base", "gpt2": "gpt2"}
"""The runs that a tutorial names, by the released predictions that they come from."""
SHOWN = [
    (page.stem, command, output)
    for page in sorted((DOCS / "tutorials").glob("*.md"))
    for command, output in BLOCK.findall(text_of(page))
]


def matches(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether lines are those printed; `...` stands for any lines, or for the end of one."""
    pattern = "".join(
        r"(?:.*\n)*" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + " *\n"
        for line in shown
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the released predictions lie, as the tutorials name them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for file in released("stereoset/predictions").glob("*.json.gz"):
        (tmp_path / file.name).symlink_to(file)
    return tmp_path


@pytest.mark.parametrize(("page", "command", "output"), SHOWN, ids=[each[0] for each in SHOWN])
def test_a_tutorial_shows_what_is_printed(
    folder: Path, page: str, command: str, output: str
) -> None:
    words = shlex.split(command)
    for name in set(words) & set(RUNS):
        (file,) = folder.glob(f"predictions_{RUNS[name]}*.json.gz")
        assert call("replay", file, "--benchmark", "stereoset", "--out", name).code == 0
    for name in set(words) & {"smollm2-135m"}:
        default_model(name)
    printed = call(*words).out.splitlines()
    assert matches(output.splitlines(), printed), "\n".join(printed)


def test_another_number_would_be_seen() -> None:
    assert matches(["a 1.5", "...", "b, ..."], ["a 1.5  ", "x", "y", "b, 3"])
    assert not matches(["a 1.5", "..."], ["a 1.6", "x"])
    assert len(SHOWN) > 2
