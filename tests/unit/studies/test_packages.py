"""A missing package is an error that says what to install."""

from __future__ import annotations

import pytest

from stereometer.errors import UsageError
from stereometer.studies import NEEDED
from stereometer.types.packages import check_packages


def test_what_is_missing_is_named_with_the_extra_that_brings_it() -> None:
    with pytest.raises(UsageError, match=r"fastapi, .*rapidfuzz.*'\.\[web\]"):
        check_packages("Studies", NEEDED.split(), "web", lambda name: None)


def test_nothing_is_said_where_all_is_there() -> None:
    check_packages("Studies", NEEDED.split(), "web", lambda name: name)
