"""`published` lists values that papers printed, with their sources."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

import stereometer
from stereometer.cli.app import app
from stereometer.core.benchmarks.published import values
from stereometer.core.errors import UnknownName
from tests.builders.sure import sure


def test_the_verb_lists_values_with_their_sources() -> None:
    listing = stereometer.published("crows-pairs", model="google-bert/bert-base-uncased")
    (overall,) = (
        row
        for row in listing.rows()
        if row["measure"] == "pair-likelihood"
        and row["name"] == "pair_preference"
        and not row["slice"]
    )
    assert overall["value"] == 60.5
    assert overall["source"].endswith("Table 2, p. 5")
    assert sure(overall["asked"]) == 1508
    assert len(stereometer.published().values) == len(values())


def test_an_unknown_benchmark_or_model_gets_a_hint() -> None:
    with pytest.raises(UnknownName, match=r"stereoset.*`stereometer published` shows"):
        stereometer.published("steroset")
    with pytest.raises(UnknownName, match=r"gpt2.*`stereometer published` shows"):
        stereometer.published(model="gpt22")


def test_every_command_line_of_the_list_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for benchmark in ((), ("stereoset",), ("abc",), ("ethos",)):
        output = CliRunner().invoke(app, ["published", *benchmark]).output
        assert max(map(len, output.splitlines())) <= 80
        assert "No room" not in output or benchmark == ("ethos",)
