"""Hosted and reasoning models, by one stand-in with a table of what services refuse and answer,
asked through `stereometer ask` from end to end."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from stereometer.core.files import read_json
from tests.builders.commands import Said, call
from tests.builders.comments import own_table
from tests.models.server.conftest import Stub, said, send

Start = Callable[..., Stub]
Body = Mapping[str, Any]
NEEDED = 64
"""Tokens that a stand-in needs before it answers, where it thinks."""


def refused(message: str, **fields: Any) -> tuple[int, dict[str, Any]]:
    return 400, {"error": {"message": message, "type": "invalid_request_error", **fields}}


def limit_of(body: Body) -> int:
    return int(body.get("max_tokens", body.get("max_completion_tokens", 0)))


def claude_4_1(body: Body) -> Any:
    if "temperature" in body and "top_p" in body:
        return refused("`temperature` and `top_p` cannot both be specified for this model.")
    return 200, said(body, "yes")


def claude_opus_4_7(body: Body) -> Any:
    if "top_p" in body:
        return refused("`top_p` is deprecated for this model.")
    if body.get("temperature", 1) != 1:
        return refused("`temperature` may only be set to 1; it is deprecated for this model.")
    return 200, said(body, "yes")


def gpt_5(body: Body) -> Any:
    if "max_tokens" in body:
        told = "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
        return refused(f"{told}'max_completion_tokens' instead.", param="max_tokens")
    if body.get("temperature", 1) != 1:
        told = "Unsupported value: 'temperature' does not support 0 with this model."
        return refused(told, param="temperature", code="unsupported_value")
    if "stop" in body:
        told = "Unsupported parameter: 'stop' is not supported with this model."
        return refused(told, param="stop")
    if limit_of(body) < NEEDED:
        told = "Could not finish the message because max_tokens or model output limit was reached."
        return refused(told)
    return 200, thought(said(body, "yes"), 40)


def thought(answer: dict[str, Any], tokens: int) -> dict[str, Any]:
    details = {"completion_tokens_details": {"reasoning_tokens": tokens}}
    answer["usage"] |= {"completion_tokens": tokens + 2, **details}
    return answer


def thinker(body: Body) -> Any:
    """Writes its thinking into the answer, unless told not to."""
    if body.get("chat_template_kwargs") == {"enable_thinking": False}:
        return 200, said(body, "<think>\n\n</think>\n\nyes")
    if limit_of(body) < NEEDED:
        answer = said(body, "<think>Is it no, or is it")
        answer["choices"][0]["finish_reason"] = "length"
        return 200, thought(answer, limit_of(body))
    return 200, thought(said(body, "<think>Is it no?\n\nNo, it is not no.</think>yes"), 40)


def quiet_thinker(body: Body) -> Any:
    """Sets its thinking apart, and knows only some words for how much of it is wanted."""
    if "chat_template_kwargs" in body:
        return refused("Unrecognized request argument supplied: chat_template_kwargs")
    if body.get("reasoning_effort", "low") not in ("low", "medium", "high"):
        return refused("Invalid value", param="reasoning_effort")
    if body.get("reasoning_effort") == "low":
        return 200, said(body, "yes")
    answer = said(body, "yes" if limit_of(body) >= NEEDED else "")
    answer["choices"][0]["message"]["reasoning_content"] = "It is not no."
    answer["choices"][0]["finish_reason"] = "stop" if limit_of(body) >= NEEDED else "length"
    return 200, thought(answer, min(40, limit_of(body)))


def harmony(body: Body) -> Any:
    """Writes channels, as where a server does not read them."""
    text = "<|channel|>analysis<|message|>no or yes<|end|><|start|>assistant<|channel|>final"
    return 200, said(body, f"{text}<|message|>yes<|return|>")


def gemini(body: Body) -> Any:
    """Its errors are lists; where thinking took all the room, it says nothing."""
    if "seed" in body:
        told = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
        return 400, [{"error": {"code": 400, "message": told, "status": "INVALID_ARGUMENT"}}]
    answer = said(body, "yes")
    if limit_of(body) < NEEDED:
        answer["choices"][0] |= {"finish_reason": "length", "message": {"role": "assistant"}}
    return 200, answer


def naming(body: Body) -> Any:
    """OpenAI's chat models that do not reason: the likeliest of the tokens that are written."""
    answer = said(body, "yes")
    if most := body.get("top_logprobs", 0):
        shares = {"Yes": 0.6, " yes": 0.2, "No": 0.1} | {f"other {at}": 0.001 for at in range(17)}
        rows = [{"token": text, "logprob": log(share)} for text, share in shares.items()]
        answer["choices"][0]["logprobs"] = {"content": [{"top_logprobs": rows[:most]}]}
    return 200, answer


def tgi(body: Body) -> Any:
    if body.get("top_logprobs", 0) > 5:
        told = "Input validation error: `top_n_tokens` must be >= 0 and <= 5. Given: 20"
        return 422, {"error": told, "error_type": "validation"}
    return naming(body)


def no_echo(body: Body) -> Any:
    """Goes on with the prompt and ignores, without a word, that it should come back."""
    answer = said(body, " yes")
    if body.get("logprobs"):
        answer["choices"][0]["logprobs"] = {"tokens": [" yes"], "token_logprobs": [-0.1]}
    return 200, answer


def filter_of_words(body: Body) -> Any:
    """Holds back four of eight comments, each in another way; refuses a fifth by itself."""
    text = body.get("messages", [{"content": ""}])[-1]["content"]
    number = filtered(text)
    answer = said(body, "yes")
    if number == 0:
        inner = {"code": "ResponsibleAIPolicyViolation"}
        return refused("The response was filtered", code="content_filter", innererror=inner)
    if number == 1:
        answer["choices"][0] |= {"finish_reason": "content_filter", "message": {"content": None}}
    if number == 2:
        answer["choices"][0]["message"] |= {"content": None, "refusal": "I held that back."}
    if number == 3:
        return 200, {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "choices": []}
    if number == 4:
        return 200, said(body, "I'm sorry, I cannot help with that.")
    return 200, answer


@dataclass(frozen=True)
class Service:
    answers: Callable[[Body], Any]
    options: str = ""
    sent: frozenset[str] = frozenset()
    """Parameters of the questions of the run, besides those that every one has."""
    notes: tuple[str, ...] = ()
    """What the model's card says of it."""
    goes_on: Callable[[Body], Any] | None = None
    """How text is continued, where it is."""


PLAIN = frozenset({"temperature", "top_p", "seed", "max_tokens"})
GRADED = PLAIN | {"logprobs", "top_logprobs"}
OWN = "temperature is the server's own: answers vary"
SERVICES = {
    "claude-4.1": Service(claude_4_1, "", PLAIN - {"top_p"}, ("refuses it: top_p.",)),
    "claude-opus-4.7": Service(
        claude_opus_4_7, "", PLAIN - {"top_p", "temperature"}, (OWN, "refuses it: top_p.")
    ),
    "gpt-5": Service(
        gpt_5,
        "--room 200",
        (PLAIN | {"max_completion_tokens"}) - {"temperature", "max_tokens"},
        (OWN, "max_completion_tokens", "refuses it: stop.", "Room for thinking: 200 tokens"),
    ),
    "a thinking model": Service(thinker, "--room 200", PLAIN, ("Room for thinking: 200 tokens",)),
    "a thinking model, told not to": Service(
        thinker,
        "--no-thinking",
        PLAIN | {"chat_template_kwargs", "reasoning_effort"},
        ("told so by chat_template_kwargs and reasoning_effort",),
    ),
    "a model that sets thinking apart": Service(quiet_thinker, "--room 200", PLAIN),
    "one that is told by effort": Service(
        quiet_thinker,
        "--no-thinking",
        PLAIN | {"reasoning_effort"},
        ("told so by reasoning_effort", "refuses it: chat_template_kwargs."),
    ),
    "harmony": Service(harmony, "", PLAIN),
    "gemini": Service(
        gemini, "--room 200", PLAIN - {"seed"}, ("refuses it: seed.", "Room for thinking")
    ),
    "openai, not reasoning": Service(
        naming, "--graded", GRADED, ("chat; prompts are not scored; 20 likeliest tokens named",)
    ),
    "ollama": Service(
        naming,
        "--graded",
        GRADED,
        ("completions and chat; prompts are not scored; 20 likeliest tokens named",),
        lambda body: (200, said(body)),
    ),
    "llama.cpp": Service(
        naming,
        "--graded",
        GRADED,
        ("completions and chat; prompts are not scored; 20 likeliest tokens named",),
        no_echo,
    ),
    "tgi": Service(
        tgi,
        "--graded",
        GRADED,
        ("completions and chat; prompts are not scored; 5 likeliest tokens named",),
        no_echo,
    ),
}


def chat_alone(body: Body) -> Any:
    return 404, {"error": {"message": "This is a chat model."}}


def serving(
    stub: Start, answers: Callable[[Body], Any], goes_on: Callable[[Body], Any] | None = None
) -> Stub:
    """A service, most often of conversations alone."""

    def reply(handler: Any, body: Body) -> bool:
        status, value = (answers if "messages" in body else goes_on or chat_alone)(body)
        return send(handler, value, status)

    server = stub()
    server.always = server.scoring = reply
    return server


def asked(server: Stub, place: Path, options: str = "", size: int = 4) -> Said:
    table = own_table(place.parent / "own.csv", 80)
    return call(
        f"ask -m server:{server.url}#parrot --column comment=text --column label=gold "
        f"--size {size} --repeats 1 --setting zero-shot --resamples 100 --json {options}",
        *(table, "--out", place),
    )


def of_the_run(server: Stub) -> list[dict[str, Any]]:
    """The questions about comments."""
    bodies = (body for _, body, _ in server.seen if "messages" in body)
    return [body for body in bodies if "Sentence number" in body["messages"][-1]["content"]]


def folder(place: Path) -> Path:
    (run,) = place.iterdir()
    return run


def answers_in(place: Path) -> list[dict[str, str]]:
    lines = (folder(place) / "scores.jsonl").read_text("utf-8").splitlines()
    return [answer for line in lines for answer in json.loads(line)["answers"]]


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_service_refuses_is_left_out_and_said_on_the_card(
    stub: Start, tmp_path: Path, name: str
) -> None:
    service = SERVICES[name]
    server = serving(stub, service.answers, service.goes_on)
    ran = asked(server, tmp_path / "runs", service.options)
    assert ran.code == 0, ran.err
    (result,) = ran.json["results"]
    assert {row["n"] for row in result["estimates"] if not row["slice"]} == {16}
    for note in service.notes:
        assert note in " ".join(result["model_card"]["notes"])
    questions = of_the_run(server)
    assert len(questions) == 16  # nothing is refused in the run that was refused before it
    assert {frozenset(body) for body in questions} == {service.sent | {"model", "messages"}}
    said_ = {answer["text"].strip() for answer in answers_in(tmp_path / "runs")}
    assert said_ == {"yes"}


@pytest.mark.parametrize("answers", [gpt_5, thinker, quiet_thinker, gemini])
def test_without_room_nothing_is_scored_nothing_kept_and_the_way_out_said(
    stub: Start, tmp_path: Path, answers: Callable[[Body], Any]
) -> None:
    server = serving(stub, answers)
    for again in (1, 2):
        ran = asked(server, tmp_path / f"runs{again}")
        assert ran.code == 3, ran.err
        assert "No room to answer (16 times): add --room 1024, or more, or --no-thinking" in ran.err
        assert len(of_the_run(server)) == 16 * again
        first = answers_in(tmp_path / f"runs{again}")[0]
        assert first["skipped"] == "no room"


@pytest.mark.parametrize(("options", "room"), [("--room 200", 200), ("--no-thinking", 0)])
def test_a_survey_has_room_for_thinking_too(
    stub: Start, tmp_path: Path, options: str, room: int
) -> None:
    def rate(body: Body) -> Any:
        text = body["messages"][-1]["content"]
        rated = "\n".join(f"{at}: 60" for at in range(1, 1 + text.count("0 means")))
        status, answer = thinker(body)
        message = answer["choices"][0]["message"]
        message["content"] = message["content"].replace("yes", rated or "yes")
        return status, answer

    server = serving(stub, rate)
    ran = call(
        f"ask survey -m server:{server.url}#parrot --limit 16 --repeats 2 --json {options}",
        *("--out", tmp_path / "runs"),
    )
    assert ran.code == 0, ran.err
    (result,) = ran.json["results"]
    mean = next(row for row in result["estimates"] if row["name"] == "answered_mean")
    assert (mean["value"], mean["n"]) == (60, 16)
    pages = [body for _, body, _ in server.seen if "0 means" in str(body.get("messages"))]
    assert {body["max_tokens"] for body in pages} == {10 * 16 + room}


def test_answers_that_had_room_are_kept_for_a_run_with_more(stub: Start, tmp_path: Path) -> None:
    """Half of them need more room than there is at first."""

    def slow(body: Body) -> Any:
        long = filtered(body["messages"][-1]["content"]) % 4 == 1
        return thinker({**body, "max_tokens": limit_of(body) - 100 * long})

    server = serving(stub, slow)
    first = asked(server, tmp_path / "less", "--room 100")
    skipped = first.json["results"][0]["estimates"][0]["skipped"]
    assert 0 < skipped["no room"] < 16
    assert asked(server, tmp_path / "more", "--room 200").code == 0
    assert len(of_the_run(server)) == 16 + skipped["no room"]


def test_thinking_is_kept_apart_counted_and_paid_for(stub: Start, tmp_path: Path) -> None:
    server = serving(stub, thinker)
    ran = asked(server, tmp_path / "runs", "--room 200 --price 1/10")
    assert ran.code == 0, ran.err
    run = folder(tmp_path / "runs")
    assert answers_in(tmp_path / "runs")[0]["thinking"] == "Is it no?\n\nNo, it is not no."
    charged = read_json(run / "run.json")["charged"]
    assert charged["tokens_thought"] == 16 * 40
    assert charged["tokens_written"] == 16 * 42
    assert charged["money"] == pytest.approx(
        (charged["tokens_read"] + 10 * charged["tokens_written"]) / 1e6
    )
    for room, written in ((0, 8), (200, 208)):
        plan = asked(server, tmp_path / "plan", f"--room {room} --price 1/10 --dry-run").json
        assert plan["total"]["tokens"] - plan["plans"][0]["tokens_read"] == 16 * written


def test_what_a_filter_holds_back_is_kept_counted_apart_and_asked_once(
    stub: Start, tmp_path: Path
) -> None:
    server = serving(stub, filter_of_words)
    for at in (1, 2):
        ran = asked(server, tmp_path / f"runs{at}", "--coverage 0.1 --size 16")
        assert ran.code == 0, ran.err
        assert "Held back by a filter of the service, not refused by the model" in ran.err
    questions = [body["messages"][-1]["content"] for body in of_the_run(server)]
    assert len(questions) == len(set(questions))
    skipped = ran.json["results"][0]["estimates"][0]["skipped"]
    held = [text for text in questions if filtered(text) < 4]
    assert skipped == {
        "filtered": len(held),
        "refused": sum(filtered(text) == 4 for text in questions),
    }
    assert {filtered(text) for text in held} == {0, 1, 2, 3}


def filtered(text: str) -> int:
    """Which way it is held back; that of the probe in none."""
    return next((at for at in range(80) if f"number {at}." in text), -1) % 8


def test_a_prompt_that_is_filtered_is_charged_as_read(stub: Start) -> None:
    from stereometer.core.types import Generate
    from tests.builders.servers import opened

    backend = opened(serving(stub, filter_of_words))
    before = list(backend.wire.budget.spent)
    request = Generate(messages=(("user", "Sentence number 0. Well?"),))
    (answer,) = dict(backend.answer({request.key: request})).values()
    assert (answer.end, answer.kept) == ("filtered", True)
    assert backend.wire.budget.spent[0] > before[0]
    assert backend.wire.budget.spent[1] == before[1]


def test_a_limit_that_is_refused_under_either_name_is_one_sentence(
    stub: Start, tmp_path: Path
) -> None:
    def unlimited(body: Body) -> Any:
        if "Sentence" in body["messages"][-1]["content"]:
            name = "max_tokens" if "max_tokens" in body else "max_completion_tokens"
            return refused(f"Unknown name: {name}", param=name)
        return 200, said(body, "yes")

    ran = asked(serving(stub, unlimited), tmp_path / "runs")
    assert ran.code == 3
    assert "does not take the limit on the length of an answer" in ran.err


def test_several_models_are_asked_in_turn_and_share_one_budget(stub: Start, tmp_path: Path) -> None:
    """Enough for the first and not for both: the second is stopped by what is left."""
    servers = [serving(stub, harmony) for _ in (1, 2)]
    second = f"-m server:{servers[1].url}#other"
    ran = asked(servers[0], tmp_path / "runs", f"{second} --price 1/10")
    assert ran.code == 0, ran.err
    assert [each["model"] for each in ran.json["results"]] == ["parrot", "other"]
    assert [len(of_the_run(server)) for server in servers] == [16, 16]
    charged = [read_json(run / "run.json")["charged"] for run in (tmp_path / "runs").iterdir()]
    planned = asked(servers[0], tmp_path / "plan", f"{second} --price 1/10 --budget 10 --dry-run")
    assert planned.code == 0, planned.err
    for budget in (
        str(round(1.6 * sum(charged[0][name] for name in ("tokens_read", "tokens_written")))),
        f"${1.6 * charged[0]['money']:.9f}",
    ):
        again = [serving(stub, harmony) for _ in (1, 2)]
        second = f"-m server:{again[1].url}#other"
        place = tmp_path / budget
        ran = asked(again[0], place, f"{second} --price 1/10 --budget {budget}")
        assert ran.code == 6, ran.err
        assert "larger --budget" in ran.err
        assert [each["model"] for each in ran.json["results"]] == ["parrot"]
        assert len(of_the_run(again[0])) == 16 > len(of_the_run(again[1]))


def test_what_is_filtered_may_have_gone_either_way(stub: Start, tmp_path: Path) -> None:
    """The choice that a filter holds back bounds the preference, as any missing answer does."""

    def choose(body: Body) -> Any:
        found = re.findall(r"^[AB]\. (.*)$", body["messages"][-1]["content"], re.MULTILINE)
        if len(found) < 2:
            return 200, said(body, "yes")
        if crc32(min(found).encode()) % 8 == 0:
            return refused("The response was filtered", code="content_filter")
        return 200, said(body, "AB"[found.index(min(found))])

    ran = call(
        f"run starter -m server:{serving(stub, choose).url}#parrot --measure pair-forced-choice",
        *("--limit", 60, "--coverage", 0.5, "--resamples", 100, "--json", "--out", tmp_path),
    )
    assert ran.code == 0, ran.err
    (result,) = ran.json["results"]
    overall = next(
        row for row in result["estimates"] if row["name"] == "pair_preference" and not row["slice"]
    )
    held = overall["skipped"]["filtered"]
    assert 0 < held == overall["asked"] - overall["n"]
    assert overall["missing_low"] < overall["low"] <= overall["high"] < overall["missing_high"]
