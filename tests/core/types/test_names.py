"""Names of measures and models are values: what is written is what was read, and nobody else takes
them apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stereometer
from stereometer.core import catalog
from stereometer.core.types.names import AFTER_FIRST, WITHIN_WORD, MeasureName, ModelName

SOURCE = Path(stereometer.__file__).parent
TAKEN_APART = re.compile(r"""(?:partition|split)\(\s*["'][@+]["']|r["'].*@\\d""")
ALONE = {"core/types/names.py"}
WORDS = st.from_regex(r"[a-z]+(-[a-z]+)*", fullmatch=True)


@given(WORDS, st.sampled_from(["", "1", "12"]), st.lists(WORDS, max_size=3).map(tuple))
def test_a_measures_name_is_written_as_it_was_read(
    name: str, version: str, options: tuple[str, ...]
) -> None:
    measure = MeasureName(name, version, options)
    assert MeasureName.parse(str(measure)) == measure
    assert "@" not in measure.unversioned


def test_what_a_measures_name_tells() -> None:
    hides = MeasureName.parse(f"pair-likelihood@1+{WITHIN_WORD}")
    assert (hides.known_as, hides.settings) == ("pair-likelihood", {"within_word": True})
    lacks = MeasureName.parse(f"pair-sentence-likelihood@1+{AFTER_FIRST}")
    assert (lacks.known_as, lacks.settings) == (f"{lacks.name}+{AFTER_FIRST}", {})
    crossed = MeasureName.parse("set@1").plus("intersection@1")
    assert (str(crossed), crossed.unversioned) == ("set@1+intersection@1", "set+intersection")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("fake", ("", "fake", "", None)),
        ("org/name@main", ("", "org/name", "main", None)),
        ("org/name@main+a.safetensors", ("", "org/name", "main", "a.safetensors")),
        ("m+", ("", "m", "", "")),
        ("sentiment:org/name@main", ("sentiment", "org/name@main", "", None)),
        ("server:http://me@host/v1#m", ("server", "http://me@host/v1#m", "", None)),
        ("server:http://host/v1#m+b", ("server", "http://host/v1#m", "", "b")),
        ("azurai:gpt", ("", "azurai:gpt", "", None)),
        ("openai:gpt", ("openai", "gpt", "", None)),
        (r"C:\\models\\m", ("", r"C:\\models\\m", "", None)),
    ],
)
def test_a_models_name_is_written_as_it_was_read(
    text: str, parts: tuple[str, str, str, str | None]
) -> None:
    name = catalog.model_name(text)
    assert (name.scheme, name.path, name.revision, name.wrapper) == parts
    assert str(name) == text
    assert text == (f"{name.scheme}:{name.spec}" if name.scheme else name.spec)


@pytest.mark.parametrize(
    ("text", "scheme"), [("azurai:gpt", "azurai"), ("C:/m", ""), ("a/b:c", ""), ("gpt2", "")]
)
def test_a_scheme_that_is_none_of_ours_is_seen(text: str, scheme: str) -> None:
    assert ModelName.parse(text).foreign[0] == scheme


def test_a_folder_whose_name_holds_the_signs_is_a_path(tmp_path: Path) -> None:
    (tmp_path / "m@1+a").mkdir()
    assert catalog.model_name(f"{tmp_path}/m@1+a") == ModelName(f"{tmp_path}/m@1+a")


def test_nobody_else_takes_a_name_apart() -> None:
    found = {
        str(file.relative_to(SOURCE)): match[0]
        for file in SOURCE.rglob("*.py")
        if (match := TAKEN_APART.search(file.read_text("utf-8")))
    }
    assert found.keys() <= ALONE, found
    guessed = {
        name: (SOURCE / name).read_text("utf-8").count('partition(":")')
        for name in ("core/runs/open.py", "core/runs/models.py", "models/local/opener.py")
    }
    assert not any(guessed.values()), guessed
