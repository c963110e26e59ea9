"""A process of its own, without torch, for what a stranger's files make it do: chat templates are
programs, and tokenizer files can be made to take all memory or to end the process.

One line of JSON is a job, and one line is its answer: `{}`, a `text`, or an `error`.
"""

import json
import os
import sys
from importlib import import_module
from math import prod
from pathlib import Path
from typing import Any

RENDERS = "transformers.utils.chat_template_utils"
LONGEST = 1_000_000
"""Characters of a prompt: no window is as wide."""
SPREAD = 64
"""Characters or tokens that may come of one character: bytes need four tokens."""
GROWTH = 4096
"""Characters that may come of one token: usual tokenizers put in single signs, few times."""
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
    """To what the process has and so much more; without such a limit the parent watches alone."""
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
    """Each file by itself, and what transformers makes of all of them."""
    sys.modules["torch"] = None  # type: ignore[assignment]
    import tokenizers
    from transformers import AutoTokenizer

    limit_memory(memory)
    # One of several may be chosen by the library's version (`fast_tokenizer_files`).
    for file in (*folder.glob("tokenizer.json"), *sorted(folder.glob("tokenizer.*.json"))):
        _try(tokenizers.Tokenizer.from_file(str(file)))
    loaded = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    if (tokenizer := getattr(loaded, "backend_tokenizer", None)) is not None:
        _try(tokenizer)  # without one it is refused by name where it is loaded


def _try(tokenizer: Any) -> None:
    """Writes it, and encodes and decodes texts of every character of the basic plane."""
    tokenizer.to_str()
    if (most := _growth(tokenizer)) > GROWTH:
        raise ValueError(f"it can write {most} characters in the place of one token")
    blocks = (PLANE[at : at + BLOCK] for at in range(0, len(PLANE), BLOCK))
    runs = (chr(letter) * RUN for letter in range(32, 127))
    for text in (SENTENCE, *("".join(map(chr, block)) for block in blocks), *runs):
        written = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
        ids = tokenizer.encode(text).ids
        most = max(map(len, (written, ids, tokenizer.decode(ids))))
        if most > SPREAD * len(text):
            raise ValueError(f"it makes {most} characters or tokens of {len(text)} characters")


def _growth(tokenizer: Any) -> int:
    """Characters of the longest token, or of what its steps, one after another, can put in the
    place of a word that no text here has."""
    put_in: list[str] = []

    def note(step: dict[str, Any]) -> None:
        put_in.extend(step[name] for name in ("content", "prepend") if name in step)

    for step in (tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder):
        json.loads(step.__getstate__() if step else "{}", object_hook=note)
    return max(prod(len(text) + 1 for text in put_in), *map(len, tokenizer.get_vocab()), 0)


if __name__ == "__main__":
    main()
