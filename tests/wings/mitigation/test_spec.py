"""MODEL+FILE: an existing path wins, and what is missing is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from stereometer.core.errors import ModelError, UsageError
from stereometer.core.runs.open import check_model, model_spec
from stereometer.core.types.names import ModelName


def split(spec: str) -> tuple[str, Path | None]:
    name = ModelName.parse(spec).checked()
    return str(name.base), name.mitigation


def test_a_spec_without_the_sign_is_the_model() -> None:
    assert split("org/name@main") == ("org/name@main", None)


def test_an_existing_path_wins_over_the_sign(tmp_path: Path) -> None:
    (tmp_path / "c++").mkdir()
    (tmp_path / "a.safetensors").touch()
    whole = f"{tmp_path}/c++"
    assert split(whole) == (whole, None)
    assert split(f"{whole}+{tmp_path}/a.safetensors") == (whole, tmp_path / "a.safetensors")


def test_the_longest_part_that_exists_is_the_mitigation(tmp_path: Path) -> None:
    for name in ("a+b.safetensors", "b.safetensors"):
        (tmp_path / name).touch()
    assert split(f"m+{tmp_path}/a+b.safetensors") == ("m", tmp_path / "a+b.safetensors")
    stacked = f"m+{tmp_path}/a+b.safetensors+{tmp_path}/b.safetensors"
    base, path = split(stacked)
    assert path == tmp_path / "b.safetensors"
    assert split(base) == ("m", tmp_path / "a+b.safetensors")


@pytest.mark.parametrize("spec", ["m+missing.safetensors", "m+", "m+a+b"])
def test_a_missing_mitigation_is_never_the_base(spec: str) -> None:
    with pytest.raises(ModelError, match=r"does not exist|names no mitigation"):
        split(spec)


def test_a_mitigation_alone_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "a.safetensors").touch()
    with pytest.raises(ModelError, match="no model"):
        split(f"+{tmp_path}/a.safetensors")


def test_baselines_have_no_weights(tmp_path: Path) -> None:
    for name in ("fake", "ideal"):
        with pytest.raises(UsageError, match="has no weights"):
            check_model(f"{name}+a.safetensors")
    (tmp_path / "a.safetensors").touch()
    with pytest.raises(UsageError, match="has no weights"):
        check_model(f"server:http://localhost#m+{tmp_path}/a.safetensors")


def test_the_sign_in_a_servers_address_is_its_own() -> None:
    check_model("server:http://localhost#a+b")
    assert model_spec("server:http://localhost#a+b").spec == "http://localhost#a+b"


def test_a_short_mitigation_is_no_slip_in_the_models_name() -> None:
    assert model_spec("minilm-mlm+a.st").spec == "minilm-mlm+a.st"
