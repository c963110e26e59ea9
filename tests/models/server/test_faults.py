"""A server that limits, stumbles, cuts, drips and lies: what is retried, what is said, what is
kept."""

from __future__ import annotations

import json
import math
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from email.utils import formatdate
from pathlib import Path
from threading import Barrier
from typing import Any

import httpx2
import pytest
import stamina

from stereometer.core.errors import ModelError, UsageError
from stereometer.core.files import write_json
from stereometer.core.runs.cache import Cache
from stereometer.core.runs.open import open_model
from stereometer.core.runs.runner import Serial, Tally
from stereometer.core.types import TOO_LONG, Answer, Continuation, Generate, WholeText
from stereometer.models.server import opener, refusals, wire
from stereometer.models.server.scoring import reading
from tests.builders.asking import answered
from tests.builders.commands import PROGRAM, call, words
from tests.builders.comments import own_table
from tests.builders.ports import free_port
from tests.builders.servers import open_server, opened, slowly, some
from tests.models.server.conftest import Reply, Stub, run_out, said, send

Start = Callable[..., Stub]


def status(code: int, message: str = "busy", **headers: str) -> Reply:
    return lambda handler, body: send(
        handler,
        {"error": {"message": message}},
        code,
        {name.replace("_", "-"): value for name, value in headers.items()},
    )


def cut(handler: Any, body: Any) -> bool:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
    handler.connection.shutdown(socket.SHUT_RDWR)
    handler.close_connection = True
    return True


def silent(handler: Any, body: Any) -> bool:
    """Nothing at all until the time is up."""
    run_out(handler)
    handler.close_connection = True
    return True


def dripping(handler: Any, byte: bytes) -> bool:
    """Until the time is up: for half a minute, or until nobody listens any more."""
    with suppress(OSError):
        for _ in range(600):
            handler.wfile.write(byte)
            handler.wfile.flush()
            if not run_out(handler):
                time.sleep(0.05)
    handler.close_connection = True
    return True


def drip(handler: Any, body: Any) -> bool:
    """A byte now and then: no single read is late, and the whole never comes."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    return dripping(handler, b" ")


def not_json(handler: Any, body: Any) -> bool:
    return send(handler, b"<html>gateway</html>")


def no_choices(handler: Any, body: Any) -> bool:
    return send(handler, {"choices": []})


def long_number(handler: Any, body: Any) -> bool:
    return send(handler, b'{"choices": [{"text": "a", "index": ' + b"1" * 5000 + b"}]}")


def error_in_200(handler: Any, body: Any) -> bool:
    return send(handler, {"error": {"message": "The model is overloaded", "code": 503}})


def plain_error_in_200(handler: Any, body: Any) -> bool:
    return send(handler, {"error": "The model is asleep"})


def header_drip(handler: Any, body: Any) -> bool:
    """Header after header: no single read is late, and the answer never begins."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-A: ")
    return dripping(handler, b"a")


@pytest.mark.parametrize(
    "fault",
    [
        status(429, Retry_After="0.05"),
        status(500),
        status(503),
        status(529),
        cut,
        silent,
        drip,
        header_drip,
        not_json,
        no_choices,
        long_number,
        error_in_200,
        plain_error_in_200,
    ],
    ids=[
        "429",
        "500",
        "503",
        "529",
        "cut",
        "silent",
        "drip",
        "header-drip",
        "not-json",
        "no-choices",
        "long-number",
        "error-in-200",
        "plain-error-in-200",
    ],
)
@pytest.mark.usefixtures("told_when_late")
def test_what_passes_is_tried_again(stub: Start, fault: Reply) -> None:
    server = stub(fault, fault)
    found = dict(opened(server).answer(some()))
    assert [one.text for one in found.values()] == [" yes"] * 3
    assert len(server.asked()) == 1 + 3 + 2  # one of the probe, one each, and two again


def test_retry_after_is_waited_for_in_seconds_and_until_a_date(stub: Start) -> None:
    server = stub(status(429, Retry_After="0.6"))
    backend = opened(server)
    started = time.monotonic()
    assert dict(backend.answer(some(1)))
    assert time.monotonic() - started > 0.6
    assert refusals.seconds(formatdate(time.time() + 30, usegmt=True)) == pytest.approx(30, abs=2)
    assert refusals.seconds("soon") is refusals.seconds("nan") is None
    assert refusals.seconds("-5") == 0
    assert refusals.seconds(f"Mon, 01 Jan {10**30} 00:00:00 GMT") is None
    assert refusals.seconds(f"Mon, 01 Jan 2026 00:00:00 +{10**14}") is None


def test_a_server_that_asks_for_an_hour_is_not_waited_for(stub: Start) -> None:
    with pytest.raises(ModelError, match="asks to wait 3600 s"):
        dict(opened(stub(status(429, Retry_After="3600"))).answer(some(1)))


def test_what_does_not_pass_is_said(stub: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "ATTEMPTS", 3)
    server = stub()
    backend = opened(server)
    server.always = status(500, "on fire")
    with pytest.raises(ModelError, match="on fire"):
        dict(backend.answer(some(1)))
    server.always = no_choices
    with pytest.raises(ModelError, match=r"without any choices.*asked 3 times"):
        dict(backend.answer(some(1)))
    server.always = error_in_200
    with pytest.raises(ModelError, match="The model is overloaded"):
        dict(backend.answer(some(1)))
    server.always = plain_error_in_200
    with pytest.raises(ModelError, match="The model is asleep"):
        dict(backend.answer(some(1)))
    server.always = status(400, "temperature not supported")
    with pytest.raises(ModelError, match="temperature not supported"):
        dict(backend.answer(some(1)))


@pytest.mark.long
def test_a_drip_of_headers_ends_with_the_time_and_breaks_off_nobody_else(stub: Start) -> None:
    server = stub(header_drip)
    server.always = slowly(0.3)
    backend = opened(server, timeout=10.0)
    sent, started = len(server.asked()), time.monotonic()
    assert len(dict(backend.answer(some(4)))) == 4
    assert time.monotonic() - started < 28  # of the half minute that the drip takes
    assert len(server.asked()) - sent == 5


def test_empty_answers_are_asked_for_again_later_and_later(stub: Start) -> None:
    server = stub(*[no_choices] * 3)
    backend = opened(server, wait_initial=0.2)
    started = time.monotonic()
    assert dict(backend.answer(some(1)))
    assert time.monotonic() - started > 0.2 + 0.4 + 0.8


def test_no_server_is_soon_said() -> None:
    started = time.monotonic()
    with pytest.raises(ModelError, match=r"no connection.*asked 3 times"):
        open_model(f"server:http://127.0.0.1:{free_port()}/v1#parrot")
    assert time.monotonic() - started < 20


def test_a_server_that_goes_away_in_the_middle_is_waited_for(
    stub: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "ATTEMPTS", 5)
    backend = opened(stub())
    backend.wire.base = f"http://127.0.0.1:{free_port()}/v1"
    with pytest.raises(ModelError, match=r"no connection.*asked 5 times"):
        dict(backend.answer(some(1)))


def test_long_waiting_is_told_once_for_all(
    stub: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server = stub(*[status(429, "slow down", Retry_After="60")] * 4)
    backend = opened(server)
    monkeypatch.setattr(wire, "QUIET", 30.0)
    monkeypatch.setattr(wire.Wire, "pause", lambda *_: None)
    with stamina.set_testing(True, attempts=4):  # nobody waits
        dict(backend.answer(some(4)))
    assert [one.getMessage() for one in caplog.records if one.name == "stereometer"] == [
        f"{server.url}: status 429 (slow down). It is asked again, "
        "at most 7 more times and for 300 s."
    ]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("server:http://127.0.0.1:1/v1", "does not say which model"),
        ("server:ftp://x#m", "not the address"),
        ("server:#m", "does not say which model"),
        ("server:http://me:secret@127.0.0.1/v1#m", "holds a password"),
        ("server:htp://me:secret@127.0.0.1/v1#m", "holds a password"),
        ("server:http:/me:secret@127.0.0.1/v1#m", "holds a password"),
        ("server:http://me:sec#secret@127.0.0.1/v1#m", "holds a password"),
        ("server:http://me:secret@127.0.0.1/v1", "does not say which model"),
        ("server:http://me:secret@[::1#m", "not the address"),
        ("server:http://[::1#m", r"'http://\[::1' is not the address"),
        ("server:http://127.0.0.1/v1?key=secret#m", "after \\? or a second #"),
        ("server:http://127.0.0.1/v1?key=secret", "does not say which model"),
    ],
)
def test_an_address_that_is_none(spec: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as error:
        open_model(spec)
    assert "secret" not in str(error.value)


def test_an_unknown_model_names_the_known_ones(stub: Start) -> None:
    server = stub()
    server.always = None
    answering: Any = server.RequestHandlerClass
    server.RequestHandlerClass = type("Lost", (answering,), {"do_POST": _lost})
    with pytest.raises(ModelError, match="It has parrot"):
        opened(server)


def test_the_servers_own_reason_is_told_where_nothing_is_answered(stub: Start) -> None:
    server = stub()
    server.always = server.scoring = status(400, "the engine is of version 3")
    with pytest.raises(
        ModelError,
        match=r"completions \(the engine is of version 3\) nor chat \(the engine is of version 3\)",
    ):
        opened(server)


def test_a_model_that_renamed_the_limit_is_asked_by_its_new_name(stub: Start) -> None:
    def renamed(handler: Any, body: Any) -> bool:
        if "messages" not in body:
            return send(handler, {"error": {"message": "This is a chat model."}}, 404)
        return "max_tokens" in body and send(
            handler, {"error": {"message": "Use 'max_completion_tokens' instead."}}, 400
        )

    server = stub()
    server.always = server.scoring = renamed
    backend = opened(server)
    (answer,) = dict(backend.answer(some(1, max_tokens=5))).values()
    assert answer.text == " yes"
    assert server.seen[-1][1]["max_completion_tokens"] == 5


def test_completions_without_log_probabilities_are_enough_for_text(stub: Start) -> None:
    def plain(handler: Any, body: Any) -> bool:
        if "messages" in body:
            return send(handler, {"error": "no"}, 404)
        return "logprobs" in body and send(
            handler, {"error": {"message": "logprobs is not supported"}}, 400
        )

    server = stub()
    server.always = server.scoring = plain
    backend = opened(server)
    assert backend.finding.likelihood == "none"
    assert [one.text for one in dict(backend.answer(some(1))).values()] == [" yes"]


@pytest.mark.parametrize("told", ["temperature is deprecated", "no such thing here"])
def test_a_temperature_that_is_refused_is_left_out_also_where_it_is_not_named(
    stub: Start, told: str
) -> None:
    server = stub()
    refusing = status(400, told)
    server.always = server.scoring = lambda handler, body: (
        "temperature" in body and refusing(handler, body)
    )
    backend = opened(server)
    assert backend.finding.completions
    assert backend.finding.chat
    assert [one.text for one in dict(backend.answer(some(1))).values()] == [" yes"]
    assert "temperature is the server's own" in " ".join(backend.card.notes)


def _lost(handler: Any) -> None:
    handler.rfile.read(int(handler.headers["Content-Length"]))
    send(handler, {"error": {"message": "no such model"}}, 404)


# --------------------------------------------------------------------------------------------- keys


def test_the_key_is_sent_and_never_shown(
    stub: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    monkeypatch.setenv(opener.KEY_VARIABLE, "sesame-1234")
    monkeypatch.setattr(wire, "ATTEMPTS", 2)
    server = stub()
    backend = opened(server)
    assert all(
        headers.get("Authorization") == "Bearer sesame-1234" for _, _, headers in server.seen
    )
    server.always = status(500, "you sent Bearer sesame-1234")
    with pytest.raises(ModelError) as error:
        dict(backend.answer(some(1)))
    server.always = status(401, "sesame-1234 is wrong")
    with pytest.raises(ModelError, match="key is missing, wrong") as refused:
        dict(backend.answer(some(1)))
    assert (
        "sesame"
        not in f"{error.value} {refused.value} {caplog.text} {backend.card} {backend.wire!r}"
    )


KEY = "sesame/1234-and-some-more-of-it"


@pytest.mark.parametrize(
    "said_",
    [
        (500, f"{'x' * 190} {KEY}"),
        (500, f"  {KEY}"),
        (400, {"nested": [KEY]}),
        (404, f"{'x' * 185}   {KEY}"),
        (200, f"{'x' * 70}{KEY}"),
    ],
    ids=["cut", "spaces", "nested", "cut-after-spaces", "not-json"],
)
@pytest.mark.parametrize("escaped", [False, True])
def test_no_half_of_the_key_is_shown(
    stub: Start, monkeypatch: pytest.MonkeyPatch, said_: tuple[int, Any], escaped: bool
) -> None:
    monkeypatch.setenv(opener.KEY_VARIABLE, KEY)
    monkeypatch.setattr(wire, "ATTEMPTS", 2)
    server = stub()
    backend = opened(server)
    code, message = said_
    content = (
        message.encode() if code == 200 else json.dumps({"error": {"message": message}}).encode()
    )
    content = content.replace(b"/", b"\\/") if escaped else content
    server.always = lambda handler, body: send(handler, content, code)
    with pytest.raises(ModelError) as error:
        dict(backend.answer(some(1)))
    assert "sesame" not in str(error.value)


def test_a_key_is_taken_without_the_line_break_after_it(
    stub: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(opener.KEY_VARIABLE, " sesame-1234\n")
    server = stub()
    opened(server)
    assert {headers["Authorization"] for _, _, headers in server.seen} == {"Bearer sesame-1234"}


@pytest.mark.parametrize(
    "key", ["sesame\n1234", "sesame\u20ac1234", "sesame\x7f1234", "sesam\u00e9"]
)
def test_a_key_that_no_header_can_carry_is_refused_without_showing_it(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(opener.KEY_VARIABLE, key)
    with pytest.raises(UsageError, match=opener.KEY_VARIABLE) as error:
        open_model("server:http://127.0.0.1:1/v1#m")
    assert "sesam" not in str(error.value)


def test_a_request_that_cannot_be_written_is_sent_once_and_not_shown(
    stub: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend, tries = opened(stub()), []

    def illegal(*_: Any, **__: Any) -> Any:
        tries.append(1)
        raise httpx2.LocalProtocolError("Illegal header value b'Bearer sesame'")

    monkeypatch.setattr(httpx2.Client, "stream", illegal)
    with pytest.raises(ModelError, match="cannot be written as HTTP") as error:
        backend.wire.get("/models")
    assert len(tries) == 1
    assert "sesame" not in str(error.value)


@pytest.mark.parametrize("key", ["none", KEY])
def test_an_answer_is_kept_without_the_key(
    stub: Start, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv(opener.KEY_VARIABLE, key)
    server = stub(
        lambda handler, body: send(handler, said(body, f" none {handler.headers['Authorization']}"))
    )
    (answer,) = dict(opened(server).answer(some(1))).values()
    assert answer.text == (" none Bearer none" if key == "none" else " none Bearer (key)")


@pytest.mark.parametrize("piece", [KEY[:8], KEY[5:17], KEY[-12:]])
def test_a_piece_of_the_key_is_not_shown(
    stub: Start, monkeypatch: pytest.MonkeyPatch, piece: str
) -> None:
    monkeypatch.setenv(opener.KEY_VARIABLE, KEY)
    server = stub()
    backend = opened(server)
    server.always = status(400, f"key {piece}... is wrong")
    with pytest.raises(ModelError, match=r"key \(key\)\.\.\. is wrong"):
        dict(backend.answer(some(1)))


@pytest.mark.parametrize("code", [200, 400])
def test_fifteen_megabytes_are_refused_in_time(
    stub: Start, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """Looking for the key in all of it took minutes; it is cut or refused before that."""
    monkeypatch.setenv(opener.KEY_VARIABLE, "sk-" + "ab12" * 12)
    text = "sk-ab12context length" * 750_000
    content = {"choices": [{"text": text}]} if code == 200 else {"error": {"message": text}}
    backend = opened(stub(lambda handler, body: send(handler, content, code)))
    began = time.process_time()
    with pytest.raises(ModelError, match=r"No answer is that long|refused the request"):
        dict(backend.answer(some(1)))
    assert time.process_time() - began < 5  # it takes 0.3


# ------------------------------------------------------------------------------ cache, capabilities


@pytest.mark.parametrize("chat", [False, True])
def test_tokens_are_drawn_from_the_whole_distribution(stub: Start, chat: bool) -> None:
    server = stub()
    backend = opened(server)
    request = Generate(messages=(("user", "Well?"),)) if chat else Generate("Well?")
    dict(backend.answer({request.key: request}))
    path, body, _ = server.seen[-1]
    assert path.endswith("/chat/completions") is chat
    assert body["top_p"] == 1


def test_every_answer_is_kept_when_it_arrives_and_the_run_goes_on(
    stub: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "ATTEMPTS", 2)
    server = stub(*[lambda handler, body: False] * 5)
    server.always = status(500, "gone")
    requests = some(12)
    with Cache() as cache:
        with pytest.raises(ModelError, match="gone"):
            answered(requests, Serial(opened(server, in_flight=1)), cache, Tally())
        server.always = None
        tally = Tally()
        found = answered(requests, Serial(opened(server)), cache, tally)
    assert len(found) == 12
    assert tally.from_cache == 5


def test_no_more_in_flight_than_asked_and_as_many(stub: Start) -> None:
    server = stub()
    three = Barrier(3)
    server.always = lambda handler, body: three.wait(60) < 0
    dict(opened(server, in_flight=3).answer(some(12)))
    assert server.most == 3


def test_a_prompt_that_is_too_long_is_an_answer(stub: Start) -> None:
    told = {
        "error": {
            "message": "This model's maximum context length is 4 tokens",
            "code": "context_length_exceeded",
        }
    }
    server = stub(lambda handler, body: send(handler, told, 400))
    (answer,) = dict(opened(server).answer(some(1))).values()
    assert (answer.text, answer.end) == ("", TOO_LONG)


@pytest.mark.parametrize(
    ("code", "text", "too_long"),
    [
        (
            400,
            "This model's maximum context length is 4096 tokens. However, you requested 5000",
            True,
        ),
        (400, "the request exceeds the available context size, try increasing it", True),
        (422, "input is longer than the context window", True),
        (
            422,
            (
                "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given:"
                " 5000 `inputs` tokens"
            ),
            True,
        ),
        (
            422,
            "Input validation error: `inputs` must have less than 1024 tokens. Given: 2000",
            True,
        ),
        (
            400,
            "the model is loaded with context length of only 4096 tokens, which is not enough",
            True,
        ),
        (
            400,
            "The decoder prompt (length 3000) is longer than the maximum model length of 2048.",
            True,
        ),
        (400, "prompt is too long: 210000 tokens > 200000 maximum", True),
        (
            400,
            "The input token count (40000) exceeds the maximum number of tokens allowed (32768).",
            True,
        ),
        (
            400,
            "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
            True,
        ),
        (400, "Input is too long for requested model.", True),
        (400, "Prompt length 5000 is greater than max_seq_len 4096", True),
        (422, "`max_new_tokens` must be <= 512. Given: 1000", False),
        (
            400,
            "max_tokens is too large: 9000. This model supports at most 4096 completion tokens",
            False,
        ),
        (400, "the stop string is too long", False),
        (429, "The input token count per minute exceeds the maximum of your quota", False),
        (500, '{"error": {"type": "exceed_context_size_error"}}', True),
        (500, "maximum context length exceeded", False),
        (500, "context deadline exceeded", False),
        (400, "context deadline exceeded while the context length was read", False),
        (400, "rate of requests in this context exceeds the maximum", False),
        (503, "context_length_exceeded", False),
    ],
)
def test_only_what_names_the_window_is_too_long(code: int, text: str, too_long: bool) -> None:
    assert refusals.means_too_long(code, text) is too_long


def test_a_time_out_behind_the_server_is_tried_again_and_not_kept(stub: Start) -> None:
    server = stub(status(500, 'Post "http://upstream": context deadline exceeded'))
    (answer,) = dict(opened(server).answer(some(1))).values()
    assert (answer.text, answer.end) == (" yes", "stop")


def test_a_filter_is_an_outcome_of_its_own(stub: Start) -> None:
    def filtered(handler: Any, body: Any) -> bool:
        return send(handler, {"choices": [{"text": "", "finish_reason": "content_filter"}]})

    (answer,) = dict(opened(stub(filtered)).answer(some(1))).values()
    assert answer.end == "filtered"


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "a\ud83d"},
        {"text": "a\ud83d", "finish_reason": "content_filter"},
        {"refusal": "a\udc00"},
    ],
)
def test_half_a_surrogate_pair_is_replaced_and_can_be_stored(
    stub: Start, fields: dict[str, str], tmp_path: Path
) -> None:
    server = stub(
        lambda handler, body: send(handler, {"choices": [{"finish_reason": "stop", **fields}]})
    )
    (answer,) = dict(opened(server).answer(some(1))).values()
    assert answer.text == "a\ufffd"
    write_json(tmp_path / "answer.json", answer.text)


def test_the_parts_of_a_message_are_joined(stub: Start) -> None:
    parts = [{"type": "text", "text": "No"}, {"type": "image"}, {"type": "text", "text": "."}]
    server = stub(
        lambda handler, body: send(handler, {"choices": [{"message": {"content": parts}}]})
    )
    request = Generate(messages=(("user", "Well?"),))
    assert dict(opened(server).answer({request.key: request}))[request.key].text == "No."


def test_a_whole_surrogate_pair_is_one_character(stub: Start) -> None:
    content = b'{"choices": [{"text": "\\ud83d\\ude00"}]}'
    (answer,) = dict(
        opened(stub(lambda handler, body: send(handler, content))).answer(some(1))
    ).values()
    assert answer.text == "\U0001f600"


def test_an_endpoint_that_ignores_echo_gives_no_likelihoods(stub: Start) -> None:
    server = stub()
    backend = opened(server)
    assert backend.finding.likelihood == "none"
    assert WholeText.kind not in backend.abilities.kinds
    ran = call("run", "starter", "--model", f"server:{server.url}#parrot")
    assert ran.code == 3
    assert "cat-forced-choice" in ran.err


def test_numbers_that_are_not_of_the_prompt_are_no_likelihoods(stub: Start) -> None:
    """Generated tokens with log-probabilities, or the prompt with numbers that prefer shuffled
    words."""
    from stereometer.models.server.probe import SENTENCE, SHUFFLED, known_sentence

    class Lying(wire.Wire):
        def __init__(self, better: str) -> None:
            self.better = better

        def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
            words = body["prompt"].replace(" ", "\n ").split("\n")
            value = -1.0 if body["prompt"] == self.better else -3.0
            values = [None, *[value] * (len(words) - 1)]
            return {"logprobs": {"tokens": words, "token_logprobs": values}}

    assert known_sentence(Lying(SENTENCE), "m", "echo")
    assert not known_sentence(Lying(SHUFFLED), "m", "echo")
    assert reading([(" yes", -0.1)], SENTENCE) is None
    assert reading([], SENTENCE) is None


def test_vllms_way_of_scoring_prompts(stub: Start) -> None:
    from stereometer.models.server.scoring import by_prompt_logprobs

    class Served(wire.Wire):
        def __init__(self) -> None: ...

        def post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
            assert body["prompt_logprobs"] == 0
            listed = [None, {"17": {"logprob": -2.5, "rank": 3, "decoded_token": " cat"}}]
            return {"text": "x", "prompt_logprobs": listed}

    assert by_prompt_logprobs(Served(), "m", "The cat") == [("", None), (" cat", -2.5)]


def test_continuations_own_the_tokens_whose_first_letter_is_theirs() -> None:
    from stereometer.models.server.scoring import row

    text, start = Continuation("The cat", "sat down").joined
    found = row([("The", None), (" cat", -1.0), (" sat", -2.0), (" down", -3.0)], text, start)
    assert list(found.column("logprob")) == [-2.0, -3.0]
    assert (
        row([("The", None), (" cat sat", -1.0), (" down", -3.0)], text, start).end
        == "token-boundary"
    )


@pytest.mark.parametrize("part", ["\ufffd", "<0xE2>", "bytes:\\xe2\\x82"])
def test_a_text_whose_character_is_split_over_tokens_is_skipped_and_the_run_goes_on(
    part: str,
) -> None:
    from stereometer.models.server.scoring import SPLIT, row

    assert row(
        [("The", None), (" ", -1.0), (part, -2.0), (part, -0.1), (" note", -3.0)],
        "The \u20ac note",
        0,
    ) == Answer((), end=SPLIT)
    with pytest.raises(ModelError, match="no longer gives"):
        row([("Some", None), (part, -2.0), (" other", -1.0)], "The \u20ac note", 0)
    with pytest.raises(ModelError, match="no longer gives"):
        row([("The", None), (" cat", -1.0)], "The \u20ac note", 0)


def test_a_split_text_is_an_answer_with_its_reason_and_ends_no_run(stub: Start) -> None:
    def scored(handler: Any, body: Any) -> bool:
        return send(
            handler,
            {
                "choices": [
                    {
                        "logprobs": {
                            "tokens": ["A", "\ufffd", "\ufffd"],
                            "token_logprobs": [None, -1.0, -1.0],
                        }
                    }
                ]
            },
        )

    server = stub()
    backend = opened(server)
    backend.finding = replace(backend.finding, likelihood="echo")
    server.scoring = scored
    request = WholeText("A\u20ac")
    assert (
        dict(backend.answer({request.key: request}))[request.key].end
        == "a character is split over tokens"
    )


@pytest.mark.parametrize("value", ["-Infinity", "NaN", "null", "-" + "9" * 400])
def test_a_scored_token_without_a_number_skips_its_item(stub: Start, value: str) -> None:
    tokens = '["The", " cat", " sat"]'
    server = stub()
    backend = opened(server)
    backend.finding = replace(backend.finding, likelihood="echo")
    content = (
        f'{{"choices": [{{"logprobs": {{"tokens": {tokens}, "token_logprobs": [null, {value},'
        " -1.0]}}]}".encode()
    )
    server.scoring = lambda handler, body: send(handler, content)
    whole, end = WholeText("The cat sat"), Continuation("The cat", "sat")
    found = dict(backend.answer({one.key: one for one in (whole, end)}))
    assert found[whole.key] == Answer((), end="the server gives a token no log-probability")
    assert list(found[end.key].column("logprob")) == [-1.0]


def test_a_text_of_one_token_has_nothing_to_score() -> None:
    from stereometer.models.server.scoring import row

    assert row([("Hello", None)], "Hello", 0) == Answer((), end="no token to score")
    assert row([("Hello", math.nan)], "Hello", 0) == Answer(
        (), end="the server gives a token no log-probability"
    )


def test_numbers_above_zero_and_no_numbers_at_all_are_no_likelihoods() -> None:
    from stereometer.models.server.scoring import row, tokens_of

    assert tokens_of(["The", " cat"], [None, 0.5]) is None
    assert tokens_of(["The", " cat"], [None, False]) is None
    assert tokens_of(["The", " cat"], [None, 10**400]) is None
    with pytest.raises(ModelError, match="no longer gives"):
        row(tokens_of(["The", " cat"], [None, None]), "The cat", 0)


@pytest.mark.parametrize(
    ("tokens", "text", "first"),
    [
        ([("", None), (" cat", -1.0), (" sat", -1.0)], "The cat sat", "The"),
        ([("The", None), (" cat", -1.0), (" sat", -1.0)], "The cat sat", "The"),
        ([("<s>", None), ("cat", -1.0), (" sat", -1.0)], "cat sat", None),
        ([("cat", -2.0), (" sat", -1.0)], "cat sat", None),
        ([(" ", None), ("cat", -1.0), (" sat", -1.0)], " cat sat", " "),
        ([("<s>", None), (" cat", -1.0), (" sat", -1.0)], "The cat sat", "no"),
        ([("", None), (" cat", -1.0), (" sat", -1.0)], "The old cat sat", "no"),
        ([("", None), (" cat", -1.0), (" sat", -1.0)], "Thethethethethethethethe cat sat", "no"),
        ([("The", None), (" cat", -1.0)], "The cat sat", "no"),
        ([("", None), ("The cat sat on it", -1.0)], "The cat sat on it", "no"),
        ([("The", None), (" cat sat on the mat", -1.0)], "The cat sat on the mat", "no"),
        ([("", None), ("cat" * 9, -1.0)], "cat" * 9, "no"),
    ],
)
def test_tokens_are_those_of_a_text_all_but_its_first(
    tokens: Any, text: str, first: str | None
) -> None:
    """A text in one piece has no tokens, whatever its number."""
    found = reading(tokens, text)
    assert ("no" if found is None else found.first) == first


def test_space_after_a_text_does_not_move_its_tokens() -> None:
    from stereometer.models.server.scoring import row

    found = row([("The", None), (" cat", -1.0), (" sat", -2.0)], "The cat sat  ", len("The cat"))
    assert list(found.column("logprob")) == [-2.0]


def test_ask_over_http_with_every_fault_in_between(stub: Start, tmp_path: Any) -> None:
    table = own_table(tmp_path / "own.csv", 80)
    server = stub(*[status(429, Retry_After="0"), cut, not_json, status(502)] * 3)
    ran = call(
        f"ask --model server:{server.url}#parrot --column comment=text --column label=gold "
        "--size 4 --repeats 2 --setting zero-shot --resamples 100 --json",
        table,
        "--out",
        tmp_path / "run",
    )
    assert ran.code == 0, ran.err
    result = ran.json["results"][0]
    assert result["settings"]["repeats"] == 2
    assert {row["n"] for row in result["estimates"] if not row["slice"]} == {32}


@pytest.mark.parametrize(
    ("mistake", "words"),
    [("size", "26 are needed"), ("template", "slot {nothing}")],
    ids=["too-few-comments", "a-bad-slot"],
)
def test_a_mistake_in_a_late_setting_is_told_before_anything_is_asked(
    stub: Start, tmp_path: Path, mistake: str, words: str
) -> None:
    table, server = own_table(tmp_path / "own.csv", 80), stub()
    (tmp_path / "few-shot-mixed.txt").write_text("{comment} {nothing}")
    wrong = ["--size", 8] if mistake == "size" else ["--size", 3, "--templates", tmp_path]
    ran = call(
        f"ask --model server:{server.url}#parrot --column comment=text --column label=gold "
        "--repeats 1 --setting zero-shot --setting one-shot --setting few-shot-mixed "
        "--resamples 100",
        table,
        "--out",
        tmp_path / "run",
        *wrong,
    )
    assert words in ran.err
    assert ran.code, ran.out
    assert len(server.asked()) == 1  # of the probe


@pytest.mark.long
@pytest.mark.usefixtures("told_when_late")
def test_a_flaky_proxy_changes_nothing(stub: Start) -> None:
    """Answers through one that limits, cuts and lies are those of the server itself."""
    from stereometer.models.baselines.fake import Fake
    from tests.builders.served import running

    with running(Fake()) as real:
        direct = dict(open_server(f"server:{real.url}#fake").answer(some(30)))
        proxy = stub(
            *[status(429, Retry_After="0"), cut, silent, not_json, no_choices, status(503)] * 3
        )
        proxy.behind = real.url
        through = open_server(
            f"server:{proxy.url}#fake", 0, {"timeout": 60.0, "in_flight": 4, "wait_initial": 0.01}
        )
        found = dict(through.answer(some(30)))
    assert {key: one.text for key, one in found.items()} == {
        key: one.text for key, one in direct.items()
    }
    assert not proxy.faults


@pytest.mark.long
def test_an_interrupted_run_leaves_at_once_and_goes_on(stub: Start, tmp_path: Any) -> None:
    server = stub()
    server.always = slowly(0.1)
    table = own_table(tmp_path / "own.csv", 80)
    arguments = words(
        f"ask --model server:{server.url}#parrot --column comment=text --column label=gold --size 8"
        " --repeats 10 --setting zero-shot --no-chat --in-flight 2 --resamples 100",
        table,
        "--out",
        tmp_path / "run",
    )
    running = subprocess.Popen(
        [PROGRAM, *arguments], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    )
    while len(server.asked()) < 20 and running.poll() is None:
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, said_ = running.communicate(timeout=120)
    assert running.returncode == 130, said_
    assert "interrupted" in said_
    assert "Traceback" not in said_
    before = len(server.asked())
    assert before < 320  # the rest was not asked for
    server.always = None
    assert call(*arguments).code == 0
    assert len(server.asked()) - before <= 320 - 10  # what had arrived was not asked for again


def test_a_dry_run_asks_a_server_nothing_and_says_what_it_costs(tmp_path: Any) -> None:
    """Nobody listens, and nobody is missed."""
    table = own_table(tmp_path / "own.csv", 80)
    settings = [one for name in ("zero-shot", "one-shot") for one in ("--setting", name)]
    asked = ("ask", table, "-m", "server:http://127.0.0.1:9#m", "--size", 4, *settings)
    asked = (*asked, "--column", "comment=text", "--column", "label=gold", "--dry-run")
    ran = call(*asked, "--price", "1/2", "--json")
    assert ran.code == 0, ran.err
    assert "No server was asked." in ran.err
    for plan in ran.json["plans"]:
        assert (plan["requests"], plan["seconds"]) == (160, None)
        assert plan["tokens"] == plan["tokens_read"] + plan["tokens_written"] > 160
        cost = (plan["tokens_read"] + 2 * plan["tokens_written"]) / 1e6
        assert plan["money"] == pytest.approx(cost)
    total = ran.json["total"]
    assert total["money"] == pytest.approx(sum(plan["money"] for plan in ran.json["plans"]))
    assert f"at most about ${total['money']:.4f}" in call(*asked, "--price", "1/2").out
    for share, over in ((0.9, True), (1.1, False)):  # of what all plans take together
        budget = ("--budget", f"${share * total['money']:.6f}", "--price", "1/2")
        assert ("The plan may exceed the budget of $" in call(*asked, *budget).err) == over
    assert call(*asked, "--json").json["total"]["money"] is None
    both = call(
        "run", "starter", "-m", "server:http://127.0.0.1:9,http://127.0.0.1:8#m", "--dry-run"
    )
    assert "in all: " in both.out
