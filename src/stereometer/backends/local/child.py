"""A process of its own, without torch, for what a stranger's files make it do: chat templates are
programs, and tokenizer files can be made to take all memory or to end the process.

One line of JSON is a job, and one line is its answer: `{}`, a `text`, or an `error`.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

RENDERS = "transformers.utils.chat_template_utils"
LONGEST = 1_000_000
"""Characters of a prompt: no window is as wide."""
SPREAD = 64
"""Characters or tokens that may come of one character: bytes need four tokens."""
PLANE = [*range(32, 0xD800), *range(0xE000, 0xFFFE)]
"""Characters that most texts are written in."""
BLOCK, RUN = 512, 200
"""Characters of a text that is tried, and equal ones in a row: a pattern may try every division."""
SENTENCE = "The quick brown fox jumps over the lazy dog. 'I do not know,' she said in 1984."


def main() -> None:
    """Answers until nobody asks; the first line says how much memory may be taken."""
    state: dict[str, Any] = {}
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is not an answer
    for line in sys.stdin:
        try:
            answer = _done(json.loads(line), state)
        except MemoryError:
            answer = {"error": "it takes too much memory"}
        except BaseException as error:  # a panic of tokenizers is no Exception
            kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
            answer = {"error": f"{kind}{error}"[:300]}
        print(json.dumps(answer), file=answers, flush=True)


def _done(job: dict[str, Any], state: dict[str, Any]) -> dict[str, str]:
    if "messages" in job:
        return {"text": _rendered(job["messages"], state)}
    if "template" in job:
        import_module(RENDERS)  # its memory is not the template's
        state |= job
    if "tokenizer" in job:
        _try_tokenizer(Path(job["tokenizer"]), job["memory"])
    else:
        limit_memory(job["memory"])
    return {}


def limit_memory(more: int | None) -> None:
    """To what the process has and so much more. Where the system has no such limit, the parent
    watches alone."""
    statm = Path("/proc/self/statm")
    if more is None or not statm.exists():
        return
    resource: Any = import_module("resource")

    pages = int(statm.read_text().split()[0])
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _rendered(messages: list[dict[str, str]], state: dict[str, Any]) -> str:
    """What `apply_chat_template` of transformers gives: its own code renders."""
    texts, _ = import_module(RENDERS).render_jinja_template(
        conversations=[messages],
        chat_template=state["template"],
        add_generation_prompt=True,
        **state["tokens"],
    )
    if len(texts[0]) > LONGEST:
        raise ValueError(f"it makes {len(texts[0])} characters of a prompt")
    return str(texts[0])


def _try_tokenizer(folder: Path, memory: int | None) -> None:
    """Loads it, writes it, and encodes texts of every character of the basic plane."""
    import tokenizers

    # One of several may be chosen by the library's version (`fast_tokenizer_files`).
    files = [*folder.glob("tokenizer.json"), *sorted(folder.glob("tokenizer.*.json"))]
    if files:
        limit_memory(memory)
        for file in files:
            _try(tokenizers.Tokenizer.from_file(str(file)))
        return
    sys.modules["torch"] = None  # type: ignore[assignment]
    from transformers import AutoTokenizer  # makes a fast tokenizer of other files

    limit_memory(memory)
    loaded = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    if (tokenizer := getattr(loaded, "backend_tokenizer", None)) is not None:
        _try(tokenizer)  # without one it is refused by name where it is loaded


def _try(tokenizer: Any) -> None:
    tokenizer.to_str()
    blocks = (PLANE[at : at + BLOCK] for at in range(0, len(PLANE), BLOCK))
    runs = (chr(letter) * RUN for letter in range(32, 127))
    for text in (SENTENCE, *("".join(map(chr, block)) for block in blocks), *runs):
        written = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
        most = max(len(written), len(tokenizer.encode(text).ids))
        if most > SPREAD * len(text):
            raise ValueError(f"it makes {most} characters or tokens of {len(text)} characters")


if __name__ == "__main__":
    main()
