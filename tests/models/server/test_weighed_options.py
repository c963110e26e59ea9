"""Options on a server: what its likeliest tokens say of them, and what they do not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import exp, log
from typing import Any

import pytest

from stereometer.core.runs.execute import opened_cache
from stereometer.core.runs.runner import Serial, Tally, computed
from stereometer.core.types import UNNAMED, Answer, Asking, Options, Score
from stereometer.kinds.comments.items import Comment
from stereometer.kinds.comments.recognition.method import ZERO_SHOT, RecognitionOptions
from stereometer.kinds.comments.recognition.questions import Question
from tests.builders.servers import open_server, opened
from tests.models.server.conftest import Stub, said, send

Start = Callable[..., Stub]
QUESTION = "Which sentence is likelier?\nA. The cat sat.\nB. The mat sat.\nAnswer:"
TOLD = ((("user", QUESTION),), (("system", "Be brief."), ("user", QUESTION)))


def asked(server: Any, *requests: Options) -> list[Answer]:
    found = dict(server.answer({each.key: each for each in requests}))
    return [found[each.key] for each in requests]


@pytest.mark.long
def test_options_through_our_own_server_equal_the_local_ones(local: Any, served: str) -> None:
    requests = [
        Options(QUESTION),
        Options(QUESTION, options=("1", "2", "3")),
        *(Options(messages=told) for told in TOLD),
    ]
    server = open_server(f"server:{served}#{local.card.name}")
    assert (server.finding.top_k, server.finding.top_k_chat) == (20, 20)
    for here, there in zip(asked(local, *requests), asked(server, *requests), strict=True):
        if not there.rows:
            assert there.end == UNNAMED
            assert here.column("mass")[0] < 0.02
            continue
        exact, told = here.column("logprob").tolist(), there.column("logprob").tolist()
        if there.end:  # a bound for what is not named
            assert all(value <= bound + 1e-3 for value, bound in zip(exact, told, strict=True))
        else:  # spellings that are not among the likeliest are missing from the sum
            assert told == pytest.approx(exact, abs=0.02)
        assert there.column("mass")[0] == pytest.approx(here.column("mass")[0], abs=0.02)
    assert not any(answer.end for answer in asked(server, *requests[2:]))


def naming(tops: Mapping[str, float], most: int = 20) -> Any:
    """Names the likeliest tokens of a conversation; refuses more than so many."""

    def reply(handler: Any, body: Mapping[str, Any]) -> bool:
        if body.get("top_logprobs", body.get("logprobs") or 0) > most:
            problem = {"error": {"message": "top_logprobs is too large", "param": "top_logprobs"}}
            return send(handler, problem, 400)
        answer = said(body)
        if body.get("top_logprobs"):
            rows = [{"token": text, "logprob": log(share)} for text, share in tops.items()]
            answer["choices"][0]["logprobs"] = {"content": [{"top_logprobs": rows}]}
        return send(handler, answer)

    return reply


def naming_server(stub: Start, tops: Mapping[str, float], most: int = 20) -> Stub:
    server = stub()
    server.always = server.scoring = naming(tops, most)
    return server


SHARES = {"A": 0.5, " A": 0.2, "\u2581B": 0.1, "The": 0.1, "a": 0.05}


@pytest.mark.parametrize("most", [20, 5])
def test_what_is_named_is_summed_white_space_apart(stub: Start, most: int) -> None:
    server = naming_server(stub, SHARES, most)
    backend = opened(server)
    assert Options.kind in backend.abilities.kinds
    (answer,) = asked(backend, Options(messages=TOLD[0]))
    assert [exp(value) for value in answer.column("logprob")] == pytest.approx([0.7, 0.1])
    assert answer.column("mass")[0] == pytest.approx(0.8)
    assert answer.end == ""
    last = server.asked("/v1/chat/completions")[-1]
    assert (last["max_tokens"], last["logprobs"]) == (1, True)
    assert last["top_logprobs"] <= most


def test_an_option_that_is_not_named_has_a_bound_and_no_part_of_the_mass(stub: Start) -> None:
    backend = opened(naming_server(stub, SHARES))
    one, none = asked(
        backend,
        Options(messages=TOLD[0], options=("A", "C")),
        Options(messages=TOLD[0], options=("X", "Y")),
    )
    assert [exp(value) for value in one.column("logprob")] == pytest.approx([0.7, 0.05])
    assert one.end == UNNAMED
    assert one.column("mass")[0] == pytest.approx(0.7)
    assert (none.rows, none.end) == ((), UNNAMED)
    (raw,) = asked(backend, Options(QUESTION))  # only conversations name tokens there
    assert (raw.rows, raw.end) == ((), UNNAMED)


def test_servers_that_name_nothing_or_think_first_are_not_asked_so(stub: Start) -> None:
    assert Options.kind not in opened(stub()).abilities.kinds
    thinking = opened(naming_server(stub, SHARES), room=100)
    assert Options.kind not in thinking.abilities.kinds


def test_completions_name_tokens_in_a_table(stub: Start) -> None:
    def legacy(handler: Any, body: Mapping[str, Any]) -> bool:
        answer = said(body)
        if body.get("logprobs") and "messages" not in body:
            answer["choices"][0]["logprobs"] = {
                "tokens": [" A"],
                "token_logprobs": [log(0.7)],
                "top_logprobs": [{" A": log(0.7), "B": log(0.2), "C": float(-9999)}],
            }
        return send(handler, answer)

    server = stub()
    server.always = server.scoring = legacy
    (answer,) = asked(opened(server), Options(QUESTION))
    assert [exp(value) for value in answer.column("logprob")] == pytest.approx([0.7, 0.2])


def graded(backend: Any, **options: Any) -> list[Score]:
    """Recognition of four comments, by the probabilities of the label words."""
    items = [
        Question(
            Comment(str(at), f"The cat sat {at}.", {}, at), "rude", ("rude", "not-rude"), "rude"
        )
        for at in range(4)
    ]
    how = RecognitionOptions(graded=True, **options)
    asking = Asking(items, ZERO_SHOT.bind(backend, "sound", how), backend)
    with opened_cache(False) as cache:
        return list(computed(asking, Serial(backend), cache, Tally()))


def test_recognition_is_graded_by_what_a_server_names(stub: Start) -> None:
    backend = opened(naming_server(stub, {"Yes": 0.4, "yes": 0.1, "No": 0.2, "no": 0.05}))
    for score in graded(backend, chat=True):
        assert score.answers == ({"text": "yes", "label": "rude"},)
        assert score.derived["probability rude"] == pytest.approx(0.5 / 0.75)
        assert score.derived["mass"] == pytest.approx(0.75)


@pytest.mark.long
def test_graded_recognition_through_our_own_server_equals_the_local_one(
    local: Any, served: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stereometer.core.asking.options.MASS_FLOOR", 0.0)  # it is untrained
    server = open_server(f"server:{served}#{local.card.name}")
    seen = 0
    for here, there in zip(
        *(graded(each, chat=True, wording="3") for each in (local, server)), strict=True
    ):
        if there.derived:
            seen += 1
            assert here.answers == there.answers
            assert here.derived["mass"] == pytest.approx(there.derived["mass"], abs=0.02)
        else:
            assert there.answers[0]["skipped"] == UNNAMED
    assert seen
