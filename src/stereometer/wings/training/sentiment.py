"""A sentiment classifier fine-tuned on labelled reviews (Nadeem et al. 2021, appendix A.2).

Reviews are a table or JSON lines with `text` and `label`, or a folder of text files in `pos` and
`neg`, as the Large Movie Review Dataset has them. What comes out is an ordinary folder: `--model
sentiment:FOLDER` reads it.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from stereometer.core.errors import DataError, ModelError, UsageError
from stereometer.core.files import read_text, write_json
from stereometer.core.runs.progress import Phases
from stereometer.core.stats.intervals import wilson
from stereometer.core.tables import read_rows
from stereometer.core.types import digest_of
from stereometer.models.local.files import write_folder
from stereometer.models.local.language_model import LanguageModel
from stereometer.wings.training.fitting import scheduled, shuffled_batches
from stereometer.wings.training.recipe import Tuning, check_new_folder

LONGEST, BATCH = 256, 32
"""Tokens of a review and reviews of a step, as the paper prints them."""
LEVEL = 0.95


@dataclass(frozen=True)
class Review:
    text: str
    label: str


def train(
    backend: LanguageModel, reviews: Path, out: Path, tuning: Tuning, progress: Phases
) -> dict[str, Any]:
    """Writes the classifier's folder, where `training.json` says how well it does."""
    _check(tuning, out)
    texts = read(reviews)
    training, held_out = _split(texts, tuning)
    torch.manual_seed(tuning.seed)
    model = _classifier(backend)
    _fit(model, backend, training, tuning, progress)
    right = int((_predict(model, backend, held_out) == _targets(held_out)).sum())
    low, high = wilson(right, len(held_out), LEVEL)
    value = right / len(held_out)
    record = {
        "base": backend.checkpoint.name,
        "base_digest": backend.weights,
        "reviews_digest": digest_of([[review.text, review.label] for review in texts]),
        "reviews": len(training),
        "tuning": asdict(tuning) | {"longest": LONGEST, "batch": BATCH},
        "accuracy": {"value": value, "low": low, "high": high, "n": len(held_out)},
    }
    write_folder(model, backend.checkpoint.tokenizer, out)
    write_json(out / "training.json", record)
    return record


def _check(tuning: Tuning, out: Path) -> None:
    check_new_folder(out)
    if tuning.epochs < 1 or tuning.rate <= 0 or not 0 < tuning.held_out < 1:
        raise UsageError(
            "At least one epoch, a rate above 0 and a share held out between 0 and 1 are needed. "
            "One of these is out of range. Change it."
        )


def _split(reviews: Sequence[Review], tuning: Tuning) -> tuple[list[Review], list[Review]]:
    """Held out at random; texts that stand there twice stay on one side."""
    texts = list(dict.fromkeys(review.text for review in reviews))
    order = torch.randperm(len(texts), generator=torch.Generator().manual_seed(tuning.seed))
    kept_back = {texts[at] for at in order[: max(1, round(tuning.held_out * len(texts)))].tolist()}
    return (
        [review for review in reviews if review.text not in kept_back],
        [review for review in reviews if review.text in kept_back],
    )


def _classifier(backend: LanguageModel) -> Any:
    """The model's trunk under a new output for two labels."""
    from transformers import AutoModelForSequenceClassification

    tokenizer = backend.checkpoint.tokenizer
    if tokenizer.pad_token_id is None:
        raise ModelError(
            f"{backend.checkpoint.name} has no padding token. Reviews of different lengths are "
            "trained on together. Choose a masked model."
        )
    config = deepcopy(backend.model.config)
    config.id2label = dict(enumerate(LABELS))
    config.label2id = {label: number for number, label in enumerate(LABELS)}
    config.pad_token_id = tokenizer.pad_token_id
    model = AutoModelForSequenceClassification.from_config(config)
    trunk = backend.split.inner.state_dict()
    inner = getattr(model, model.base_model_prefix)
    missing = inner.load_state_dict(trunk, strict=False).missing_keys
    if len(missing) > len(trunk) // 2:
        raise ModelError(
            f"The weights of {backend.checkpoint.name} do not fit a classifier of its kind. "
            f"{len(missing)} of them have no place in it. Choose another model."
        )
    return model.float().to(backend.split.device)


def _inputs(backend: LanguageModel, reviews: Sequence[Review]) -> Any:
    longest, texts = min(LONGEST, backend.tokens.window), [review.text for review in reviews]
    how: dict[str, Any] = {"truncation": True, "max_length": longest, "padding": True}
    encoded = backend.checkpoint.tokenizer(texts, **how, return_tensors="pt")
    return encoded.to(backend.split.device)


def _targets(reviews: Sequence[Review]) -> Tensor:
    return torch.tensor([LABELS.index(review.label) for review in reviews])


def _fit(
    model: Any, backend: LanguageModel, reviews: Sequence[Review], tuning: Tuning, progress: Phases
) -> None:
    batches = shuffled_batches(len(reviews), tuning, BATCH)
    optimizer = torch.optim.Adam(model.parameters(), lr=tuning.rate)
    schedule = scheduled(optimizer, len(batches), tuning.warm_up)
    model.train()
    with torch.enable_grad():
        for number, batch in enumerate(batches, 1):
            part = [reviews[at] for at in batch.tolist()]
            logits = model(**_inputs(backend, part)).logits
            loss = nn.functional.cross_entropy(logits, _targets(part).to(logits.device))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            schedule.step()
            progress("training", number, len(batches), f"loss {loss.item():.3f}")
    model.eval()


@torch.inference_mode()
def _predict(model: Any, backend: LanguageModel, reviews: Sequence[Review]) -> Tensor:
    parts = [reviews[at : at + BATCH] for at in range(0, len(reviews), BATCH)]
    return torch.cat([model(**_inputs(backend, part)).logits.argmax(-1).cpu() for part in parts])


# ------------------------------------------------------------------------------------------ reviews

LABELS = ("negative", "positive")
WORDS = {"0": 0, "neg": 0, "negative": 0, "1": 1, "pos": 1, "positive": 1}
FEWEST = 20


def read(path: Path) -> list[Review]:
    if path.is_dir():
        files = [(file, label) for label in LABELS for file in (path / label[:3]).glob("*.txt")]
        reviews = [Review(read_text(file), label) for file, label in sorted(files)]
    else:
        reviews = _table(path)
    if len(reviews) < FEWEST or len({review.label for review in reviews}) < len(LABELS):
        raise DataError(
            f"{path} has {len(reviews)} reviews. {FEWEST} of both labels are needed. Give more."
        )
    return reviews


def _table(path: Path) -> list[Review]:
    reviews = []
    for line, row in read_rows(path, ("text", "label"), "Rename them."):
        label = str(row["label"]).strip().lower()
        if label not in WORDS:
            raise DataError(
                f"{path}, line {line}: {row['label']!r} is no label. Use {' or '.join(LABELS)}."
            )
        reviews.append(Review(str(row["text"]), LABELS[WORDS[label]]))
    return reviews
