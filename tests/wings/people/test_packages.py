"""A missing package is an error that says what to install."""

from __future__ import annotations

import pytest

from stereometer.core.errors import UsageError
from stereometer.core.types.packages import check_packages
from stereometer.wings.people import NEEDED


def test_what_is_missing_is_named_with_the_extra_that_brings_it() -> None:
    with pytest.raises(UsageError, match=r"fastapi, .*rapidfuzz.*'\.\[web\]"):
        check_packages("Studies", NEEDED.split(), "web", lambda name: None)


def test_nothing_is_said_where_all_is_there() -> None:
    check_packages("Studies", NEEDED.split(), "web", lambda name: name)
