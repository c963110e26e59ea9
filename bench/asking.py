"""Asking in words: batched generation against one prompt at a time, and a server kept busy.

Bars: 200 few-shot prompts at least 4 times as fast as one at a time; at least 90 % of what a server
can answer.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import torch

from bench.timing import THREADS, Peak, contest
from stereometer.core.runs.open import open_benchmark, open_model
from stereometer.core.types import Generate

PROMPTS = 200
ROUNDS = 1
LATENCY, IN_FLIGHT, REQUESTS = 0.1, 16, 480


def measure() -> list[dict[str, Any]]:
    return [*_generation(), *_server()]


# --------------------------------------------------------------------------------------- generation


def prompts() -> list[Generate]:
    """The mixed few-shot setting, with sentences of the starter set for comments."""
    texts = [
        text
        for item in open_benchmark("starter").items("cat")
        for text in item.texts.values()
        if "BLANK" not in text
    ]
    labels = ("complaint", "praise", "neither")
    shown = "".join(
        f"'''{text}''': {label}. \n" for text, label in zip(texts[::100], labels, strict=False)
    )
    return [
        Generate(f"{shown}'''{text}''':", temperature=0.3, max_tokens=4, stop=(".",))
        for text in texts[1 : PROMPTS + 1]
    ]


def _generation() -> list[dict[str, Any]]:
    torch.set_num_threads(THREADS)
    model: Any = open_model("smollm2-135m")
    asked = prompts()
    dict(
        model.answer({one.key: one for one in asked[:2]})
    )  # both show once that sharing gives the same numbers

    def batched(some: Sequence[Generate]) -> dict[str, str]:
        return {
            key: str(answer.text) for key, answer in model.answer({one.key: one for one in some})
        }

    def one_at_a_time(some: Sequence[Generate]) -> dict[str, str]:
        return {key: text for one in some for key, text in batched([one]).items()}

    found = contest(
        {"batched": batched, "one at a time": one_at_a_time}, asked, Peak(), ROUNDS, PROMPTS
    )
    together, alone = found["batched"], found["one at a time"]
    same = sum(together.answers[key] == text for key, text in alone.answers.items())
    return [
        {
            "what": f"{PROMPTS} few-shot prompts in batches against one at a time",
            "value": alone.seconds / together.seconds,
            "unit": "x",
            "bar": ">= 4",
        },
        {
            "what": "of them answered the same",
            "value": 100 * same / PROMPTS,
            "unit": "%",
            "bar": ">= 99.9",
        },
        {
            "what": "in batches",
            "value": PROMPTS / together.seconds,
            "unit": "prompts per second",
            "bar": "none",
        },
    ]


# ------------------------------------------------------------------------------------------- server

SLEEPER = f"""
import json, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
REPLY = json.dumps({{"choices": [{{"text": " yes", "finish_reason": "stop"}}], "usage": {{"prompt_tokens": 9, "completion_tokens": 1}}}}).encode()
class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    def log_message(self, *args): pass
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep({LATENCY})
        self.send_response(200)
        self.send_header("Content-Length", str(len(REPLY)))
        self.end_headers()
        self.wfile.write(REPLY)
        self.wfile.flush()
ThreadingHTTPServer.request_queue_size = 128
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


def _server() -> list[dict[str, Any]]:
    """A server that takes a fixed time for each request and any number at once: with N in flight it
    can answer N in that time."""
    command = [sys.executable, "-c", SLEEPER]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        url = f"http://127.0.0.1:{running.stdout.readline().strip()}/v1"
        try:
            backend: Any = open_model(f"server:{url}#sleeper", 0, {"in_flight": IN_FLIGHT})
            ours, bare = 0.0, 0.0
            for round_ in range(3):
                ours = max(ours, _rate(lambda number=round_: _ours(backend, number)))
                bare = max(bare, _rate(lambda: _bare(url)))
        finally:
            running.terminate()
    possible = IN_FLIGHT / LATENCY
    return [
        {
            "what": f"server backend, {IN_FLIGHT} in flight, of what the server can answer",
            "value": 100 * ours / possible,
            "unit": "%",
            "bar": ">= 90",
        },
        {
            "what": "of what a bare client reaches",
            "value": 100 * ours / bare,
            "unit": "%",
            "bar": ">= 90",
        },
    ]


def _rate(ask: Any) -> float:
    started = time.perf_counter()
    ask()
    return REQUESTS / (time.perf_counter() - started)


def _ours(backend: Any, number: int) -> None:
    asked = [Generate(f"Question {at}", repeat=number) for at in range(REQUESTS)]
    assert len(dict(backend.answer({one.key: one for one in asked}))) == REQUESTS


def _bare(url: str) -> None:
    with httpx2.Client(timeout=30) as client, ThreadPoolExecutor(IN_FLIGHT) as pool:
        body = {"model": "sleeper", "prompt": "Question", "max_tokens": 16}
        list(
            pool.map(lambda _: client.post(f"{url}/completions", json=body).json(), range(REQUESTS))
        )
