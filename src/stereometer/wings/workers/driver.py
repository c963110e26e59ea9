"""The driver's loop: sends windows to workers, checks what comes back, and mends what breaks."""

import logging
import time
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from random import Random
from typing import Any

from stereometer.core.errors import ModelError, StereometerError
from stereometer.core.runs.runner import Windows
from stereometer.core.show.numbers import count
from stereometer.core.types import Answer, Backend, Request
from stereometer.core.types.opener import Record
from stereometer.wings.workers.crew import (
    DEPTH,
    TRIES,
    Answers,
    Crew,
    Event,
    Failed,
    Gone,
    Hello,
    Window,
    breaches,
    cut,
    differing,
    noticed,
    window_tokens,
)

LOG = logging.getLogger("stereometer")
TICK = 0.5
"""Seconds between two looks at who is late or missing."""
OPENING_SECONDS = 3600.0
"""For a model to be fetched and loaded."""
MOST_LOST = 30
"""Workers lost one after the other without an answer or a request given up, which costs fewer; and
requests given up without an answer between them."""


@dataclass
class PoolWorker:
    """A worker as the driver sees it."""

    since: float
    """When it began what it is doing."""
    ready: bool = False
    windows: deque[Window] = field(default_factory=deque)


@dataclass
class Happened:
    """What a pool went through, for run.json."""

    workers: int = 0
    windows: int = 0
    checked: int = 0
    """Requests that two workers answered alike."""
    sent_again: int = 0
    lost: int = 0
    refused: int = 0
    skipped: int = 0


class Pool:
    """An engine over a crew of workers that all opened the same model."""

    keep_every = 1  # what a killed driver loses is what is in flight

    def __init__(
        self,
        backend: Backend | None,
        crew: Crew,
        versions: Mapping[str, str],
        patience: float,
    ) -> None:
        self.backend: Any = backend
        self.crew, self.versions, self.patience = crew, versions, patience
        self.ours = Hello(backend.card.identity, versions) if backend else None
        """Who answers; without a backend, who the first worker is that opened the model."""
        self.members: dict[int, PoolWorker] = {}
        self.queue: deque[Window] = deque()
        self.ready_answers: dict[str, Answer] = {}
        self.happened = Happened()
        self.closed = self.unopened = self.lost_in_a_row = self.skipped_in_a_row = 0
        self.why = ""
        """Why the last worker was lost or refused."""
        self.began, self.tokens = time.monotonic(), 0
        self.draw = Random()
        """Which requests are asked twice; no result depends on it."""

    def close(self) -> None:
        self.members.clear()
        self.crew.close()

    @property
    def status(self) -> str:
        ready = sum(member.ready for member in self.members.values())
        flying = sum(len(member.windows) for member in self.members.values())
        rate = self.tokens / max(1e-9, time.monotonic() - self.began)
        crew, sent = count(ready, "worker"), count(flying, "window")
        return f"{crew}, {sent} in flight, {rate:,.0f} tokens/s"

    @property
    def record(self) -> Mapping[str, Any]:
        shown = {"share_of_wrong_answers_noticed": noticed(self.happened.checked)}
        return asdict(self.happened) | shown

    def seen(self) -> Record:
        """The model, as the first worker found it; the others have no other."""
        while self.ours is None or self.ours.record is None:
            self._staff()
            self._hear()
        return self.ours.record

    # -------------------------------------------------------------------------------- the loop

    def stream(self, windows: Windows) -> Iterator[Mapping[str, Answer]]:
        self.began, self.tokens, self.happened = time.monotonic(), 0, Happened()
        try:
            yield from self._loop(windows)
        finally:
            self._abandon()

    def _loop(self, windows: Windows) -> Iterator[Mapping[str, Answer]]:
        coming = next(windows, None)
        while True:
            while coming is not None and self._has_room():
                drawn, coming = coming, next(windows, None)
                if drawn:
                    self._enqueue(drawn, ends=coming is None)
                else:
                    yield {}
                    break
            if not self.queue and not any(member.windows for member in self.members.values()):
                if coming is None:
                    return
                continue
            self._staff()
            self._dispatch()
            self._hear()
            if self.ready_answers:  # together: a batch is a transaction of the cache
                answers, self.ready_answers = self.ready_answers, {}
                yield answers

    def _abandon(self) -> None:
        """Nothing of this stream is left to confuse the next one."""
        self.queue.clear()
        for number in [number for number, member in self.members.items() if member.windows]:
            del self.members[number]
            self.crew.stop(number)

    def _hear(self) -> None:
        for number, event in self.crew.events(TICK):
            if number in self.members:
                self._handle(number, event)
        self._replace_late()

    def _handle(self, number: int, event: Event) -> None:
        member = self.members[number]
        match event:
            case Hello():
                self._welcome(number, event)
            case Answers(answers):
                window = member.windows.popleft()
                member.since = time.monotonic()
                self._answered(number, window, answers)
            case Failed(reason, "model") if member.ready:
                raise ModelError(reason)
            case Failed(reason, "window") if member.ready:
                self._lose(number, reason)
            case Failed(reason):
                self._close(number, reason)
            case Gone(reason):
                self._lose(number, reason)

    # ---------------------------------------------------------------------------------- sending

    def _has_room(self) -> bool:
        wanted = max(1, self.crew.size()) * window_tokens(self.crew.size())
        return sum(window.tokens for window in self.queue) < wanted

    def _enqueue(self, requests: Mapping[str, Request], ends: bool) -> None:
        size = self.crew.size()
        for window in cut(requests, size, begins=not self.happened.windows, ends=ends):
            window.checked = size > 1 and not self.happened.windows
            self.happened.windows += 1
            self.queue.append(window)

    def _dispatch(self) -> None:
        """Idle workers first; a second window for each only while there is more to come."""
        for depth in range(DEPTH):
            for number, member in self.members.items():
                few = depth and len(self.queue) <= len(self.members)
                if member.ready and len(member.windows) == depth and not few:
                    self._give(number, member)

    def _give(self, number: int, member: PoolWorker) -> None:
        alone = self._others(number) == 0
        window = next((w for w in self.queue if alone or w.asked_before != number), None)
        if window is None:
            return
        self.queue.remove(window)
        if alone and window.first is not None:  # nobody is left to check it
            self._deliver(window.first, window)
            return
        if not member.windows:
            member.since = time.monotonic()
        member.windows.append(window)
        self.crew.send(number, window.requests)

    def _others(self, number: int) -> int:
        """Workers there are or will be, without this one."""
        return max(0, self.crew.size() - self.closed - (number in self.members))

    # -------------------------------------------------------------------------------- answers

    def _answered(self, number: int, window: Window, answers: Mapping[str, Answer]) -> None:
        broken = breaches(window.requests, answers)
        if broken:
            self._refuse(number, window, answers, broken)
            return
        if window.broken:  # this worker can: the one before was at fault
            self._blame(window.asked_before, window.broken)
            window.broken = {}
        if window.checked and window.first is None and self._others(number):
            window.first = answers
            self._ask_another(number, window)
            return
        if window.first is not None:
            self._compare(window, answers)
        self._deliver(window.first or answers, window)
        if window.first is None and self._others(number):
            self.queue.append(window.check(number, answers, self.draw))

    def _compare(self, window: Window, answers: Mapping[str, Answer]) -> None:
        assert window.first is not None
        key = differing(window.first, answers, self.backend.card.dtype)
        if key is not None:
            raise ModelError(
                f"Two workers gave different answers to the same request ({key[:12]}). They do not "
                "compute the same model, and which is wrong cannot be seen. Check their machines; "
                "`stereometer cache clear` forgets what was kept from them."
            )
        self.happened.checked += len(window.first)

    def _refuse(
        self, number: int, window: Window, answers: Mapping[str, Answer], broken: Mapping[str, str]
    ) -> None:
        """Who breaks the contract where another keeps it is at fault and is replaced; what two
        workers break alike is the model's own way, and has no answer."""
        sound = {key: answers[key] for key in window.requests if key not in broken}
        if window.first is not None:
            self._blame(number, broken)
            window.tries += 1
            if window.tries < TRIES:
                self._ask_another(window.asked_before, window)
            else:
                self._deliver(window.first, window)
        elif window.broken:
            self._settle(number, window, sound, broken)
        else:
            self.why = next(iter(broken.values()))
            window.broken, window.sound = broken, sound
            self._ask_another(number, window)

    def _settle(
        self, number: int, window: Window, sound: Mapping[str, Answer], broken: Mapping[str, str]
    ) -> None:
        """After two workers broke it: each answer from who kept the contract."""
        if alone := window.broken.keys() - broken.keys():
            self._blame(window.asked_before, {key: window.broken[key] for key in alone})
        if alone := broken.keys() - window.broken.keys():
            self._blame(number, {key: broken[key] for key in alone})
        lost = {
            key: Answer((), None, why, kept=False)
            for key, why in broken.items()
            if key in window.broken
        }
        self.happened.skipped += len(lost)
        self._deliver({**window.sound, **sound, **lost}, window)

    def _blame(self, number: int | None, broken: Mapping[str, str]) -> None:
        """A worker that is still there is replaced."""
        if number is not None and number in self.members:
            reason = next(iter(broken.values()))
            self._lose(number, f"gave an answer that cannot be one: {reason}", counts=False)
            self.happened.refused += 1

    def _ask_another(self, number: int | None, window: Window) -> None:
        window.asked_before = number
        self.happened.sent_again += bool(window.broken or window.tries)
        self.queue.appendleft(window)

    def _deliver(self, answers: Mapping[str, Answer], window: Window) -> None:
        if not window.delivered:
            self.ready_answers |= {key: answers[key] for key in window.requests}
            self.tokens += window.tokens
        self.lost_in_a_row = self.skipped_in_a_row = 0

    # --------------------------------------------------------------------------------- workers

    def _staff(self) -> None:
        """As many workers as there should be, without those that could not open the model."""
        name = self.backend.card.name if self.backend else "the model"
        if self.closed and not self.members and self.closed >= self.crew.size():
            raise ModelError(
                f"No worker can answer for {name}: {self.why} "
                "Answers so far are kept. Fix that, or run without --workers."
            )
        while len(self.members) < self.crew.size() - self.closed:
            self.members[self.crew.start()] = PoolWorker(time.monotonic())
        self.happened.workers = max(self.happened.workers, len(self.members))

    def _welcome(self, number: int, hello: Hello) -> None:
        if self.ours is None and hello.versions == self.versions:
            self.ours = hello
        if hello == self.ours:
            self.unopened = 0
            self.members[number].ready = True
            self.members[number].since = time.monotonic()
            return
        other = [
            f"{name} {hello.versions.get(name) or 'missing'} instead of {ours or 'missing'}"
            for name, ours in self.versions.items()
            if hello.versions.get(name) != ours
        ]
        self.happened.refused += 1
        differs = f"it has {', '.join(other)}" if other else "its weights or settings differ"
        self._close(number, f"A worker opened another model than the driver: {differs}.")

    def _close(self, number: int, reason: str) -> None:
        """A worker that is not replaced: a new one in its place would do no better."""
        self.why = reason if reason.endswith(".") else f"{reason}."
        LOG.warning("A worker is not used: %s", self.why)
        self.closed += 1
        self._dismiss(number)

    def _lose(self, number: int, reason: str, counts: bool = True) -> None:
        """A worker that is replaced; the window it was at has cost one worker more."""
        member = self.members[number]
        self.why = f"A worker {reason}."
        LOG.warning("A worker %s. Another takes its place.", reason)
        self.happened.lost += 1
        self.lost_in_a_row += 1
        if max(self.lost_in_a_row, self.skipped_in_a_row) > MOST_LOST:
            raise StereometerError(
                f"More than {MOST_LOST} workers were lost one after the other. The last one "
                f"{reason}. Answers so far are kept. Fix that, or take fewer workers."
            )
        if not member.ready:
            self.unopened += 1
            self.closed += self.unopened >= TRIES
        elif member.windows and counts:
            self._costly(member.windows.popleft())
        self._dismiss(number)

    def _dismiss(self, number: int) -> None:
        member = self.members.pop(number)
        self.happened.sent_again += len(member.windows)
        self.queue.extendleft(reversed(member.windows))
        self.crew.stop(number)

    def _costly(self, window: Window) -> None:
        """Asked again, in halves after some tries; a single request is given up at last."""
        window.tries += 1
        if window.tries < TRIES:
            self.happened.sent_again += 1
            self.queue.appendleft(window)
        elif window.delivered:  # a check that nobody survives is no reason to lose an answer
            return
        elif len(window.requests) > 1:
            self.happened.sent_again += 1
            self.queue.extendleft(window.halves())
        else:
            reason = f"stopped {TRIES} workers that were asked it"
            self.happened.skipped += 1
            lost = {key: Answer((), None, reason, kept=False) for key in window.requests}
            self.ready_answers |= lost
            self.lost_in_a_row = 0
            self.skipped_in_a_row += 1

    def _replace_late(self) -> None:
        now = time.monotonic()
        for number, member in list(self.members.items()):
            limit = self.patience if member.ready else OPENING_SECONDS
            if (member.windows or not member.ready) and now - member.since > limit:
                self._lose(number, f"said nothing for {limit:g} s")
