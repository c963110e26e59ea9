"""Whether one sentence follows another: a head on a model's states of both, read together.

A head is one safetensors file. Its header says what it was trained on and for which weights; it is refused on any others.
Scores are log-odds, never probabilities: those saturate.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import groupby
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from stereometer.backends.local.forward import token_budget
from stereometer.backends.local.language_model import LanguageModel
from stereometer.backends.local.memory import shrinking
from stereometer.errors import ModelError
from stereometer.types import Answer, Follows, Skip

LABELS = ("follows", "random")
LONGEST = 256
"""Tokens of a pair, as in StereoSet's training."""
DEFAULT_POOLING = {"masked": "first", "permuted": "last", "causal": "mean"}
"""By family: where a model of that kind gathers what it knows of a text."""


# ------------------------------------------------------------------------------------------------- reading pairs


@dataclass(frozen=True)
class PairTokens:
    """Two sentences as one sequence."""

    ids: tuple[int, ...]
    segments: tuple[int, ...]
    first: tuple[int, ...]
    """Positions of the first sentence's tokens."""
    second: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.ids)


def read_pair(backend: LanguageModel, first: str, second: str) -> PairTokens:
    """As the model was taught to read two sentences; a causal model reads them as one text."""
    if not first.strip() or not second.strip():
        raise Skip("a sentence has no token")
    if backend.tokens.causal:
        encoding = backend.encode(f"{first} {second}")
        later = [offset[1] > len(first) for offset in encoding.offsets]
    else:
        encoding = backend.encode(first, second)
        later = list(encoding.second)
    if len(encoding.ids) > LONGEST:
        raise Skip(f"longer than the {LONGEST} tokens of next-sentence heads")
    ordinary = [at for at, word in enumerate(encoding.words) if word is not None]
    parts = tuple(at for at in ordinary if not later[at]), tuple(at for at in ordinary if later[at])
    if not all(parts):
        raise Skip("a sentence has no token")
    return PairTokens(encoding.ids, encoding.segments, *parts)


# --------------------------------------------------------------------------------------------------------- pooling

Pooling = Callable[[Tensor, PairTokens], Tensor]
"""From the states of a pair's tokens to one row."""


def _parts(states: Tensor, pair: PairTokens) -> Tensor:
    """The mean of each sentence, their product and their distance: what they have in common has a place of its own."""
    first, second = states[list(pair.first)].mean(0), states[list(pair.second)].mean(0)
    return torch.cat([first, second, first * second, (first - second).abs()])


POOLINGS: Mapping[str, Pooling] = {
    "first": lambda states, pair: states[0],
    "last": lambda states, pair: states[-1],
    "mean": lambda states, pair: states[[*pair.first, *pair.second]].mean(0),
    "parts": _parts,
}


@dataclass(frozen=True)
class Features:
    """A model's states of pairs, pooled."""

    backend: LanguageModel
    pooling: str
    layer: int
    """Whose output is pooled, from 1; 0 stands for the last, as the head of the model sees it."""
    trunk: Any = None
    """Another trunk than the model's own: one that was trained together with the head."""

    def batches(
        self, pairs: Sequence[PairTokens], budget: int | None = None
    ) -> Iterator[list[tuple[int, PairTokens]]]:
        """Numbered pairs of one length at a time, so that no result hangs on padding."""
        budget = budget or token_budget(self.backend.split)
        for length, some in groupby(
            sorted(enumerate(pairs), key=lambda one: -len(one[1])), lambda one: len(one[1])
        ):
            same, step = list(some), max(1, budget // length)
            yield from (same[start : start + step] for start in range(0, len(same), step))

    def rows(self, pairs: Sequence[PairTokens]) -> Tensor:
        """One row a pair, in their order."""
        found: list[Tensor | None] = [None] * len(pairs)
        with torch.inference_mode():
            for batch in self.batches(pairs):
                for part in shrinking([_Numbered(*one) for one in batch], self._batch):
                    for number, row in part:
                        found[number] = row
        return torch.stack([row for row in found if row is not None])

    def _batch(self, batch: list[_Numbered]) -> list[tuple[int, Tensor]]:
        states = self.states([one.pair for one in batch])
        return [
            (one.number, POOLINGS[self.pooling](states[row], one.pair))
            for row, one in enumerate(batch)
        ]

    def states(self, pairs: Sequence[PairTokens]) -> Tensor:
        """Of pairs of one length."""
        split = self.backend.split
        ids = torch.tensor([pair.ids for pair in pairs], device=split.device)
        inputs: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if pairs[0].segments and "token_type_ids" in split.takes:
            inputs["token_type_ids"] = torch.tensor(
                [pair.segments for pair in pairs], device=split.device
            )
        if not self.layer:
            return self._trunk(**inputs)[0]  # type: ignore[no-any-return]
        return (
            self._hidden(inputs)
            if self._block is None
            else _until(self._block, self._trunk, inputs)
        )

    @property
    def _trunk(self) -> Any:
        return self.trunk if self.trunk is not None else self.backend.split.inner

    def _hidden(self, inputs: dict[str, Any]) -> Tensor:
        return self._trunk(**inputs, output_hidden_states=True).hidden_states[self.layer]  # type: ignore[no-any-return]

    @cached_property
    def _block(self) -> Any:
        """The layer itself, where its output is what the model names so: the layers above it need not be computed."""
        count = int(self._trunk.config.num_hidden_layers)
        block = next(
            (
                part[self.layer - 1]
                for part in self._trunk.modules()
                if isinstance(part, nn.ModuleList) and len(part) == count
            ),
            None,
        )
        if block is None:
            return None
        split = self.backend.split
        inputs = {
            "input_ids": torch.arange(1, 9, device=split.device).view(2, 4) % split.vocabulary
        }
        with torch.inference_mode():
            found, named = _until(block, self._trunk, inputs), self._hidden(inputs)
        return (
            block
            if found.shape == named.shape and torch.allclose(found, named, atol=1e-5, rtol=1e-5)
            else None
        )


class _Reached(Exception):
    """Carries a layer's output out of the model that would go on."""


def _until(block: Any, trunk: Any, inputs: dict[str, Any]) -> Tensor:
    """A layer's output; what comes after it is not computed."""

    def stop(part: Any, given: Any, output: Any) -> None:
        raise _Reached(output[0] if isinstance(output, tuple) else output)

    hook = block.register_forward_hook(stop)
    try:
        trunk(**inputs)
    except _Reached as reached:
        states: Tensor = reached.args[0]
        return states
    finally:
        hook.remove()
    raise AssertionError("the layer was not called")


@dataclass(frozen=True)
class _Numbered:
    number: int
    pair: PairTokens

    def __len__(self) -> int:
        return len(self.pair)


# ------------------------------------------------------------------------------------------------------------ heads


@dataclass(frozen=True)
class HeadCard:
    """What a head is, in its file's header."""

    base: str
    """The model's name, for people."""
    base_digest: str
    pooling: str
    layer: int
    labels: tuple[str, ...] = LABELS
    """What each output stands for."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """Digest of the text, counts, seed and settings."""
    accuracy: Mapping[str, Any] = field(default_factory=dict)
    """On held-out pairs: value, interval, n."""
    fine_tuned: bool = False
    """Whether the file also holds a trunk that was trained with the head."""


class Head(nn.Module):
    """Standardised features, one hidden layer, two outputs."""

    mean: Tensor
    scale: Tensor

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("scale", torch.ones(width))
        self.dense = nn.Linear(width, hidden)
        self.out = nn.Linear(hidden, len(LABELS))

    def forward(self, rows: Tensor) -> Tensor:
        found: Tensor = self.out(
            nn.functional.gelu(self.dense((rows.float() - self.mean) / self.scale))
        )
        return found


@dataclass(frozen=True)
class Trained:
    """A head with its card, and the trunk that belongs to it where that was trained too."""

    card: HeadCard
    head: Head
    trunk: Mapping[str, Tensor] = field(default_factory=dict)


EXACT = ("mean", "scale")
"""Kept in float32: a feature's mean and scale may be beyond what float16 holds."""


def stored(head: Head) -> dict[str, Tensor]:
    """As a file holds it: the weights in float16, which is well enough to ship."""
    found = {name: value.detach().cpu() for name, value in head.state_dict().items()}
    return {name: value.float() if name in EXACT else value.half() for name, value in found.items()}


def rounded(head: Head) -> Head:
    """The head that will be read back from its file: what is to be judged."""
    found = deepcopy(head)
    found.load_state_dict(stored(head))
    return found


def save(trained: Trained, path: Path) -> None:
    """The head as `stored` gives it; a trunk keeps its precision."""
    from safetensors.torch import save_file

    tensors = {f"head.{name}": value for name, value in stored(trained.head).items()}
    tensors |= {
        f"trunk.{name}": value.detach().cpu().clone() for name, value in trained.trunk.items()
    }
    for name, value in tensors.items():
        if not value.isfinite().all():
            raise ModelError(
                f"The head was not written: {name} has numbers that are not finite in {str(value.dtype).removeprefix('torch.')}. The training did not converge, or the model's states are not finite. Train with another layer, pooling or rate."
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.part")
    save_file(
        {name: value.contiguous() for name, value in tensors.items()},
        partial,
        metadata={"card": json.dumps(asdict(trained.card))},
    )
    partial.replace(path)


def load(path: Path) -> Trained:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            card = HeadCard(**json.loads(file.metadata()["card"]))
            card = replace(card, labels=tuple(card.labels))
            tensors = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118  no mapping
        head = Head(tensors["head.dense.weight"].shape[1], tensors["head.dense.weight"].shape[0])
        head.load_state_dict(
            {
                name.removeprefix("head."): value
                for name, value in tensors.items()
                if name.startswith("head.")
            }
        )
    except (OSError, SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ModelError(
            f"{path} is no next-sentence head: {type(error).__name__}. Such a file is written by `stereometer train nsp`. Check the path."
        ) from None
    if card.pooling not in POOLINGS or "follows" not in card.labels:
        raise ModelError(
            f"{path} is a head of another version. Its pooling or labels are not known here. Train it anew."
        )
    trunk = {
        name.removeprefix("trunk."): value
        for name, value in tensors.items()
        if name.startswith("trunk.")
    }
    return Trained(card, head.eval(), trunk)


class NextSentence:
    """Answers Follows for a model with a trained head."""

    def __init__(self, backend: LanguageModel, trained: Trained) -> None:
        if trained.card.base_digest != backend.weights:
            raise ModelError(_other_weights(backend, trained.card))
        self.backend = backend
        self.card = trained.card
        self.head = trained.head.to(backend.split.device)
        self.features = Features(
            backend, trained.card.pooling, trained.card.layer, _trunk(backend, trained)
        )

    @property
    def said(self) -> dict[str, Any]:
        """What a result says of it."""
        trained, judged = self.card.training, self.card.accuracy
        told = {
            "kind": "trained, trunk too" if self.card.fine_tuned else "trained on the frozen trunk",
            "pooling": self.card.pooling,
        }
        return told | {
            "text": str(trained.get("text_digest", ""))[:12],
            "accuracy": judged,
            "weights": _digest(self.head.state_dict()),
        }

    @torch.inference_mode()
    def logodds(self, pairs: Sequence[PairTokens]) -> list[float]:
        logits = self.head(self.features.rows(pairs)).double()
        at = list(self.card.labels).index("follows")
        found: list[float] = (logits[:, at] - logits[:, 1 - at]).tolist()
        return found


def _other_weights(backend: LanguageModel, card: HeadCard) -> str:
    dtype = backend.checkpoint.options.dtype
    model = f"{backend.checkpoint.name} ({backend.weights[:12]}{'' if dtype == 'float32' else f', in {dtype}'})"
    mend = (
        "Train one for this model: `stereometer train nsp`."
        if dtype == "float32"
        else "Heads are trained on float32: use --dtype float32."
    )
    return f"The head was trained on {card.base} ({card.base_digest[:12]}), the model is {model}. A head means nothing on other weights. {mend}"


def _digest(tensors: Mapping[str, Tensor]) -> str:
    found = sha256()
    for name, value in sorted(tensors.items()):
        found.update(name.encode() + value.detach().float().cpu().contiguous().numpy().tobytes())
    return found.hexdigest()[:12]


def _trunk(backend: LanguageModel, trained: Trained) -> Any:
    if not trained.trunk:
        return None
    trunk = deepcopy(backend.split.inner)
    trunk.load_state_dict(dict(trained.trunk))
    return trunk.eval()


class OwnHead:
    """BERT's own head, whose first output means that the second sentence follows."""

    def __init__(self, backend: LanguageModel, model: Any) -> None:
        self.backend = backend
        self.model = model

    @property
    def said(self) -> dict[str, Any]:
        own = {
            name: value
            for name, value in self.model.state_dict().items()
            if "seq_relationship" in name or "pooler" in name
        }
        return {"kind": "the model's own", "weights": _digest(own)}

    @torch.inference_mode()
    def logodds(self, pairs: Sequence[PairTokens]) -> list[float]:
        found = [0.0] * len(pairs)
        for batch in Features(self.backend, "first", 0).batches(pairs):
            ids = torch.tensor([pair.ids for _, pair in batch], device=self.backend.split.device)
            types = torch.tensor([pair.segments for _, pair in batch], device=ids.device)
            logits = self.model(
                input_ids=ids, attention_mask=torch.ones_like(ids), token_type_ids=types
            ).logits.double()
            for (number, _), value in zip(
                batch, (logits[:, 0] - logits[:, 1]).tolist(), strict=True
            ):
                found[number] = value
        return found


def add(backend: LanguageModel, head: NextSentence | OwnHead) -> None:
    """From now on the backend answers whether a sentence follows, and its card says by what."""

    def follows(requests: Mapping[str, Follows]) -> Iterator[tuple[str, Answer]]:
        pairs = [read_pair(backend, request.first, request.second) for request in requests.values()]
        yield from zip(
            requests,
            (Answer(({"logodds": array("d", [value])},)) for value in head.logodds(pairs)),
            strict=True,
        )

    backend.answers[Follows.kind] = follows
    backend.added["next_sentence_head"] = head.said
    backend.check_pair = lambda first, second: bool(read_pair(backend, first, second))
