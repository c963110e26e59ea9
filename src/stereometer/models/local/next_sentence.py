"""Whether one sentence follows another: a head on a model's states of both, read together.

A head is one safetensors file. Its header says what it was trained on and for which weights; it is
refused on any others. Scores are log-odds, never probabilities: those saturate.
"""

import json
from array import array
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from stereometer.core.errors import ModelError
from stereometer.core.types import Answer, Follows, Skip
from stereometer.models.local.forward import ENOUGH_ROWS, enough
from stereometer.models.local.language_model import LanguageModel
from stereometer.models.local.sentence_pairs import POOLINGS, Features, PairTokens, read_pair

LABELS = ("follows", "random")
EXACT = ("mean", "scale")
"""Kept in float32: a feature's mean and scale may be beyond what float16 holds."""


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


class NextSentenceHead(nn.Module):
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
        hidden = nn.functional.gelu(self.dense((rows.float() - self.mean) / self.scale))
        logits: Tensor = self.out(hidden)
        return logits


@dataclass(frozen=True)
class Trained:
    """A head with its card, and the trunk that belongs to it where that was trained too."""

    card: HeadCard
    head: NextSentenceHead
    trunk: Mapping[str, Tensor] = field(default_factory=dict)


# -------------------------------------------------------------------------------------------- files


def stored(head: NextSentenceHead) -> dict[str, Tensor]:
    """As a file holds it: the weights in float16, which is well enough to ship."""
    tensors = {name: value.detach().cpu() for name, value in head.state_dict().items()}
    return {name: part.float() if name in EXACT else part.half() for name, part in tensors.items()}


def rounded(head: NextSentenceHead) -> NextSentenceHead:
    """The head that will be read back from its file: what is to be judged."""
    copied = deepcopy(head)
    copied.load_state_dict(stored(head))
    return copied


def save(trained: Trained, path: Path) -> None:
    """The head as `stored` gives it; a trunk keeps its precision."""
    from safetensors.torch import save_file

    trunk = {name: value.detach().cpu().clone() for name, value in trained.trunk.items()}
    tensors = _prefixed("head.", stored(trained.head)) | _prefixed("trunk.", trunk)
    for name, value in tensors.items():
        if not value.isfinite().all():
            dtype = str(value.dtype).removeprefix("torch.")
            raise ModelError(
                f"The head was not written: {name} has numbers that are not finite in {dtype}. "
                "The training did not converge, or the model's states are not finite. "
                "Train with another layer, pooling or rate."
            )
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.part")
    save_file(tensors, partial, metadata={"card": json.dumps(asdict(trained.card))})
    partial.replace(path)


def _prefixed(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {f"{prefix}{name}": value.contiguous() for name, value in tensors.items()}


def load(path: Path) -> Trained:
    from safetensors import SafetensorError, safe_open

    parts: dict[str, dict[str, Tensor]] = {"head": {}, "trunk": {}}
    try:
        with safe_open(path, framework="pt") as file:
            card = HeadCard(**json.loads(file.metadata()["card"]))
            card = replace(card, labels=tuple(card.labels))
            for name in file.keys():  # noqa: SIM118  no mapping
                part, _, inner = name.partition(".")
                parts[part][inner] = file.get_tensor(name).float()
        hidden, width = parts["head"]["dense.weight"].shape
        head = NextSentenceHead(width, hidden)
        head.load_state_dict(parts["head"])
    except (OSError, SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ModelError(
            f"{path} is not a next-sentence head: {type(error).__name__}. Such a file is written "
            "by `stereometer train nsp`. Check the path."
        ) from None
    if card.pooling not in POOLINGS or "follows" not in card.labels:
        raise ModelError(
            f"{path} was written by another version. Its pooling or labels are unknown here. "
            "Train the head again with this version."
        )
    return Trained(card, head.eval(), parts["trunk"])


# -------------------------------------------------------------------------------------------- heads


class AddedHead:
    """Answers Follows for a model with a trained head."""

    def __init__(self, backend: LanguageModel, trained: Trained) -> None:
        self.card = card = trained.card
        if card.base_digest != backend.weights:
            raise ModelError(_other_weights(backend, card))
        self.head = trained.head.to(backend.split.device)
        trunk = None
        if trained.trunk:
            trunk = deepcopy(backend.split.inner)
            trunk.load_state_dict(dict(trained.trunk))
            trunk.eval()
        self.features = Features(backend, card.pooling, card.layer, trunk)

    @property
    def settings(self) -> dict[str, Any]:
        """What a result records of it."""
        tuned = self.card.fine_tuned
        return {
            "kind": "trained, trunk too" if tuned else "trained on the frozen trunk",
            "pooling": self.card.pooling,
            "text": str(self.card.training.get("text_digest", ""))[:12],
            "accuracy": self.card.accuracy,
            "weights": _digest(self.head.state_dict()),
        }

    @torch.inference_mode()
    def logodds(self, pairs: Sequence[PairTokens]) -> list[float]:
        logits = self.head(enough(self.features.rows(pairs)))[: len(pairs)].double()
        at = self.card.labels.index("follows")
        odds: list[float] = (logits[:, at] - logits[:, 1 - at]).tolist()
        return odds


class OwnHead:
    """BERT's own head, whose first output means that the second sentence follows."""

    def __init__(self, backend: LanguageModel, model: Any) -> None:
        self.features = Features(backend, "first", 0)
        self.model = model

    @property
    def settings(self) -> dict[str, Any]:
        own = {
            name: value
            for name, value in self.model.state_dict().items()
            if "seq_relationship" in name or "pooler" in name
        }
        return {"kind": "the model's own", "weights": _digest(own)}

    @torch.inference_mode()
    def logodds(self, pairs: Sequence[PairTokens]) -> list[float]:
        split, odds = self.features.backend.split, [0.0] * len(pairs)
        for batch in self.features.batches(pairs):
            texts = [*batch, *batch[-1:] * (ENOUGH_ROWS - len(batch))]
            ids, segments = zip(*((part.pair.ids, part.segments) for part in texts), strict=True)
            logits = self.model(**split.inputs(ids, segments)).logits.double()
            values = (logits[:, 0] - logits[:, 1])[: len(batch)].tolist()
            for part, value in zip(batch, values, strict=True):
                odds[part.number] = value
        return odds


def _other_weights(backend: LanguageModel, card: HeadCard) -> str:
    dtype = backend.checkpoint.options.dtype
    plain = dtype == "float32"
    weights = f"{backend.weights[:12]}{'' if plain else f', in {dtype}'}"
    remedy = (
        "Train one for this model: `stereometer train nsp`."
        if plain
        else "Heads are trained on float32: use --dtype float32."
    )
    return (
        f"The head was trained on {card.base} ({card.base_digest[:12]}), the model is "
        f"{backend.checkpoint.name} ({weights}). A head means nothing on other weights. {remedy}"
    )


def _digest(tensors: Mapping[str, Tensor]) -> str:
    digest = sha256()
    for name, value in sorted(tensors.items()):
        digest.update(name.encode() + value.detach().float().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:12]


def add(backend: LanguageModel, head: AddedHead | OwnHead) -> None:
    """From now on the backend answers whether a sentence follows, and its card says by what.

    A pair that the head cannot read is answered with the reason.
    """

    def follows(requests: Mapping[str, Follows]) -> Iterator[tuple[str, Answer]]:
        pairs: dict[str, PairTokens] = {}
        for key, request in requests.items():
            try:
                pairs[key] = read_pair(backend, request.first, request.second)
            except Skip as skip:
                yield key, Answer((), end=skip.reason)
        if pairs:
            for key, value in zip(pairs, head.logodds(list(pairs.values())), strict=True):
                yield key, Answer(({"logodds": array("d", [value])},))

    backend.answers[Follows.kind] = follows
    backend.added["next_sentence_head"] = head.settings
