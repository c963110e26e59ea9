"""Lists that a page writes by hand name all that the code has, in its order."""

from __future__ import annotations

import re
import tomllib

from stereometer.core import catalog
from tests.docs.pages import DOCS, ROOT, text_of


def test_the_rooms_of_contributing_are_the_layers_that_are_checked() -> None:
    settings = tomllib.loads(text_of(ROOT / "pyproject.toml"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    rows = re.findall(r"^\| (`[^|]+) \|", text_of(ROOT / "CONTRIBUTING.md"), re.MULTILINE)
    assert [re.findall(r"\w+", row) for row in rows] == [re.findall(r"\w+", row) for row in layers]


def test_every_kind_that_other_packages_can_add_is_named_with_its_group() -> None:
    named = re.findall(r"`stereometer\.(\w+s)`", text_of(DOCS / "howto" / "extend.md"))
    assert {f"{kind}s" for kind in catalog.TABLE} == set(named)


def test_each_part_of_the_glossary_is_in_alphabetical_order() -> None:
    for part in text_of(DOCS / "glossary.md").split("\n## ")[1:]:
        names = re.findall(r"^\*\*(.+)\*\*$", part, re.MULTILINE)
        assert names == sorted(names, key=str.casefold)
