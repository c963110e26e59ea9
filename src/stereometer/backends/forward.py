"""Forward passes: trunk and head apart, batches without padding, and memory that gives way instead of failing.

One generic path serves every model. The trunk gives hidden states; the head is the model's own forward with its trunk
replaced by the rows that are asked, so that whatever the head does (transforms, tying, soft caps) is done by the model
itself. `lean` may put a faster trunk or head in its place where the module structure is recognised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from stereometer.errors import ModelError

CPU_TOKENS = 4096
"""Tokens in a batch on a CPU; larger batches brought nothing."""
LOGIT_BYTES = 48 * 1024**2
"""Logits held at once, and as much again for their log-probabilities."""
GPU_SHARE = 0.4
"""Of the free memory, for hidden states; the rest is the head's and the allocator's."""


Targets = Sequence[Sequence[int]]
"""For each row the tokens whose log-probability is asked there."""


def token_budget(model: Any) -> int:
    """How many tokens go into one batch: a function of device and memory alone."""
    device = next(model.parameters()).device
    if device.type != "cuda":
        return CPU_TOKENS
    free, _ = torch.cuda.mem_get_info(device)
    width = int(getattr(model.config, "hidden_size", 1024))
    return max(CPU_TOKENS, int(GPU_SHARE * free / (width * 4 * 24)))


class _Replaced(tuple[Tensor]):
    """A trunk's output that has hidden states and nothing else: no cache, no attentions, no memory."""

    @property
    def last_hidden_state(self) -> Tensor:
        return self[0]

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


def head(model: Any, rows: Tensor) -> Tensor:
    """Logits of hidden rows (n x width), by the model's own head."""
    trunk = model.base_model
    trunk.forward = lambda *args, **kwargs: _Replaced((rows.unsqueeze(0),))
    try:
        logits: Tensor = model(input_ids=torch.zeros(1, rows.shape[0], dtype=torch.long, device=rows.device), return_dict=True).logits
    finally:
        del trunk.forward
    return logits[0]


def inputs_of_last_layer(model: Any, last: Any, rows: Tensor) -> Tensor:
    """What the head hands to its last layer, which steps aside; a head that does more after it gives something else."""
    last.forward = lambda states: states
    try:
        return head(model, rows)
    finally:
        del last.forward


def logprobs(model: Any, rows: Tensor, targets: Targets) -> list[list[float]]:
    """For each row the log-probabilities of the tokens asked there; logits are made a slice of rows at a time."""
    found: list[list[float]] = []
    step = max(1, LOGIT_BYTES // (4 * int(model.config.vocab_size)))
    for start in range(0, len(rows), step):
        scores = head(model, rows[start : start + step]).float().log_softmax(-1)
        asked = targets[start : start + step]
        where = torch.tensor([index for index, tokens in enumerate(asked) for _ in tokens], device=scores.device)
        which = torch.tensor([token for tokens in asked for token in tokens], device=scores.device)
        values = iter(scores[where, which].tolist())
        found += [[next(values) for _ in tokens] for tokens in asked]
    return found


class Sized(Protocol):
    def __len__(self) -> int: ...


class Text(Sized, Protocol):
    @property
    def segments(self) -> tuple[int, ...]: ...


Piece = TypeVar("Piece", bound=Sized)
SomeText = TypeVar("SomeText", bound=Text)


def packed(texts: Iterable[SomeText], budget: int) -> Iterator[list[SomeText]]:
    """Batches of texts of nearly one length, longest first, each within the budget."""
    group: list[SomeText] = []
    size = 0
    for text in sorted(texts, key=_form, reverse=True):
        if group and (bool(text.segments) != bool(group[0].segments) or size + len(text) > budget):
            yield group
            group, size = [], 0
        group.append(text)
        size += len(text)
    if group:
        yield group


def equal_length(texts: Sequence[SomeText], budget: int) -> Iterator[list[SomeText]]:
    """Batches of texts of one length, longest first, each within the budget: no padding anywhere."""
    group: list[SomeText] = []
    for text in sorted(texts, key=_form, reverse=True):
        if group and (_form(text) != _form(group[0]) or (len(group) + 1) * len(text) > budget):
            yield group
            group = []
        group.append(text)
    if group:
        yield group


def _form(text: Text) -> tuple[bool, int]:
    """Whether the model is told of segments, and length."""
    return bool(text.segments), len(text)


def shrinking(batch: list[Piece], run: Any) -> Iterator[Any]:
    """Runs a batch; where memory runs out, its halves; where even one piece does not fit, says so."""
    try:
        yield run(batch)
        return
    except (MemoryError, torch.OutOfMemoryError):
        pass
    except RuntimeError as error:
        if "allocate memory" not in str(error) and "out of memory" not in str(error):
            raise
    if len(batch) == 1:
        raise ModelError(
            f"A text of {len(batch[0])} tokens does not fit into memory. The model is too large for this machine. Use a smaller one or another --device."
        )
    half = len(batch) // 2
    yield from shrinking(batch[:half], run)
    yield from shrinking(batch[half:], run)
