"""What the package exports is what can be imported, and it is sorted."""

from __future__ import annotations

import stereometer


def test_exported_names_are_importable_and_sorted() -> None:
    assert stereometer.__all__ == sorted(stereometer.__all__)
    for name in stereometer.__all__:
        assert callable(getattr(stereometer, name))


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(stereometer, "measure_everything")
