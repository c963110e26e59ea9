"""What a model's files may do to a process, done in a child that can be ended; and whether what was
loaded is the model in the files."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import IO, Any
from weakref import finalize

from stereometer.core.errors import ModelError
from stereometer.core.types import digest_of, digest_of_file
from stereometer.models.local.files import CONFIG

MEMORY = 2 * 1024**3
"""Bytes that a child may take beyond what it has when the work begins."""
LIMITED = os.name == "posix"
"""Whether the system holds a process to a limit; elsewhere its memory is watched from here."""
PATIENCE = 30.0
"""Seconds of its own work for one prompt, or for one tokenizer: a busy machine costs it none."""
IN_ALL = 600.0
"""Seconds of work for all prompts of a run: a usual template takes a tenth of a millisecond."""
IDLE = 20.0
"""How often that long a child may take that does not work: it sleeps, or waits for ever."""
WATCHED = 0.05
"""Seconds between two looks at a child that has not answered."""
TOKENIZER_FILES = ("*token*.json", "*.model", "*vocab*", "merges.txt", "*.tiktoken", "spiece*")
TRIED: dict[str, str] = {}
"""By the digest of a tokenizer's files, what is wrong with it."""


class ChildFailed(Exception):
    """Why a child did not do what it was asked."""


class Child:
    """Answers jobs one after another; it ends with this object, and after its first failure."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "stereometer.models.local.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            text=True,
            encoding="utf-8",
        )
        self.answers: SimpleQueue[str] = SimpleQueue()
        self.left = IN_ALL
        self.process_seen = import_module("psutil").Process(self.process.pid)
        Thread(target=_read, args=(self.process.stdout, self.answers), daemon=True).start()
        finalize(self, _end, self.process)

    def ask(self, **job: Any) -> dict[str, str]:
        """The answer, or ChildFailed."""
        assert self.process.stdin is not None
        try:
            limit = {"memory": MEMORY if LIMITED else None}
            self.process.stdin.write(json.dumps(job | limit) + "\n")
            self.process.stdin.flush()
            answer: dict[str, str] = json.loads(self._line())
        except (ChildFailed, OSError) as problem:
            _end(self.process)
            raise ChildFailed(str(problem)) from None
        if "error" in answer:
            raise ChildFailed(answer["error"])
        return answer

    def _line(self) -> str:
        begun, worked = monotonic(), self._worked()
        patience = min(PATIENCE, self.left)
        while monotonic() < begun + IDLE * patience and self._worked() < worked + patience:
            try:
                line = self.answers.get(timeout=WATCHED)
            except Empty:
                # The guard where the system has none: what the child holds is seen from here.
                held = self._seen("memory_info")
                if held and held.rss > MEMORY:
                    raise ChildFailed(
                        f"it took more than {MEMORY // 1024**2} MB of memory"
                    ) from None
                continue
            if line:
                self.left -= max(0.0, self._worked() - worked)
                return line
            raise ChildFailed("it took too much memory, or ended the process that read it")
        raise ChildFailed(f"it did not come to an end in {patience:.0f} seconds")

    def _worked(self) -> float:
        """Seconds, so far."""
        times = self._seen("cpu_times")
        return float(times.user + times.system) if times else 0.0

    def _seen(self, what: str) -> Any:
        """What the system says of the child; nothing of one that has ended."""
        try:
            return getattr(self.process_seen, what)()
        except import_module("psutil").Error:
            return None


def _environment() -> dict[str, str]:
    """The packages that this process has, and one thread: others would take memory of their own."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
    told = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONSAFEPATH": "1"}
    quiet = {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1"}
    return {**os.environ, **told, **quiet, **dict.fromkeys(names, "1")}


def _read(pipe: IO[str], answers: SimpleQueue[str]) -> None:
    """Line by line, and an empty one at the end."""
    for line in pipe:
        answers.put(line)
    answers.put("")


def _end(process: subprocess.Popen[str]) -> None:
    """May be called twice: after a failure, and when nobody holds the child any more."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def try_tokenizer(spec: str, folder: Path) -> None:
    """Raises where the tokenizer files of a folder hang a process, fill its memory or end it."""
    files = sorted({file for form in (CONFIG, *TOKENIZER_FILES) for file in folder.glob(form)})
    named = digest_of([(file.name, digest_of_file(file)) for file in files if file.is_file()])
    if named not in TRIED:
        problem = ""
        try:
            Child().ask(tokenizer=str(folder))
        except ChildFailed as failed:
            problem = str(failed)
        TRIED[named] = problem
    if problem := TRIED[named]:
        raise ModelError(
            f"{spec} has a tokenizer that cannot be used: {problem}. Its files are damaged, or "
            "made to do harm. Get them from where the model was published."
        )


# ---------------------------------------------------------------------------------- what was loaded

HEADS = re.compile(
    r"(^|\.)(cls|lm_head|vocab_\w+|pooler|seq_relationship|sop_classifier|classifier|"
    r"classification_head|qa_outputs|score|discriminator_predictions)(\.|$)"
)
"""Heads for another task than the one asked about, by the names that transformers gives them."""
BUFFERS = re.compile(r"(^|\.)(position_ids|inv_freq|masked_bias|(attn|attention)\.bias)$")
"""What older versions stored although it follows from the configuration."""


def unused_weights(spec: str, report: Mapping[str, Any], model: Any) -> tuple[str, ...]:
    """Names for the result to mention; raises where they belong to the layers of the model, which
    is then another model than the one in the file."""
    keys: Iterable[str] = report.get("unexpected_keys", ())
    unused = sorted(key for key in keys if not BUFFERS.search(key))
    layers = {_layer(name) for name in model.state_dict()} - {""}
    prefix = f"{model.base_model_prefix}."
    layers |= {layer.removeprefix(prefix) for layer in layers}
    inside = [key for key in unused if _layer(key) in layers]
    if inside:
        others = f" and {len(inside) - 1} others" if inside[1:] else ""
        raise ModelError(
            f"{spec} brings weights that its configuration leaves out: {inside[0]}{others}. "
            "What would be measured is not the model in the file. "
            "Check the number of layers and the architecture in config.json."
        )
    return tuple(key for key in unused if not HEADS.search(key))


def _layer(name: str) -> str:
    """Where the numbered layer of a weight stands in the model; empty for a weight of none."""
    return re.sub(r"\.\d+(?=\.)", ".#", name).rpartition(".#.")[0]


def check_weights(spec: str, report: Mapping[str, Any]) -> None:
    """Weights that a file does not hold would be made up at random."""
    mismatched = (key[0] for key in report.get("mismatched_keys", ()))
    missing = sorted({*report.get("missing_keys", ()), *mismatched})
    if missing:
        others = f" and {len(missing) - 1} others" if missing[1:] else ""
        raise ModelError(
            f"{spec} has no usable weights for {missing[0]}{others}. It may be an encoder without "
            "its language-model head, or of another shape than its configuration says. "
            "Name a checkpoint that has them."
        )


def check_tokenizer(spec: str, tokenizer: Any, model: Any) -> None:
    """A tokenizer that knows nothing, or more words than the model, belongs to another one."""
    table = getattr(model.get_input_embeddings(), "weight", None)
    if table is None:
        raise ModelError(
            f"{spec} has no table of token embeddings ({type(model).__name__}). Without one there "
            "is no telling which tokens it knows. Choose another model."
        )
    rows = int(table.shape[0])
    ids = tokenizer("The cat sat on the mat.", add_special_tokens=False)["input_ids"]
    if not ids or set(ids) <= {tokenizer.unk_token_id}:
        raise ModelError(
            f"{spec} has no tokenizer that can read a text. Its tokenizer files are missing or "
            "damaged. Add them to the model."
        )
    if tokenizer.vocab_size > rows:
        raise ModelError(
            f"{spec} has a tokenizer of {tokenizer.vocab_size} tokens and a model of {rows}. "
            "They do not belong together. Check its files."
        )
    if not getattr(tokenizer, "is_fast", False):
        raise ModelError(
            f"{spec} has no fast tokenizer. Character offsets are needed to know which tokens a "
            "word has. Convert it with transformers, or choose another model."
        )


def check_layout(spec: str, layout: Mapping[str, Any]) -> None:
    """Parts that did not fit on a GPU would be fetched from elsewhere for every batch."""
    places = {str(place) for place in layout.values()}
    if places - {"cpu"} and places & {"cpu", "disk"}:
        raise ModelError(
            f"{spec} does not fit on the GPUs it was given. Parts of it would stay in the "
            "machine's memory or on its disk. Give each worker more with --gpus-per-worker."
        )
