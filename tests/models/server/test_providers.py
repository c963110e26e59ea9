"""Short forms of known services: one table of addresses, and each key for its own host."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from stereometer.core import catalog
from stereometer.models.server import opener
from stereometer.models.server.opener import PROVIDERS, headers_for, key_for
from tests.builders.commands import assert_refused, call
from tests.builders.comments import own_table
from tests.builders.servers import opened
from tests.models.server.conftest import Stub, send

Start = Callable[..., Stub]
VARIABLES = (*(each.variable for each in PROVIDERS.values()), opener.AZURE_VARIABLE)
AZURE = "https://mine.openai.azure.com/openai/v1"


@pytest.fixture(autouse=True)
def every_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is its variable's name; the one for any server is not set."""
    monkeypatch.delenv(opener.KEY_VARIABLE, raising=False)
    for name in filter(None, VARIABLES):
        monkeypatch.setenv(name, f"key-of-{name}")


def test_every_service_of_the_table_is_a_scheme_of_the_catalog() -> None:
    for scheme, provider in PROVIDERS.items():
        found = catalog.find("opener", scheme)
        assert found.whole("a/b:c") == f"{provider.address}#a/b:c"


def test_a_key_goes_to_its_own_host_only(stub: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    for provider in PROVIDERS.values():
        held = f"key-of-{provider.variable}" if provider.variable else ""
        assert key_for(provider.address) == held
        assert key_for(provider.address.replace("https://", "https://not-")) == ""
        host = provider.address.split("/")[2]
        assert key_for(f"https://{host}.elsewhere.org/v1") == ""
        assert key_for(provider.address.replace("https://", "http://")) == ""
    server = stub()
    opened(server)
    assert all("Authorization" not in headers for _, _, headers in server.seen)
    monkeypatch.setenv(opener.KEY_VARIABLE, "for-any-server")
    assert key_for(server.url) == "for-any-server"
    assert key_for(PROVIDERS["openai"].address) == "key-of-OPENAI_API_KEY"
    monkeypatch.delenv("OPENAI_API_KEY")
    assert key_for(PROVIDERS["openai"].address) == ""


def test_azure_takes_its_key_in_a_header_of_its_own(
    stub: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert headers_for(AZURE, key_for(AZURE)) == {"api-key": "key-of-AZURE_OPENAI_API_KEY"}
    assert key_for("https://openai.azure.com.elsewhere.org/v1") == ""
    monkeypatch.setattr(opener, "AZURE_HOSTS", ("127.0.0.1",))
    server = stub()
    opened(server)
    for _, _, headers in server.seen:
        assert headers["api-key"] == "key-of-AZURE_OPENAI_API_KEY"
        assert "Authorization" not in headers


@pytest.mark.parametrize("scheme", [name for name, each in PROVIDERS.items() if each.variable])
def test_a_missing_key_is_one_sentence_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    variable = PROVIDERS[scheme].variable
    monkeypatch.delenv(variable)
    said = call("ask starter -m", f"{scheme}:some-model", "--out", tmp_path)
    assert_refused(said, 2, f"without a key: set {variable} to yours.")


def test_a_short_form_is_asked_at_its_address_with_its_key(
    stub: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = stub()
    local = replace(PROVIDERS["openai"], address=server.url)
    monkeypatch.setitem(PROVIDERS, "openai", local)
    said = call(
        "ask -m openai:parrot --column comment=text --column label=gold --size 2 --repeats 1",
        *("--setting", "zero-shot", "--resamples", 100, "--out", tmp_path / "run"),
        own_table(tmp_path / "own.csv", 20),
    )
    assert said.code == 0, said.err
    assert {body["model"] for _, body, _ in server.seen} == {"parrot"}
    keys = {headers["Authorization"] for _, _, headers in server.seen}
    assert keys == {"Bearer key-of-OPENAI_API_KEY"}
    assert "key-of" not in said.out + said.err


@pytest.mark.parametrize(
    ("second", "options", "told"),
    [
        ("openai:gpt", "", "without a key: set OPENAI_API_KEY"),
        ("gemini:g", "--budget $5 --price parrot=1/2", "needs a price of g."),
        ("vllm:org/name", "", "'.[vllm]'"),
    ],
)
def test_what_the_second_model_lacks_is_said_before_the_first_is_asked(
    stub: Start,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    second: str,
    options: str,
    told: str,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    found = "stereometer.core.types.opener.find_spec"
    monkeypatch.setattr(found, lambda name: None if name == "vllm" else find_spec(name))
    server = stub()
    said = call(f"ask starter -m server:{server.url}#parrot -m {second} {options} --out", tmp_path)
    assert said.code in (2, 3)
    assert told in said.err
    assert not server.seen


def test_a_service_of_this_machine_and_a_price_of_nothing_cost_nothing(
    stub: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = stub()
    monkeypatch.setitem(PROVIDERS, "ollama", replace(PROVIDERS["ollama"], address=server.url))
    for models, price in (
        ("-m ollama:parrot", "other=1/2"),
        (f"-m server:{stub().url}#parrot", "parrot=0/0"),
    ):
        said = call(
            "ask --column comment=text --column label=gold --size 2 --repeats 1 --setting",
            *("zero-shot", "--resamples", 100, "--budget", "$1", "--price", price),
            *(*models.split(), "--out", tmp_path / price[:5], own_table(tmp_path / "own.csv", 20)),
        )
        assert said.code == 0, said.err


def test_what_a_card_says_of_one_of_several_models_names_it(stub: Start, tmp_path: Path) -> None:
    def untempered(handler: Any, body: Any) -> bool:
        problem = {"error": {"message": "no", "param": "temperature"}}
        return "temperature" in body and send(handler, problem, 400)

    strict = stub()
    strict.always = strict.scoring = untempered
    said = call(
        f"run starter -m server:{stub().url}#lax -m server:{strict.url}#strict --limit 20",
        *("--measure", "pair-forced-choice", "--coverage", "0", "--out", tmp_path),
    )
    assert "note: strict: The server refuses temperature" in said.out
