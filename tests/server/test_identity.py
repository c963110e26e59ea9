"""Which server a cached answer is of: the same after a stumble or other words, another with other numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from stereometer.backends.probe import SENTENCE, Found, probe
from stereometer.backends.server import Server
from stereometer.backends.wire import Wire
from stereometer.errors import ModelError

Answered = Mapping[str, Any]
EMPTY: Answered = {"choices": []}


class Wired(Wire):
    """Answers like a server, without one."""

    def __init__(self, value: float = -1.0, said: str = " Paris", entry: Answered | None = None) -> None:
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
        return {"choices": [{"logprobs": {"tokens": words, "token_logprobs": [None, *[value] * (len(words) - 1)]}}]}

    def listing(self) -> Any:
        if self.entry is None:
            raise ModelError("It has no list.")
        return {"data": [self.entry]}


def found(wired: Any) -> Found:
    return probe(wired, "parrot")


def identity(wired: Any) -> str:
    return Server(wired, "parrot").card.identity


def test_what_the_model_happened_to_say_is_no_part_of_it() -> None:
    assert identity(Wired(said=" Paris")) == identity(Wired(said=" Lyon"))


def test_the_likelihoods_of_a_known_sentence_are() -> None:
    assert found(Wired(-1.23449)).likelihoods == (-1.234,) * (len(SENTENCE.split()) - 1)
    assert identity(Wired(-1.23401)) == identity(Wired(-1.23399))
    assert identity(Wired(-1.234)) != identity(Wired(-1.236))


def test_the_entry_in_the_list_of_models_is_without_the_time_of_asking() -> None:
    entry = {"id": "parrot", "created": 1, "owned_by": "vllm", "root": "/models/parrot-7b"}
    assert identity(Wired(entry=entry)) == identity(Wired(entry=entry | {"created": 2, "permission": [{"id": "modelperm-7"}]}))
    assert identity(Wired(entry=entry)) != identity(Wired(entry=entry | {"root": "/models/parrot-13b"}))
    assert found(Wired()).listed == ""


def test_a_list_of_others_says_nothing_of_this_one() -> None:
    class Many(Wired):
        def listing(self) -> Any:
            return {"data": [{"id": "one"}, {"id": "other"}, "neither"]}

    assert found(Many()).listed == ""


@pytest.mark.parametrize("kind", ["messages", "prompt", "echo"])
def test_one_answer_without_choices_changes_nothing(kind: str) -> None:
    wired = Wired()
    stumbles = iter([True])
    wired.empty = lambda path, body: kind in body and next(stumbles, False)
    assert found(wired) == found(Wired())
    assert next(stumbles, None) is None


@pytest.mark.parametrize("path", ["/completions", "/chat/completions"])
def test_a_server_that_never_gives_choices_is_not_one_without_the_endpoint(path: str) -> None:
    wired = Wired()
    wired.empty = lambda where, body: where == path
    with pytest.raises(ModelError, match="without any choices"):
        found(wired)


def test_no_choice_where_nothing_is_written_means_that_prompts_are_not_scored() -> None:
    wired = Wired()
    wired.empty = lambda path, body: body.get("max_tokens") == 0
    assert found(wired).likelihood == "none"
