"""What a run may cost: the probe and every answer are counted as the server counts them, and
nothing is sent that might not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stereometer.core.errors import BudgetSpent, UsageError
from stereometer.core.runs.cache import Cache
from stereometer.core.runs.runner import Serial, Tally
from stereometer.core.types import WholeText
from stereometer.models.server.budget import Budget, budget_of
from stereometer.models.server.refusals import Late, Passing, Unreached, refusal
from tests.builders.asking import answered
from tests.builders.commands import call
from tests.builders.comments import own_table
from tests.builders.servers import opened, slowly, some
from tests.models.server.conftest import Stub, run_out, said, send

Start = Callable[..., Stub]
PROBE = 72
"""Six questions, each ten tokens read and two written, as the stub says."""


def test_a_budget_of_tokens_stops_cleanly_and_a_larger_one_goes_on(stub: Start) -> None:
    server = stub()
    requests = some(20, max_tokens=8)
    with Cache() as cache:
        with pytest.raises(BudgetSpent, match="might exceed the budget of 172 tokens") as spent:
            answered(requests, Serial(opened(server, budget="172", in_flight=2)), cache, Tally())
        assert spent.value.exit_code == 6
        sent = len(server.asked()) - 1
        assert 0 < sent < 20
        assert PROBE + sent * 12 <= 172
        tally = Tally()
        assert len(answered(requests, Serial(opened(server, budget="10k")), cache, tally)) == 20
    assert tally.from_cache == sent


def test_a_budget_of_money_needs_a_price(stub: Start) -> None:
    with pytest.raises(UsageError, match="needs a price"):
        opened(stub(), budget="$1")
    with pytest.raises(BudgetSpent, match=r"\$0.0001"):
        dict(opened(stub(), budget="$0.0001", price="1/2").answer(some(20)))
    for wrong in ("much", "0", "-5", "$1k", ".50"):
        with pytest.raises(UsageError, match="not understood"):
            opened(stub(), budget=wrong, price="1/2")
    for part in ("2.50", "2.0", "0.0001k"):
        with pytest.raises(UsageError, match=r"whole number of tokens.* write --budget '\$"):
            opened(stub(), budget=part)


def test_each_model_may_have_a_price_of_its_own() -> None:
    for model, prices in (("one", (3, 15)), ("a/b=c:8b", (1, 2)), ("any other", (0.5, 1))):
        budget = budget_of("$1", "one=3/15, a/b=c:8b=1/2, 0.5/1", model)
        assert budget.price == pytest.approx([price / 1e6 for price in prices])
    with pytest.raises(UsageError, match="price of other"):
        budget_of("$1", "one=3/15", "other")
    with pytest.raises(UsageError, match="with a model's name"):
        budget_of(None, "one=3/15,2", "one")


def test_the_probe_is_counted(stub: Start) -> None:
    assert sum(opened(stub(), budget="10k").wire.budget.spent) == PROBE


def test_a_budget_too_small_for_the_probe_ends_cleanly(stub: Start) -> None:
    server = stub()
    ran = call("ask", "starter", "--model", f"server:{server.url}#parrot", "--budget", 40)
    assert ran.code == 6, ran.err
    assert "larger --budget" in ran.err
    assert 0 < len(server.seen) < 6


def test_scored_prompts_cost_what_the_server_says(stub: Start) -> None:
    """A server that counts a token a character, three times our guess."""

    def scored(handler: Any, body: Any) -> bool:
        words = body["prompt"].split() if "echo" in body else []
        logprobs = {
            "tokens": [f" {word}" for word in words],
            "token_logprobs": [None, *[-1.0] * (len(words) - 1)],
        }
        usage = {"prompt_tokens": len(body.get("prompt", "Say yes.")), "completion_tokens": 0}
        return send(
            handler,
            {
                **said(body),
                "choices": [{"text": "", "logprobs": logprobs, "message": {}}],
                "usage": usage,
            },
        )

    server = stub()
    server.scoring = scored
    backend = opened(server, budget="2000", in_flight=4)
    backend.finding = replace(backend.finding, likelihood="echo")
    requests = [WholeText(f"{at} parrots {'sat ' * 20}down") for at in range(40)]
    with pytest.raises(BudgetSpent):
        dict(backend.answer({one.key: one for one in requests}))
    counted = sum(len(body.get("prompt", "Say yes.")) for _, body, _ in server.seen)
    assert sum(backend.wire.budget.spent) == counted
    assert 2000 - 2 * 95 < counted <= 2000


def test_what_does_not_fit_yet_waits_for_what_is_under_way(stub: Start) -> None:
    """Eight reservations of 108 tokens do not fit; eight answers of 12 do."""
    server = stub()
    server.always = slowly(0.05)
    requests = some(8, max_tokens=100)
    assert len(dict(opened(server, budget=str(PROBE + 300), in_flight=8).answer(requests))) == 8


@pytest.mark.parametrize("as_json", [False, True])
def test_what_is_finished_is_shown_where_the_budget_ends_the_rest(
    stub: Start, tmp_path: Path, as_json: bool
) -> None:
    table = own_table(tmp_path / "own.csv", 80)
    ran = call(
        "ask",
        table,
        "--model",
        f"server:{stub().url}#parrot",
        "--column",
        "comment=text",
        "--column",
        "label=gold",
        "--size",
        3,
        "--repeats",
        1,
        "--setting",
        "zero-shot",
        "--setting",
        "one-shot",
        "--budget",
        PROBE + 260,
        "--resamples",
        100,
        "--out",
        tmp_path / "runs",
        *(["--json"] if as_json else []),
    )
    assert ran.code == 6, ran.err
    assert "larger --budget" in ran.err
    assert "Stored in" in ran.err
    assert (
        [one["settings"]["setting"] for one in ran.json["results"]] == ["zero-shot"]
        if as_json
        else "accuracy" in ran.out
    )


BODY = {"prompt": "Well?", "max_tokens": 50}


@pytest.mark.parametrize(
    ("fault", "charged"),
    [
        (Unreached("no connection"), False),
        (refusal("here", 429, "", "slow down", "0"), False),
        (refusal("here", 400, "", "what?", None), False),
        (Late("no answer within 1 s"), True),
        (Passing("the connection broke"), True),
        (refusal("here", 503, "", "busy", None), True),
    ],
)
def test_an_attempt_is_charged_unless_the_server_did_not_take_it(
    fault: Exception, charged: bool
) -> None:
    budget = Budget(tokens=200)

    def fails() -> Any:
        raise fault

    for _ in range(3):
        with pytest.raises(type(fault)):
            budget.paid(BODY, fails)
    assert budget.spent == ([3 * 9, 3 * 50] if charged else [0, 0])
    with pytest.raises(BudgetSpent if charged else type(fault)):
        budget.paid(BODY, fails)


@pytest.mark.parametrize(
    ("usage", "spent"),
    [
        ({"prompt_tokens": -1_000_000, "completion_tokens": 2}, [9, 50]),
        ({"prompt_tokens": 10, "completion_tokens": -1_000_000}, [10, 50]),
        ({"prompt_tokens": True, "completion_tokens": 2}, [9, 50]),
        ({"prompt_tokens": 10**30, "completion_tokens": 10**30}, [5 + 4096, 50 + 4096]),
        ({"prompt_tokens": "10", "completion_tokens": 2}, [9, 50]),
        ({"prompt_tokens": 10}, [10, 50]),
        ({"prompt_tokens": 0, "completion_tokens": 0}, [9, 50]),
        ({"prompt_tokens": 10, "completion_tokens": 0}, [10, 50]),
        ({"prompt_tokens": 10, "completion_tokens": 3}, [10, 3]),
        ([], [9, 50]),
    ],
)
def test_what_a_server_cannot_have_used_is_not_believed(usage: Any, spent: list[int]) -> None:
    budget = Budget(tokens=100_000)
    choices = [{"text": "Yes, very well."}]
    budget.paid(BODY, lambda: {"choices": choices, "usage": usage})
    assert budget.spent == spent


LONG = "She said that she had seen the nurse there. "


@pytest.mark.parametrize(
    ("body", "choice", "spent"),
    [
        ({"prompt": LONG * 30, "max_tokens": 400}, {"text": LONG * 30}, [220, 220]),
        ({"prompt": "Well?"}, {"text": LONG, "logprobs": {"tokens": ["She"] * 11}}, [67, 67]),
        ({"prompt": LONG, "echo": True}, {"logprobs": {"tokens": ["She"] * 99}}, [99, 67]),
        ({"prompt": [5] * 99, "echo": True}, {"text": LONG * 30}, [99, 67]),
    ],
)
def test_a_server_that_understates_is_charged_what_we_can_count(
    body: dict[str, Any], choice: dict[str, Any], spent: list[int]
) -> None:
    """It states one token per twenty characters of 1,320, which is 67."""
    budget = Budget(tokens=100_000)
    usage = {"prompt_tokens": 67, "completion_tokens": 67}
    budget.paid(body, lambda: {"choices": [choice], "usage": usage})
    assert budget.spent == spent


@pytest.mark.usefixtures("told_when_late")
def test_every_late_attempt_of_a_question_is_charged(stub: Start) -> None:
    def silent(handler: Any, body: Any) -> bool:
        handler.close_connection = True
        return run_out(handler)

    server = stub(silent, silent)
    backend = opened(server, budget="10k")
    (answer,) = dict(backend.answer(some(1, max_tokens=8))).values()
    assert answer.text == " yes"
    late = len("Question 0") // 3 + 8 + 8
    assert sum(backend.wire.budget.spent) == PROBE + 2 * late + 12
