"""The digest of many rows, of which one at a time is held as text."""

from __future__ import annotations

import pytest

from stereometer.core.types.document import digest_of, digest_of_rows


@pytest.mark.parametrize("rows", [[], [{"b": "é", "a": 1}], [{"a": ""}, [1, 2], "x"]])
def test_it_is_the_digest_of_the_list(rows: list[object]) -> None:
    assert digest_of_rows(iter(rows)) == digest_of(rows)
