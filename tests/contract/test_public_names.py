"""What the package exports is what can be imported, and it is sorted."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import stereometer


def test_exported_names_are_importable_and_sorted() -> None:
    assert stereometer.__all__ == sorted(stereometer.__all__)
    for name in stereometer.__all__:
        assert callable(getattr(stereometer, name))


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(stereometer, "measure_everything")


def test_a_class_name_occurs_once() -> None:
    texts = [file.read_text("utf-8") for file in Path(stereometer.__file__).parent.rglob("*.py")]
    classes = (node for text in texts for node in ast.walk(ast.parse(text)))
    often = Counter(node.name for node in classes if isinstance(node, ast.ClassDef))
    assert [name for name, times in often.items() if times > 1] == []
