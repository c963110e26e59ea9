"""The endpoints, as an ASGI application."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from stereometer.core.errors import StereometerError
from stereometer.core.types import (
    TOO_LONG,
    Answer,
    CausalTokens,
    Encoding,
    Generate,
    Skip,
    WritesTokens,
)
from stereometer.wings.serving.desk import Desk
from stereometer.wings.serving.protocol import (
    Chat,
    Completion,
    Failure,
    Likeliest,
    Parameters,
    Refusal,
    Reply,
    columns,
    explained,
    failure,
    likeliest,
    read_tokens,
    reply,
    turns,
    written_tokens,
)

LEFT = 499
"""What is noted where nobody is left to be answered."""
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Failure} for status in (400, 401, 404, 408, 413, 421, 500)
}


@dataclass(frozen=True)
class Endpoints:
    """From what was sent to what is sent back."""

    desk: Desk

    @property
    def model(self) -> str:
        return self.desk.backend.card.name

    async def models(self) -> dict[str, Any]:
        entry = {"id": self.model, "object": "model", "owned_by": "stereometer"}
        return {"object": "list", "data": [entry]}

    async def complete(self, body: Completion) -> dict[str, Any]:
        self._check_model(body)
        scored = body.logprobs is not None
        try:
            encoding = await asyncio.to_thread(self.desk.backend.encode, body.prompt)
        except Skip as reason:
            raise _unreadable(reason.reason) from None
        ask = body.generate(body.most, prompt=body.prompt) if body.most else None
        written = await self._written(ask) if ask else None
        text = (written.text or "") if written else ""
        tokens = []
        if scored and body.echo:
            tokens += read_tokens(body.prompt, encoding, await self._scored(encoding))
        if scored:
            tokens += written_tokens(text, len(body.prompt), written)
        choice = {
            "text": body.prompt + text if body.echo else text,
            "finish_reason": written.end if written else "length",
            "logprobs": columns(tokens, self._likeliest(written) if scored else []),
        }
        return reply(self.model, "text_completion", choice, len(encoding.ids), written)

    async def chat(self, body: Chat) -> dict[str, Any]:
        self._check_model(body)
        messages = tuple((turn.role, turn.content) for turn in body.messages)
        written = await self._written(body.generate(body.most, messages=messages))
        message = {"role": "assistant", "content": written.text}
        choice: dict[str, Any] = {"message": message, "finish_reason": written.end}
        if body.logprobs:
            choice["logprobs"] = turns(written.text or "", written, self._likeliest(written))
        read = sum(len(content.split()) for _, content in messages)
        return reply(self.model, "chat.completion", choice, read, written)

    def _likeliest(self, written: Answer | None) -> Likeliest:
        backend = self.desk.backend
        return likeliest(written, backend.decode) if isinstance(backend, WritesTokens) else []

    def _check_model(self, body: Parameters) -> None:
        if body.model not in (None, self.model):
            known = f"there is no model of that name; this is {self.model}"
            raise Refusal(404, known, "model_not_found")

    async def _written(self, request: Generate) -> Answer:
        answer = await asyncio.wrap_future(self.desk.ask(request))
        if answer.end == TOO_LONG:
            raise _unreadable(TOO_LONG)
        return answer

    async def _scored(self, encoding: Encoding) -> list[float]:
        """Of every token but the first, which has nothing before it."""
        if CausalTokens.kind not in self.desk.backend.abilities.kinds:
            raise Refusal(400, "this model gives no log-probabilities of a prompt")
        if len(encoding.ids) < 2:
            return []
        answer = await asyncio.wrap_future(self.desk.ask(CausalTokens(encoding.ids, 1)))
        return list(answer.column("logprob"))


def _unreadable(reason: str) -> Refusal:
    code = "context_length_exceeded" if reason == TOO_LONG else "invalid_request"
    return Refusal(400, f"the prompt cannot be read: {reason}", code)


def application(desk: Desk) -> FastAPI:
    """Without pages of its own: those that FastAPI offers load scripts from elsewhere."""
    endpoints = Endpoints(desk)
    app = FastAPI(
        title="stereometer serve-model",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        default_response_class=Reply,
        responses=REFUSALS,
    )

    app.get("/v1/models")(endpoints.models)

    @app.post("/v1/completions")
    async def completions(body: Completion, request: Request) -> dict[str, Any]:
        return await unless_left(request, endpoints.complete(body))

    @app.post("/v1/chat/completions")
    async def chat_completions(body: Chat, request: Request) -> dict[str, Any]:
        return await unless_left(request, endpoints.chat(body))

    for kind in (Refusal, RequestValidationError, HTTPException, StereometerError, Exception):
        app.add_exception_handler(kind, _answer_error)
    return app


async def unless_left(
    request: Request, work: Coroutine[Any, Any, dict[str, Any]]
) -> dict[str, Any]:
    """What comes of the work, which ends as soon as the client leaves."""
    answer, left = asyncio.ensure_future(work), asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait({answer, left}, return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise Refusal(LEFT, "the client left", "client_left")
        return answer.result()
    finally:
        answer.cancel()
        left.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _answer_error(request: Request, error: Exception) -> Reply:
    match error:
        case Refusal():
            return failure(error)
        case RequestValidationError():
            return failure(Refusal(400, explained(error.errors())))
        case HTTPException():
            answer = failure(Refusal(error.status_code, str(error.detail).lower(), "refused"))
            answer.headers.update(error.headers or {})
            return answer
        case StereometerError():
            return failure(Refusal(400, str(error)))
    return failure(Refusal(500, f"the model cannot answer this ({type(error).__name__})", "failed"))
