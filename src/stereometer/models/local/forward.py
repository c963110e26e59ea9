"""A model in two parts: the trunk gives hidden states, the head turns them into logits.

One generic path serves every model. The head is the model's own forward with its trunk replaced by
the rows that are asked, so that whatever the head does (transforms, tying, soft caps) is done by
the model itself. A model whose head cannot be taken off so gives its logits as states. `lean` may
put a faster trunk or head in its place where the module structure is recognised.
"""

import inspect
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import torch
from torch import Tensor

from stereometer.core.errors import ModelError
from stereometer.models.local.batches import is_shortage, shrinking
from stereometer.models.local.files import first_line
from stereometer.models.local.places import too_small

LOG = logging.getLogger("stereometer")
CPU_TOKENS = 4096
"""Tokens in a batch on a CPU; larger batches brought nothing."""
LOGIT_BYTES = 48 * 1024**2
"""Logits held at once, and as much again for their log-probabilities."""
GPU_SHARE = 0.4
"""Of the free memory, for hidden states; the rest is the attention's and the allocator's."""
STATES = 24
"""Times the states of a token that a layer holds at once, its feed-forward part among them."""
LEAST_TOKENS = 512
"""In a batch, however little memory there is: a text must go in. If it does not, halves do."""
PROBED = 8
"""Tokens of a text that shows how a model is built: Funnel pools tokens, and with three blocks it
takes at least five."""
UNSTEADY = 1e-3
"""Of the largest state: what differs by more between two askings is drawn, not rounded."""

ENOUGH_ROWS = 16
"""Matrix products of a few rows (seven, here) are added up in another order than larger ones. With
at least this many, a row's numbers do not depend on the rows beside it."""

Texts = Sequence[Sequence[int]]
"""Token ids (or segments) of several texts."""
Targets = Sequence[Sequence[int]]
"""For each row the tokens whose log-probability is asked there."""


class _Replaced(tuple[Tensor]):
    """A trunk's output that has hidden states and nothing else: no cache, no attentions."""

    @property
    def last_hidden_state(self) -> Tensor:
        return self[0]

    def __getattr__(self, name: str) -> None:
        if name.startswith("__"):
            raise AttributeError(name)


@contextmanager
def noting_calls(parts: Iterable[Any]) -> Iterator[list[Any]]:
    """Those of some modules that are called, in the order of calling."""
    called: list[Any] = []
    hooks = [part.register_forward_pre_hook(lambda part, _: called.append(part)) for part in parts]
    try:
        yield called
    finally:
        for hook in hooks:
            hook.remove()


@dataclass
class Watched:
    """What last went into a layer and what came out."""

    input: Tensor | None = None
    output: Tensor | None = None


@contextmanager
def watching(layer: Any) -> Iterator[Watched]:
    watched = Watched()

    def note(part: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        watched.input, watched.output = inputs[0], output

    hook = layer.register_forward_hook(note)
    try:
        yield watched
    finally:
        hook.remove()


@contextmanager
def replaced_forward(part: Any, forward: Callable[..., Any]) -> Iterator[None]:
    """Another forward for a while. A part of a model on several GPUs has one of its own already,
    which moves its inputs to where it is."""
    own = vars(part).get("forward")
    part.forward = forward
    try:
        yield
    finally:
        del part.forward
        if own is not None:
            part.forward = own


class SplitModel:
    """A model taken apart where its language-model head begins; one that cannot be is all trunk."""

    def __init__(self, model: Any) -> None:
        self.model = model
        parameter = next(model.parameters())
        self.device, self.dtype = parameter.device, parameter.dtype
        self.vocabulary = int(model.get_input_embeddings().weight.shape[0])
        self.whole = False
        self.inner = model.base_model
        self.steady = 0
        """Texts up to this length were given the same numbers twice."""
        try:
            called = self._called()
        except RuntimeError as error:
            if is_shortage(error):
                raise too_small("The model", self.device) from None
            dtype = str(self.dtype).removeprefix("torch.")
            remedy = "Choose another model" if dtype == "float32" else "Try --dtype float32"
            raise ModelError(
                f"The model cannot run in {dtype} on {self.device}: {first_line(error)}. Its code "
                f"does not support that. {remedy}, or another --device."
            ) from None
        if called is not None:
            self.inner = called
        self.whole = called is None or not self._comes_apart()

    def probe(self, length: int = PROBED) -> Tensor:
        """Some ids that any model knows."""
        return torch.arange(1, length + 1, device=self.device).unsqueeze(0) % self.vocabulary

    @torch.inference_mode()
    def _called(self) -> Any:
        """The outermost part of the trunk that is called: some models go round `base_model`."""
        with noting_calls(self.model.base_model.modules()) as called:
            self.model(input_ids=self.probe())
        return called[0] if called and not isinstance(called[0], torch.nn.Embedding) else None

    @torch.inference_mode()
    def _comes_apart(self) -> bool:
        """Whether the head, given the trunk's states, makes the logits of the whole model."""
        expected = self.model(input_ids=self.probe()).logits[0]
        try:
            logits = self.head(self.inner(input_ids=self.probe())[0][0])
            tolerance = 1e-5 * float(expected.abs().max())
            return bool(torch.allclose(logits, expected, rtol=1e-4, atol=tolerance))
        except Exception as problem:  # the head asks its trunk for something else than states
            LOG.info("the head cannot be taken off: %s", problem)
            return False

    @torch.inference_mode()
    def check_steady(self, ids: Sequence[int]) -> None:
        """Raises where a text longer than before is given other numbers when it is asked again."""
        if len(ids) <= self.steady:
            return

        def states(batch: Texts) -> Tensor:
            text = torch.tensor(batch, device=self.device).clamp(min=0)  # a hidden one is any token
            return self.trunk(input_ids=text).float()

        once, again = (part for _ in range(2) for part in shrinking([ids], states))
        scale = UNSTEADY * max(1.0, float(once.abs().max()))
        if not torch.allclose(once, again, rtol=0, atol=scale, equal_nan=True):
            raise ModelError(
                "The model gives the same text other numbers each time. It draws something at "
                "random, so its scores could not be had again. Give it a seed in config.json, if "
                "it has one (Reformer: hash_seed), or choose another model."
            )
        self.steady = len(ids)

    @cached_property
    def takes(self) -> frozenset[str]:
        """Names of the trunk's inputs."""
        trunk = self.model if self.whole else self.inner
        return frozenset(inspect.signature(trunk.forward).parameters)

    def inputs(self, ids: Texts, segments: Texts | None, enough: bool = True) -> dict[str, Any]:
        """The trunk's inputs for texts of one length; segments where it takes them.

        Few texts go in several times, for the sake of ENOUGH_ROWS: the first rows are theirs.
        """
        copies = ceil(ENOUGH_ROWS / (len(ids) * len(ids[0]))) if enough else 1
        tokens = torch.tensor([list(text) for text in ids] * copies, device=self.device)
        inputs = {"input_ids": tokens, "attention_mask": torch.ones_like(tokens)}
        if segments is not None and "token_type_ids" in self.takes:
            kinds = torch.tensor([list(text) for text in segments] * copies)
            inputs["token_type_ids"] = kinds.to(tokens)
        return inputs

    def trunk(self, **inputs: Any) -> Tensor:
        """States of all positions; where the model does not come apart, its logits."""
        states: Tensor = self.model(**inputs).logits if self.whole else self.inner(**inputs)[0]
        return states.to(self.device)  # a model may be laid over several

    def head(self, rows: Tensor) -> Tensor:
        """Logits of rows of states, by the model's own head."""
        if self.whole:
            return rows
        called: list[None] = []

        def states(*args: Any, **kwargs: Any) -> _Replaced:
            called.append(None)
            return _Replaced((rows.unsqueeze(0),))

        ids = torch.zeros(1, len(rows), dtype=torch.long, device=rows.device)
        with replaced_forward(self.inner, states):
            logits: Tensor = self.model(input_ids=ids, return_dict=True).logits
        assert called, "the head does not call the trunk"
        return logits[0].to(rows.device)

    @torch.inference_mode()
    def ends_with(self, last: Any) -> bool:
        """Whether the logits are this layer's output to the last bit: not capped or scaled."""
        if self.whole:
            return False
        width = int(self.inner(input_ids=self.probe())[0].shape[-1])
        rows = torch.linspace(-3, 3, 2 * width, dtype=self.dtype, device=self.device)
        with watching(last) as watched:
            logits = self.head(rows.view(2, width))
        output = watched.output
        return output is not None and torch.equal(output.reshape(logits.shape).to(logits), logits)


def token_budget(split: SplitModel) -> int:
    """How many tokens go into one batch of a model, where it is."""
    width = int(getattr(split.model.config, "hidden_size", 1024)) * split.dtype.itemsize
    return batch_tokens(free_memory(split.model), width, split.vocabulary if split.whole else 0)


def batch_tokens(free: int | None, width: int, logits: int) -> int:
    """How many, from `free` bytes of a GPU (None on a CPU), `width` bytes of a token's states and
    the `logits` that are kept of every token; the head's own are bounded by LOGIT_BYTES."""
    if free is None:
        return max(1, 2 * LOGIT_BYTES // (4 * logits)) if logits else CPU_TOKENS
    each = STATES * width + 2 * 4 * logits
    return max(LEAST_TOKENS, int(GPU_SHARE * (free - 2 * LOGIT_BYTES) / each))


def free_memory(model: Any) -> int | None:
    """Bytes on the fullest of the GPUs that hold the model; None where none does."""
    places = {part.device for part in model.parameters() if part.device.type == "cuda"}
    return min((int(torch.cuda.mem_get_info(place)[0]) for place in places), default=None)


def slices(split: SplitModel, count: int, logit_bytes: int) -> Iterator[slice]:
    """Rows whose logits fit into memory at once, at so many bytes a logit."""
    step = max(1, LOGIT_BYTES // (logit_bytes * split.vocabulary))
    return (slice(start, start + step) for start in range(0, count, step))


def enough(rows: Tensor) -> Tensor:
    """The rows, and copies of the last one where there are few: who calls takes the first ones."""
    lacking = ENOUGH_ROWS - len(rows)
    return torch.cat([rows, rows[-1:].expand(lacking, -1)]) if lacking > 0 else rows


def logprobs(split: SplitModel, rows: Tensor, targets: Targets) -> list[list[float]]:
    """For each row the log-probabilities of the tokens asked there."""
    values: list[list[float]] = []
    for part in slices(split, len(rows), 4):
        logits = split.head(enough(rows[part]))
        scores = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(-1)
        where, which = flat(targets[part])
        values += like(targets[part], scores[where.to(scores.device), which.to(scores.device)])
    return values


def flat(targets: Targets) -> tuple[Tensor, Tensor]:
    """The row of each target, and its token."""
    where = [row for row, tokens in enumerate(targets) for _ in tokens]
    return torch.tensor(where), torch.tensor([token for tokens in targets for token in tokens])


def like(targets: Targets, values: Tensor) -> list[list[float]]:
    """One value for each target, in the layout of the targets."""
    numbers = iter(values.tolist())
    return [[next(numbers) for _ in tokens] for tokens in targets]


# --------------------------------------------------------------------------------- the output layer

TOLERANCE = 1e-4
"""Of the largest logit, in float32; coarser types are compared as coarsely as they count."""


class OutputLayer:
    """A head's last linear layer: logits = weight x state + bias.

    SeT asks how far this layer's matrix must move. The layer is found by watching which linear
    layer as wide as the vocabulary the head calls last. It is believed only where its weight and
    bias give its output, and where what comes after it (a soft cap, a scale) keeps the order of all
    its logits. That is not part of the distance; a bias added later would be.
    """

    def __init__(self, split: SplitModel, layer: torch.nn.Linear) -> None:
        self.split = split
        self.layer = layer

    def __call__(self, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """For rows of states: the model's logits, this layer's own, and the squared norms of what
        its matrix (and bias) are multiplied with."""
        with watching(self.layer) as watched:
            logits = self.split.head(rows)
        assert watched.input is not None
        assert watched.output is not None
        state = watched.input.reshape(len(rows), -1).double()
        squared = torch.linalg.vecdot(state, state) + (0.0 if self.layer.bias is None else 1.0)
        return logits, watched.output.reshape(len(rows), -1), squared

    @torch.inference_mode()
    def holds(self, rows: Tensor) -> bool:
        """Whether weight and bias give this layer's output, and the model's logits rise with it."""
        with watching(self.layer) as watched:
            logits = self.split.head(rows)
        state, output = watched.input, watched.output
        if state is None or output is None:
            return False
        again = state.double() @ self.layer.weight.double().t()
        if self.layer.bias is not None:
            again = again + self.layer.bias.double()
        coarse = max(TOLERANCE, 8 * float(torch.finfo(output.dtype).eps))
        tolerance = coarse * float(again.abs().max())
        return (
            bool(torch.allclose(again, output.double(), rtol=0, atol=tolerance))
            and output.numel() == logits.numel()
            and _rising(output.reshape(logits.shape), logits, coarse)
        )


def _rising(before: Tensor, after: Tensor, coarse: float) -> bool:
    """Whether in every row the model's logits rise, or stay, with the layer's."""
    ordered = after.double().gather(-1, before.argsort(-1))
    falls = ordered.cummax(-1).values - ordered
    return bool((falls <= coarse * after.double().abs().amax(-1, keepdim=True)).all())


@torch.inference_mode()
def output_layer(split: SplitModel) -> OutputLayer | None:
    """The model's output layer, or nothing where none is found that holds."""
    if split.whole:
        return None
    rows = split.trunk(input_ids=split.probe())[0]
    linear = [part for part in split.model.modules() if isinstance(part, torch.nn.Linear)]
    with noting_calls(linear) as called:
        width = split.head(rows).shape[-1]
    layer = next((part for part in reversed(called) if part.out_features == width), None)
    if layer is None:
        LOG.info("no linear layer of the head is as wide as the vocabulary")
        return None
    output = OutputLayer(split, layer)
    return output if output.holds(rows) else None
