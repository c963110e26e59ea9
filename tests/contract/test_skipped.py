"""A test that is skipped says why, and is a failure where everything should be there."""

from __future__ import annotations

from pathlib import Path

import pytest

CONFTEST = Path(__file__).parents[1] / "conftest.py"


@pytest.mark.parametrize(("options", "code"), [((), 0), (("--no-skips",), 1)])
def test_skips_are_failures_where_nothing_may_be_missing(
    pytester: pytest.Pytester, options: tuple[str, ...], code: int
) -> None:
    pytester.makeconftest(CONFTEST.read_text())
    pytester.makepyfile("import pytest\ndef test_it(): pytest.skip('nginx is not installed')")
    ran = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-p", "no:slipcover", *options)
    ran.stdout.fnmatch_lines(["skipped tests: 1*", "*test_it: *nginx is not installed"])
    assert ran.ret == code
