"""The reference is what the code says today, and leaves nothing out."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from stereometer.core import catalog
from tests.docs.pages import DOCS, ROOT, generator, text_of

QUICK_PAGES = ("commands.md", "python.md", "catalog.md", "exit-codes.md", "json.md")
SCHEMA = re.compile(r'schema\b.*?"([a-z-]+@\d+)"', re.IGNORECASE)
WRITTEN_BY_USERS = {"attribute@1", "errata@1", "pack@1"}
"""Explained where its writers look: mitigation.md, howto/audit.md and reference/pack.md."""


SCHEMAS = DOCS / "reference" / "schemas"


def schemas() -> dict[str, Any]:
    return {file.stem: json.loads(text_of(file)) for file in SCHEMAS.glob("*.json")}


def validator(schema: str) -> Any:
    files = [(f"{name}.json", Resource.from_contents(text)) for name, text in schemas().items()]
    registry: Any = Registry().with_resources(files)
    return Draft202012Validator(schemas()[schema], registry=registry)


def reference(name: str) -> str:
    return text_of(DOCS / "reference" / name)


@pytest.mark.parametrize("name", QUICK_PAGES)
def test_a_page_is_current(name: str) -> None:
    assert reference(name) == generator().PAGES[name](), "run `make reference`"


@pytest.mark.long
def test_json_and_metrics_are_what_the_commands_print() -> None:
    for module in ("vaderSentiment", "wordfreq"):
        pytest.importorskip(module)
    assert reference("metrics.md") == generator().PAGES["metrics.md"](), "run `make reference`"
    assert {name: text_of(SCHEMAS / f"{name}.json") for name in schemas()} == (
        generator().json_schemas()
    ), "run `make reference`"
    undocumented = {
        name for name in generator().metric_names() if f"`{name}`" not in reference("metrics.md")
    }
    assert not undocumented


@pytest.mark.long
def test_every_printed_document_is_as_its_schema_says() -> None:
    for module in ("vaderSentiment", "wordfreq"):
        pytest.importorskip(module)
    for document in generator().documents():
        validator(document["schema"]).validate(document)


def test_a_document_of_another_layout_would_be_seen() -> None:
    where = {"schema": "where@1", "folders": ["data"], "files": {}}
    validator("where@1").validate(where)
    for wrong in ({"folders": "data"}, {"folders": [1]}, {"schema": "where@2"}):
        assert not validator("where@1").is_valid({**where, **wrong})
    value = {"name": 1, "slice": {}}
    assert not validator("runs@1").is_valid({"schema": "runs@1", "results": [value]})


def test_no_page_is_left_to_generate_or_to_delete() -> None:
    assert {page.name for page in (DOCS / "reference").glob("*.md")} == set(generator().PAGES)


def test_every_command_and_option_is_documented() -> None:
    page = reference("commands.md")
    for name, command in generator().every_command():
        part = re.split(r"^##+ ", page.split(f"# {name}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[
            0
        ]
        for parameter in command.params:
            is_argument = parameter.param_type_name == "argument"
            options = [f"`{parameter.metavar}`"] if is_argument else parameter.opts
            for option in [*options, *parameter.secondary_opts]:
                assert parameter.hidden or option in part, f"{name} {option}"


def test_values_of_options_have_names_and_no_python_types() -> None:
    page = reference("commands.md")
    assert not re.findall(r"^\| `[^`]*[<\[]", page, re.MULTILINE)
    for shown in ("-m, --model MODEL", "--limit N", "--out PATH", "--require BAR", "--json"):
        assert f"| `{shown}` |" in page


def test_every_name_in_the_catalog_is_documented() -> None:
    page = reference("catalog.md")
    kinds = (kind for kind in catalog.TABLE if kind != "command")  # they have a page of their own
    names = [name for kind in kinds for name in catalog.TABLE[kind]]
    assert [name for name in names if f"| `{name}` |" not in page] == []


def test_every_exit_code_is_documented() -> None:
    codes = re.findall(r"^\| (\d+) \|", reference("exit-codes.md"), re.MULTILINE)
    assert {0, 1, 2, 3, 4, 5, 6, 130} <= set(map(int, codes))
    assert set(map(int, codes)) == set(generator().exit_codes())


def test_every_schema_in_the_source_is_documented() -> None:
    source = "\n".join(text_of(file) for file in (ROOT / "src" / "stereometer").rglob("*.py"))
    named = set(SCHEMA.findall(source))
    assert {"stereometer-result@1", "compare@1"} <= named
    linked = set(re.findall(r"^\| \[`(\S+@\d+)`\]", reference("json.md"), re.MULTILINE))
    assert named - WRITTEN_BY_USERS <= linked
    assert linked == {name for name in schemas() if "@" in name}


@pytest.mark.parametrize("name", sorted(page.name for page in (DOCS / "reference").glob("*.md")))
def test_nothing_is_without_a_sentence(name: str) -> None:
    lines = [line for line in reference(name).splitlines() if generator().UNDESCRIBED in line]
    assert lines == [], "add a docstring, a help text or a line in docs/descriptions.toml"


def test_no_field_is_without_a_sentence() -> None:
    assert [
        file.name for file in SCHEMAS.iterdir() if generator().UNDESCRIBED in text_of(file)
    ] == []
