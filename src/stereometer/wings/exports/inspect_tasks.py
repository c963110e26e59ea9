"""Tasks of Inspect: forced choice and recognition, asked of any model that Inspect knows.

`inspect eval stereometer/forced_choice -T benchmark=starter` finds them by the entry point
`inspect_ai`. Items, prompts, reading and counting are those of `stereometer ask`; only the asking
is Inspect's. Nothing else may import this module: it needs inspect_ai.
"""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
    get_model,
)
from inspect_ai.scorer import Score, metric, scorer
from inspect_ai.solver import solver

from stereometer.core import types
from stereometer.core.errors import UsageError
from stereometer.core.options import pairs_in
from stereometer.kinds.comments.benchmarks import columns_from
from stereometer.wings.asking.jobs import jobs_in_words, open_comments
from stereometer.wings.exports.metadata import headlines

MESSAGES = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}


class AskedByInspect:
    """What a method is bound to: a model that holds conversations and that Inspect asks."""

    card = types.ModelCard("the model of the evaluation", "", "inspect", "")
    kinds = frozenset({types.Generate.kind})
    abilities = types.Abilities(kinds, chat_template="as Inspect sends it")

    def encode(self, text: str, second: str | None = None) -> types.Encoding:
        raise NotImplementedError("Inspect's models show no tokens")

    def answer(self, requests: Mapping[str, types.Request]) -> Iterator[tuple[str, types.Answer]]:
        raise NotImplementedError("Inspect asks its models itself")


def _forced_choice(
    benchmark: str = "starter",
    shape: str = "cat",
    data: str | None = None,
    system: str = "",
    seed: int = 0,
) -> Any:
    """Which of two candidates is likelier, in both orders: CATs (`shape=cat`) or pairs (`pair`)."""
    opened = open_comments(benchmark, Path(data) if data else None, columns_from({}, [], "neither"))
    settings = types.Settings(seed=seed)
    how = {"system": system, "chat": True}
    jobs = list(jobs_in_words(opened, [], AskedByInspect(), settings, how))
    for job in jobs:
        if job.kind == shape:
            return _task(job)
    kinds = dict.fromkeys(job.kind for job in jobs)
    raise UsageError(
        f"{benchmark} has no items of shape '{shape}' for forced choice. It has "
        f"{' and '.join(kinds) or 'none of any shape'}. Choose one that it has with -T shape=NAME."
    )


def _recognition(
    benchmark: str = "ethos",
    setting: str = "zero-shot",
    data: str | None = None,
    column: str = "",
    category: str = "",
    neither: str = "neither",
    repeats: int = 10,
    size: int = 30,
    seed: int = 0,
) -> Any:
    """Whether comments are recognised as hateful: a setting of the study. `column` and `category`
    are for a table of your own: `comment=text,label=gold` and `sexism,racism`."""
    words = [name for name in category.split(",") if name]
    columns = columns_from(pairs_in([column]) if column else {}, words, neither)
    opened = open_comments(benchmark, Path(data) if data else None, columns)
    how = {"repeats": repeats, "size": size, "chat": True, "categories": {w: w for w in words}}
    (job,) = jobs_in_words(opened, [setting], AskedByInspect(), types.Settings(seed=seed), how)
    return _task(job)


forced_choice = task(name="forced_choice")(_forced_choice)
recognition = task(name="recognition")(_recognition)


# ------------------------------------------------------------------------------------ any such job


def _task(job: types.Job) -> Any:
    """Texts of hidden items stay out of Inspect's logs: such items are not asked."""
    if not isinstance(job.source, types.Asking):
        raise TypeError("a task needs a model that is asked")
    items = {item.id: item for item in job.source.items if not item.hidden}
    if not items:
        raise UsageError(
            "Every item is hidden. Inspect would write their texts into its log. Ask them with "
            "`stereometer ask`."
        )
    samples = [Sample(id=name, input=_first_question(job.source, items[name])) for name in items]
    return Task(
        dataset=MemoryDataset(samples, name=str(job.plan["benchmark"])),
        solver=_solver(job.source, items),
        scorer=_scorer(job, items),
        metadata={key: str(job.plan[key]) for key in ("benchmark", "measure", "data", "variant")},
    )


def _plan(asking: types.Asking, item: types.Item) -> types.Requests:
    try:
        return asking.measure.plan(item)
    except types.Skip:
        return {}


def _first_question(asking: types.Asking, item: types.Item) -> str:
    """The first question about an item, for the log; its name where nothing is asked."""
    for requests in _plan(asking, item).values():
        for first in requests:
            if isinstance(first, types.Generate) and first.messages:
                return first.messages[-1][1]
    return item.id


def _solver(asking: types.Asking, items: Mapping[str, types.Item]) -> Any:
    async def solve(state: Any, generate: object) -> Any:
        answers: dict[str, list[str]] = {}
        for name, requests in _plan(asking, items[str(state.sample_id)]).items():
            answers[name] = []
            for request in requests:
                messages, config = _conversation(request)
                state.output = await get_model().generate(messages, config=config)
                answers[name].append(state.output.completion)
        state.metadata["answers"] = answers
        return state

    return solver(name="both_orders_or_repeats")(lambda: solve)()


def _conversation(request: types.Request) -> tuple[list[Any], Any]:
    if not isinstance(request, types.Generate):
        raise TypeError(f"Inspect cannot be asked for {request.kind}")
    turns: Sequence[tuple[str, str]] = request.messages or (("user", request.prompt),)
    messages: list[ChatMessage] = [MESSAGES[role](content=content) for role, content in turns]
    config = GenerateConfig(
        temperature=request.temperature,
        max_tokens=request.max_tokens,
        stop_seqs=list(request.stop) or None,
        seed=request.seed + request.repeat,
    )
    return messages, config


def _scorer(job: types.Job, items: Mapping[str, types.Item]) -> Any:
    asking = job.source
    assert isinstance(asking, types.Asking)

    async def score(state: Any, target: object) -> Any:
        item = items[str(state.sample_id)]
        counted = _score(asking, item, state.metadata["answers"])
        return Score(
            value=0.0 if counted.skipped else 1.0,
            explanation=counted.skipped,
            metadata={"score": counted.as_json()},
        )

    decorated: Callable[..., Awaitable[Any]] = scorer(
        metrics=[metric(name="stereometer")(lambda: _counting(job))()], name="stereometer"
    )(lambda: score)()
    return decorated


def _score(
    asking: types.Asking, item: types.Item, answers: Mapping[str, Sequence[str]]
) -> types.Score:
    try:
        exchanged = {}
        for name, requests in asking.measure.plan(item).items():
            texts = (types.Answer((), text) for text in answers[name])
            exchanged[name] = list(zip(requests, texts, strict=True))
        return asking.measure.score(item, exchanged)
    except types.Skip as skip:
        return types.Score(item.id, item.slices, {}, skip.reason, item.texts)


def _counting(job: types.Job) -> Callable[[Sequence[Any]], dict[str, float]]:
    """The overall values that stand in a first table, with their intervals; what is missing is
    left out, as Inspect's logs hold no reason for it."""

    def counted(scores: Sequence[Any]) -> dict[str, float]:
        rows = [types.Score.from_json(each.score.metadata["score"]) for each in scores]
        result = job.describe(job.summarize(rows))
        parts = {
            f"{row.name}{end}": value
            for row in reversed(headlines(result))
            for end, value in (("", row.value), ("_low", row.low), ("_high", row.high))
        }
        return {name: float(value) for name, value in parts.items() if value is not None}

    return counted
