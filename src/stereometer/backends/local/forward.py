"""Forward passes: trunk and head apart, batches without padding.

One generic path serves every model. The trunk gives hidden states; the head is the model's own forward with its trunk
replaced by the rows that are asked, so that whatever the head does (transforms, tying, soft caps) is done by the model
itself. A model whose head cannot be taken off so gives its logits as states. `lean` may put a faster trunk or head in its place where the module structure is recognised.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor

from stereometer.backends.local.checkpoint import first_line
from stereometer.errors import ModelError

LOG = logging.getLogger("stereometer")
CPU_TOKENS = 4096
"""Tokens in a batch on a CPU; larger batches brought nothing."""
LOGIT_BYTES = 48 * 1024**2
"""Logits held at once, and as much again for their log-probabilities."""
GPU_SHARE = 0.4
"""Of the free memory, for hidden states; the rest is the head's and the allocator's."""


Targets = Sequence[Sequence[int]]
"""For each row the tokens whose log-probability is asked there."""


PROBED = 8
"""Tokens of a text that shows how wide states are: models that pool neighbouring tokens (Funnel) take no shorter than three."""


class _Replaced(tuple[Tensor]):
    """A trunk's output that has hidden states and nothing else: no cache, no attentions, no memory."""

    @property
    def last_hidden_state(self) -> Tensor:
        return self[0]

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


class Split:
    """A model taken apart where its language-model head begins; one that cannot be is all trunk."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.device = next(model.parameters()).device
        self.vocabulary = int(model.get_input_embeddings().weight.shape[0])
        self.whole = False
        self.inner = model.base_model
        probe = torch.arange(1, 5, device=self.device).unsqueeze(0) % self.vocabulary
        try:
            called = self._called(probe)
        except RuntimeError as error:
            dtype = next(model.parameters()).dtype
            raise ModelError(
                f"The model cannot be asked in {str(dtype).removeprefix('torch.')} on {self.device}: {first_line(error)}. "
                f"Its code does not allow it. {'Choose another model' if dtype == torch.float32 else 'Try --dtype float32'}, or another --device."
            ) from None
        if called is not None:
            self.inner = called
        self.whole = called is None or not self._comes_apart(probe)

    @torch.inference_mode()
    def _called(self, probe: Tensor) -> Any:
        """The outermost part of the trunk that the language model calls: some go round `base_model` to a part of it."""
        seen: list[Any] = []
        hooks = [
            part.register_forward_pre_hook(lambda part, _: seen.append(part))
            for part in self.model.base_model.modules()
        ]
        try:
            self.model(input_ids=probe)
        finally:
            for hook in hooks:
                hook.remove()
        return seen[0] if seen and not isinstance(seen[0], torch.nn.Embedding) else None

    @torch.inference_mode()
    def _comes_apart(self, probe: Tensor) -> bool:
        """Whether the head, given the trunk's states, makes the logits that the whole model makes."""
        expected = self.model(input_ids=probe).logits[0]
        try:
            found = self.head(self.inner(input_ids=probe)[0][0])
            return bool(
                torch.allclose(found, expected, rtol=1e-4, atol=1e-5 * float(expected.abs().max()))
            )
        except Exception as problem:  # the head asks its trunk for something else than states
            LOG.info("the head cannot be taken off: %s", problem)
            return False

    @property
    def takes(self) -> set[str]:
        """Names of what the trunk can be told."""
        return set(inspect.signature((self.model if self.whole else self.inner).forward).parameters)

    def trunk(self, **inputs: Any) -> Tensor:
        """States of all positions; where the model does not come apart, its logits."""
        states: Tensor = self.model(**inputs).logits if self.whole else self.inner(**inputs)[0]
        return states

    def head(self, rows: Tensor) -> Tensor:
        """Logits of rows of states, by the model's own head."""
        if self.whole:
            return rows
        called: list[None] = []

        def states(*args: Any, **kwargs: Any) -> _Replaced:
            called.append(None)
            return _Replaced((rows.unsqueeze(0),))

        self.inner.forward = states
        try:
            logits: Tensor = self.model(
                input_ids=torch.zeros(1, len(rows), dtype=torch.long, device=rows.device),
                return_dict=True,
            ).logits
        finally:
            del self.inner.forward
        assert called, "the head does not call the trunk"
        return logits[0]

    def inputs_of(self, last: Any, rows: Tensor) -> Tensor:
        """What the head hands to its last layer, which steps aside."""
        last.forward = lambda states: states
        try:
            return self.head(rows)
        finally:
            del last.forward

    @torch.inference_mode()
    def ends_with(self, last: Any) -> bool:
        """Whether the logits are what this layer gives, to the last bit: nothing is capped or scaled after it."""
        if self.whole:
            return False
        given: list[Tensor] = []
        hook = last.register_forward_hook(lambda part, inputs, output: given.append(output))
        try:
            width = int(
                self.inner(input_ids=torch.ones(1, PROBED, dtype=torch.long, device=self.device))[
                    0
                ].shape[-1]
            )
            logits = self.head(
                torch.linspace(
                    -3, 3, 2 * width, dtype=next(self.model.parameters()).dtype, device=self.device
                ).view(2, width)
            )
        finally:
            hook.remove()
        return bool(given) and torch.equal(given[-1].reshape(logits.shape).to(logits.dtype), logits)


def token_budget(split: Split) -> int:
    """How many tokens go into one batch: a function of device, memory and the width of a token's states."""
    if split.whole:
        return max(1, 2 * LOGIT_BYTES // (4 * split.vocabulary))
    if split.device.type != "cuda":
        return CPU_TOKENS
    free, _ = torch.cuda.mem_get_info(split.device)
    width = int(getattr(split.model.config, "hidden_size", 1024))
    return max(CPU_TOKENS, int(GPU_SHARE * free / (width * 4 * 24)))


def logprobs(split: Split, rows: Tensor, targets: Targets) -> list[list[float]]:
    """For each row the log-probabilities of the tokens asked there; logits are made a slice of rows at a time."""
    found: list[list[float]] = []
    step = max(1, LOGIT_BYTES // (4 * split.vocabulary))
    for start in range(0, len(rows), step):
        logits = split.head(rows[start : start + step])
        scores = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
        asked = targets[start : start + step]
        where = torch.tensor(
            [index for index, tokens in enumerate(asked) for _ in tokens], device=scores.device
        )
        which = torch.tensor([token for tokens in asked for token in tokens], device=scores.device)
        values = iter(scores[where, which].tolist())
        found += [[next(values) for _ in tokens] for tokens in asked]
    return found


class Text(Sized, Protocol):
    @property
    def segments(self) -> tuple[int, ...]: ...


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
