"""Where requests wait for the model: those that wait at the same time are answered together."""

import time
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from dataclasses import replace
from functools import partial
from queue import Empty, Queue
from threading import Thread

from stereometer.core.types import Answer, Backend, Generate, Request

GATHERED = 64
"""Requests answered together."""
PAUSE = 0.005
"""Seconds in which others may join."""
Waiting = tuple[Request, Future[Answer]]


class Desk:
    """One thread that asks the model. Whoever cancels a future is no longer waited for."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._waiting: Queue[Waiting | None] = Queue()
        self._under_way: Sequence[Waiting] = ()
        self._thread = Thread(target=self._work, daemon=True, name="stereometer-desk")
        self._thread.start()

    def ask(self, request: Request) -> Future[Answer]:
        answer: Future[Answer] = Future()
        self._waiting.put((request, answer))
        return answer

    def close(self) -> None:
        for _, future in self._under_way:
            future.cancel()
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        ended = False
        while not ended and (first := self._waiting.get()) is not None:
            batch, ended = self._gathered(first)
            self._under_way = batch
            self._answer(batch)

    def _gathered(self, first: Waiting) -> tuple[list[Waiting], bool]:
        """Those who come soon after the first, and whether the desk closes."""
        batch, until = [first], time.monotonic() + PAUSE
        while len(batch) < GATHERED:
            try:
                following = self._waiting.get(timeout=max(0.0, until - time.monotonic()))
            except Empty:
                break
            if following is None:
                return batch, True
            batch.append(following)
        return batch, False

    def _answer(self, batch: Sequence[Waiting]) -> None:
        """Where a batch fails, each is asked alone: one without an answer harms no other."""
        still = [(request, future) for request, future in batch if not future.done()]
        try:
            self._ask_together(still)
        except Exception as error:  # whatever a model raises, those who wait are told
            if len(still) > 1:
                for waiting in still:
                    self._answer([waiting])
            else:
                _settle(still[0][1], error)

    def _ask_together(self, batch: Sequence[Waiting]) -> None:
        waiting: dict[str, list[Future[Answer]]] = {}
        requests: dict[str, Request] = {}
        for request, future in batch:
            waiting.setdefault(request.key, []).append(future)
            futures = waiting[request.key]
            if isinstance(request, Generate):
                request = replace(request, abandoned=partial(_all_cancelled, futures))
            requests[request.key] = request
        for key, answer in self.backend.answer(requests):
            for future in waiting.pop(key):
                _settle(future, answer)
            if all(map(_all_cancelled, waiting.values())):
                return  # nobody waits for the rest


def _all_cancelled(futures: Sequence[Future[Answer]]) -> bool:
    return all(future.cancelled() for future in futures)


def _settle(future: Future[Answer], answer: Answer | Exception) -> None:
    with suppress(InvalidStateError):  # cancelled in the meantime
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
