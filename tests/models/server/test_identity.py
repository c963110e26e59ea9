"""Which server a cached answer is of: the same after a stumble or other words, another with other
numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from stereometer.core.errors import DataError, ModelError
from stereometer.core.runs.cache import VARIABLE, Cache
from stereometer.core.runs.open import open_model
from stereometer.models.server.backend import Server, known
from stereometer.models.server.probe import SENTENCE, ServerFinding, alike, probe
from stereometer.models.server.wire import Wire
from tests.builders.commands import call
from tests.models.server.conftest import Stub, send

Answered = Mapping[str, Any]
EMPTY: Answered = {"choices": []}


class Wired(Wire):
    """Answers like a server, without one."""

    def __init__(
        self, value: float = -1.0, said: str = " Paris", entry: Answered | None = None
    ) -> None:
        super().__init__("http://here/v1", wait_initial=0.001)
        self.value, self.said, self.entry = value, said, entry
        self.empty: Callable[[str, Answered], bool] = lambda path, body: False

    def _once(self, method: str, path: str, body: Any) -> Any:
        return self.listing() if method == "GET" else self.answered(path, body)

    def answered(self, path: str, body: Answered) -> Any:
        if self.empty(path, body):
            return EMPTY
        if "messages" in body:
            return {"choices": [{"message": {"content": self.said}}]}
        if "echo" not in body:
            return {"choices": [{"text": self.said}]}
        words = body["prompt"].replace(" ", "\n ").split("\n")
        value = self.value if body["prompt"] == SENTENCE else self.value - 2
        return {
            "choices": [
                {
                    "logprobs": {
                        "tokens": words,
                        "token_logprobs": [None, *[value] * (len(words) - 1)],
                    }
                }
            ]
        }

    def listing(self) -> Any:
        if self.entry is None:
            raise ModelError("It has no list.")
        return {"data": [self.entry]}


def finding(wired: Any) -> ServerFinding:
    return probe(wired, "parrot")


def identity(wired: Any) -> str:
    with Cache() as memory:
        return Server(wired, "parrot", known(wired, "parrot", memory)).card.identity


def test_what_the_model_happened_to_say_is_no_part_of_it() -> None:
    assert identity(Wired(said=" Paris")) == identity(Wired(said=" Lyon"))


def test_likelihoods_that_are_near_are_of_the_same_model() -> None:
    """On either side of any edge that a rounding might have."""
    first = identity(Wired(-1.2345))
    assert [
        identity(Wired(-1.2345 + noise)) for noise in (-1e-4, 1e-4, -3e-3, 3e-3, -0.04, 0.04)
    ] == [first] * 6


def test_likelihoods_that_are_far_are_of_another() -> None:
    first, second = identity(Wired(-1.2)), identity(Wired(-1.3))
    assert first != second
    assert [identity(Wired(-1.21)), identity(Wired(-1.31))] == [first, second]


def test_small_steps_lead_nowhere() -> None:
    """Each is held against the first, not against the one before."""
    first = identity(Wired(-1.0))
    assert identity(Wired(-1.04)) == first
    assert identity(Wired(-1.08)) != first


def test_servers_are_not_taken_for_each_other() -> None:
    assert identity(Wired(entry={"id": "parrot", "root": "a"})) != identity(
        Wired(entry={"id": "parrot", "root": "b"})
    )


def test_as_many_tokens_belong_to_the_same_model() -> None:
    assert alike([-1.0, -2.0], [-1.01, -2.01])
    assert not alike([-1.0, -2.0], [-1.0])


def test_a_memory_that_cannot_be_used_is_no_reason_not_to_ask() -> None:
    class Broken:
        def record(self, table: str, key: str) -> str | None:
            raise DataError("The cache is damaged.")

        def keep(self, table: str, key: str, record: str) -> None:
            raise DataError("The cache is damaged.")

    wired: Any = Wired()
    assert known(wired, "parrot", Broken()) == known(wired, "parrot", None)


def test_a_cache_that_cannot_be_used_is_no_reason_not_to_ask(
    stub: Callable[..., Stub], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file" / "folder"))
    assert open_model(f"server:{stub().url}#parrot").card.identity


@pytest.mark.long
def test_a_run_on_a_server_with_noise_goes_on_where_it_stopped(
    stub: Callable[..., Stub], tmp_path: Path
) -> None:
    """Scored prompts and written answers alike."""
    noise = Random(0)

    def noisy(handler: Any, body: Any) -> bool:
        if "echo" not in body:
            return False
        words = body["prompt"].replace(" ", "\n ").split("\n")
        value = -1.0 if body["prompt"] == SENTENCE else -3.0
        numbers = [None, *(value + noise.gauss(0, 3e-3) for _ in words[1:])]
        return send(
            handler,
            {"choices": [{"text": "", "logprobs": {"tokens": words, "token_logprobs": numbers}}]},
        )

    server = stub()
    server.scoring = noisy
    command = [
        "starter",
        "--model",
        f"server:{server.url}#parrot",
        "--limit",
        4,
        "--resamples",
        100,
        "--coverage",
        0,
    ]
    for code, verb in ((0, ["run", "--measure", "pair-sentence-likelihood"]), (3, ["ask"])):
        first, second = (
            call(verb[0], *command, *verb[1:], "--out", tmp_path / verb[0]) for _ in range(2)
        )
        assert first.code == second.code == code, second.err  # what it writes cannot be read
    asked = len(server.seen)
    assert (
        call(
            "run", *command, "--measure", "pair-sentence-likelihood", "--out", tmp_path / "again"
        ).code
        == 0
    )
    assert len(server.seen) - asked == 4  # of the probe


def test_the_entry_in_the_list_of_models_is_without_the_time_of_asking() -> None:
    entry = {"id": "parrot", "created": 1, "owned_by": "vllm", "root": "/models/parrot-7b"}
    assert identity(Wired(entry=entry)) == identity(
        Wired(entry=entry | {"created": 2, "permission": [{"id": "modelperm-7"}]})
    )
    assert identity(Wired(entry=entry)) != identity(
        Wired(entry=entry | {"root": "/models/parrot-13b"})
    )
    assert finding(Wired()).listed == ""


def test_a_list_of_others_says_nothing_of_this_one() -> None:
    class Many(Wired):
        def listing(self) -> Any:
            return {"data": [{"id": "one"}, {"id": "other"}, "neither"]}

    assert finding(Many()).listed == ""


@pytest.mark.parametrize("kind", ["messages", "prompt", "echo"])
def test_one_answer_without_choices_changes_nothing(kind: str) -> None:
    wired = Wired()
    stumbles = iter([True])
    wired.empty = lambda path, body: kind in body and next(stumbles, False)
    assert finding(wired) == finding(Wired())
    assert next(stumbles, None) is None


@pytest.mark.parametrize("path", ["/completions", "/chat/completions"])
def test_a_server_that_never_gives_choices_is_not_one_without_the_endpoint(path: str) -> None:
    wired = Wired()
    wired.empty = lambda where, body: where == path
    with pytest.raises(ModelError, match="without any choices"):
        finding(wired)


def test_no_choice_where_nothing_is_written_means_that_prompts_are_not_scored() -> None:
    wired = Wired()
    wired.empty = lambda path, body: body.get("max_tokens") == 0
    assert finding(wired).likelihood == "none"
