"""Files of a model: where they are, what they name, what identifies them, and folders we write.

Imports nothing heavy: a slip in a path is found before torch is asked for.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import asdict, replace
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path, PureWindowsPath
from time import time_ns
from typing import TYPE_CHECKING, Any

from stereometer.core.errors import ModelError, did_you_mean
from stereometer.core.types import digest_of, digest_of_file
from stereometer.core.types.names import ModelName, name_of
from stereometer.models.local.places import what_decides

if TYPE_CHECKING:
    from stereometer.models.local.checkpoint import LoadingOptions


HUB_PATIENCE = 5
"""Seconds until the hub counts as out of reach."""
CONFIG = "config.json"
GGUF = ".gguf"
PATH_SIGNS = (".", "/", "\\", "~")


def check_place(spec: str) -> None:
    """Raises where a spec can only be a path, and no model is there."""
    path = Path(spec)
    if not path.exists():
        name = ModelName.parse(spec).path
        signs = spec.startswith(PATH_SIGNS) or "\\" in name or bool(PureWindowsPath(spec).drive)
        # It cannot be a name on the hub: org/name, with a revision after @.
        if signs or name.count("/") > 1 or name.endswith(("/", GGUF)):
            is_there = path.parent.is_dir()
            nothing = "Nothing beside it has a similar name."
            far = nothing if is_there else f"There is no folder {path.parent}."
            raise ModelError(
                f"{spec} was not found. {near(spec) or far} A model is a folder, a "
                ".gguf file or org/name on the hub."
            )
    elif path.is_file() and path.suffix != GGUF:
        raise ModelError(
            f"{spec} is a file, but not a .gguf file. A model is a folder, a .gguf file or "
            "org/name. Name the folder."
        )
    elif path.is_dir() and not (path / CONFIG).exists() and (path / ADAPTER).exists():
        raise ModelError(
            f"{spec} is an adapter. By itself it is no model. Write the model that it was trained "
            f"on before it: MODEL+{spec}."
        )
    elif path.is_dir() and not (path / CONFIG).exists():
        inner = sorted(file.parent for file in path.glob(f"*/{CONFIG}"))
        example = f", such as {inner[-1]}" if inner else ""
        raise ModelError(
            f"{spec} is a folder without {CONFIG}. It holds no model that transformers can load. "
            f"Name the folder that holds {CONFIG}{example}."
        )


def near(spec: str) -> str:
    """Models beside the place that a spec names, with names like its own."""
    path = Path(spec)
    start = spec[: len(spec.rstrip("/\\")) - len(path.name)]
    try:
        beside = [each for each in path.parent.iterdir() if each.is_dir() or each.suffix == GGUF]
    except OSError:
        return ""
    return did_you_mean(path.name, {each.name: f"{start}{each.name}" for each in beside})


def hub_answers() -> bool:
    """Asked once and briefly: without a network the hub's library tries for half a minute."""
    from urllib.error import HTTPError
    from urllib.request import Request, urlopen

    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    try:
        urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=HUB_PATIENCE).close()
    except HTTPError as error:
        error.close()
    except OSError:
        return False
    return True


def first_line(error: Exception) -> str:
    """What an error says first, without the full stop that a sentence around it brings."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300].rstrip(".")


# -------------------------------------------------------------- files that a model's own files name

ADAPTER, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
SAFE = ".safetensors"
"""The ending of weights that cannot run code when they are read: all others may be pickles."""
SANE = 1000
"""Layers or experts: from here on each must have a weight of its own in the files."""


def named_files(folder: Path) -> Iterator[str]:
    """Every name in a model's folder that loading may follow."""
    yield from _named_weights(folder)
    versions = _read(folder / "tokenizer_config.json").get("fast_tokenizer_files")
    yield from map(str, versions) if isinstance(versions, list) else ()


def _named_weights(folder: Path) -> Iterator[str]:
    for index in sorted(folder.glob("*.index.json")):
        weights = _read(index).get("weight_map")
        yield from set(map(str, weights.values())) if isinstance(weights, dict) else ()
    weights = _read(folder / CONFIG).get("transformers_weights")
    yield from [weights] if isinstance(weights, str) else []


def check_named_files(spec: str, folder: Path, allow_pickle: bool) -> None:
    """Raises for a name that leads out of the folder, or to a pickle that is not allowed."""
    for name in named_files(folder):
        if is_outside(name):
            raise ModelError(
                f"{spec} names a file outside its folder: {name}. What is loaded would not be this "
                "model alone. Put its files into one folder."
            )
    for name in _named_weights(folder):
        if not allow_pickle and not name.endswith(SAFE):
            raise _pickled(spec, name)
    if not (folder / ADAPTER).is_file():
        return
    base = str(_read(folder / ADAPTER).get("base_model_name_or_path") or "")
    if Path(base).exists() or is_outside(base):
        raise ModelError(
            f"{spec} is an adapter of a model outside its folder: {base}. What is loaded would not "
            "be this model alone. Write its model before it: MODEL+ADAPTER."
        )
    if not allow_pickle and not (folder / ADAPTER_WEIGHTS).is_file():
        raise _pickled(spec, "adapter_model.bin")


def _pickled(spec: str, name: str) -> ModelError:
    return ModelError(
        f"{spec} has weights that are not safetensors: {name}. Other formats can run code when "
        "loaded. Convert it, or add --allow-pickle if you trust it."
    )


def is_outside(name: str) -> bool:
    """Whether a name, read as a path of any system, leads out of the folder it is written in."""
    path = PureWindowsPath(name)  # knows both separators
    return bool(path.drive or path.root) or ".." in path.parts


def check_depth(spec: str, config: Any, folder: Path) -> None:
    """Raises for numbers of layers or experts beyond the weights in the files: building the model
    would take minutes before the first of them is missed."""
    from safetensors import SafetensorError, safe_open

    weights = 0
    for index in folder.glob("*.safetensors.index.json"):
        weights += len(_read(index).get("weight_map") or ())
    for file in filter(Path.is_file, folder.glob("*.safetensors")):
        try:
            with safe_open(file, framework="np") as tensors:
                weights += len(tensors.keys())
        except (SafetensorError, OSError):  # loading says what is wrong with it
            continue
    for name, value in config.to_dict().items():
        counts = isinstance(value, int) and ("layer" in name or "expert" in name)
        if counts and value > max(SANE, weights):
            raise ModelError(
                f"{spec} has no usable weights for {name} = {value} in its configuration: its "
                f"files hold {weights}. They do not belong together. Check config.json."
            )


def _read(file: Path) -> dict[str, Any]:
    """An object of JSON; empty where there is none, which loading then says."""
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


# ------------------------------------------- what files are, without loading them or reading a byte

LAYOUT = "2"
"""Raise it when what is said of the same files changes."""
READERS = ("stereometer", "transformers", "tokenizers", "torch")
COMMIT = re.compile(r"[0-9a-f]{40}")
AT_REST = 2 * 10**9
"""Nanoseconds since the last change of a file, from which on another one shows in its times: those
of some file systems are as coarse as that."""


def marks_of(files: Iterable[tuple[str, Path]]) -> list[tuple[str | int, ...]] | None:
    """By what files are known unread: a file that was changed, put in the place of another or given
    the times of another has other marks. None where one was changed a moment ago."""
    seen = [(name, path.stat()) for name, path in files]
    if any(time_ns() - each.st_ctime_ns < AT_REST for _, each in seen):
        return None
    return [
        (name, each.st_ino, each.st_size, each.st_mtime_ns, each.st_ctime_ns) for name, each in seen
    ]


def fingerprint(
    spec: str, options: LoadingOptions, more: tuple[str, ...] = (), beside: Path | None = None
) -> str | None:
    """None where files decide that are not in the model's folder, that are not there yet, or that
    are being written; `beside` is a file of ours that is read with them."""
    files = None if options.trust_remote_code else _files(spec)
    if files is None:
        return None
    heads = [("head", head) for head in (Path(options.head), beside) if head and head.is_file()]
    marks = marks_of([*files, *heads])
    how = [asdict(replace(options, head="")), *what_decides(options)]
    read = [LAYOUT, *map(version, READERS), *how, *more]
    return None if marks is None else digest_of([spec, name_of(spec), read, marks])


def _files(spec: str) -> list[tuple[str, Path]] | None:
    """The files of a model by name, or None where they cannot be told."""
    path = Path(spec)
    folder = path.parent if spec.endswith(".gguf") else path if path.is_dir() else _cached(spec)
    if folder is None or not folder.is_dir() or (folder / ADAPTER).exists():
        return None
    others = {file for file in folder.glob("*.gguf") if file != path}
    named = (folder / name for name in named_files(folder) if not is_outside(name))
    files = {*_inside(folder), *filter(Path.is_file, named)} - others
    return [(str(file.relative_to(folder)), file) for file in sorted(files)]


def _inside(folder: Path) -> Iterator[Path]:
    """Files under a folder, links to files among them; without hidden ones, and without folders
    that hold another model or are linked to: nothing there is loaded unless it is named."""
    for entry in folder.iterdir():
        if entry.name.startswith("."):
            continue
        if entry.is_file():
            yield entry
        elif entry.is_dir() and not entry.is_symlink() and not (entry / CONFIG).exists():
            yield from _inside(entry)


def _cached(spec: str) -> Path | None:
    """Where the hub's library keeps the version of a model that it would load now."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    name = ModelName.parse(spec)
    pinned = COMMIT.fullmatch(name.revision)
    try:
        version_now = name.revision if pinned else _commit(name.path, name.revision or None)
        file = try_to_load_from_cache(name.path, CONFIG, revision=version_now)
    except HFValidationError:
        return None
    return Path(file).parent if isinstance(file, str) else None


def _commit(name: str, revision: str | None) -> str | None:
    """What the hub has under a name now; without a network, what was fetched last."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.errors import HfHubHTTPError

    if not hub_answers():
        return revision
    try:
        url = hf_hub_url(name, CONFIG, revision=revision)
        return get_hf_file_metadata(url, timeout=HUB_PATIENCE).commit_hash
    except (HfHubHTTPError, OSError):
        return revision


# ------------------------------------------------------------------- what identifies a loaded model

WITHOUT_EFFECT = ("name_or_path", "transformers_version", "dtype", "torch_dtype", "architectures")
"""Entries of a configuration that change no number, besides those that begin with an underscore.

The precision stands on the card by itself.
"""


def stored_digest(folder: Path) -> str:
    """The hub's commit, which stands for every file of it, or the digest of the folder's files."""
    if folder.parent.name == "snapshots" and COMMIT.fullmatch(folder.name):
        return folder.name
    files = _files(str(folder)) or ()
    return digest_of([(name, digest_of_file(path)) for name, path in files])


def weights_digest(model: Any) -> str:
    """Over names, shapes and numbers: the same weights in another file give the same digest."""
    import torch

    digest = sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name}:{tuple(tensor.shape)}:{tensor.dtype}".encode())
        if tensor.numel():
            flat = tensor.detach().cpu().contiguous().reshape(-1)
            digest.update(flat.view(torch.uint8).numpy())
    return digest.hexdigest()


def config_digest(model: Any, tokenizer: Any) -> str:
    """How the same weights are read: configuration, special tokens, and code of the checkpoint."""
    entries = {
        name: value
        for name, value in model.config.to_dict().items()
        if name not in WITHOUT_EFFECT and not name.startswith("_")
    }
    parts = [
        entries,
        sorted(tokenizer.special_tokens_map.items(), key=str),
        tokenizer.mask_token_id,
        own_code(model),
    ]
    # Where a model stops writing, if generation_config.json says other than the configuration.
    ends = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    if ends is not None and ends != getattr(model.config, "eos_token_id", None):
        parts.append(ends)
    return _of_json(parts)[:16]


def own_code(model: Any) -> str | list[str]:
    """Every file of the code that came with the checkpoint; empty where it brought none."""
    module = type(model).__module__
    file = sys.modules[module].__file__ if module.startswith("transformers_modules") else None
    return (
        [path.read_text("utf-8") for path in sorted(Path(file).parent.glob("*.py"))] if file else ""
    )


def tokenizer_digest(tokenizer: Any) -> str:
    """Of what decides ids and offsets; the first call switches padding and truncation."""
    parts = json.loads(tokenizer.backend_tokenizer.to_str())
    return _of_json(parts | {"padding": None, "truncation": None})


def _of_json(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


# ---------------------------------------------------------------------------- folders that we write


def write_folder(model: Any, tokenizer: Any, folder: Path) -> None:
    """Whole, as `save_pretrained` of the architecture writes it, so that any tool finds it: a tied
    matrix stands under the one name that the architecture keeps. With its tokenizer; None where the
    tokenizer's files come from elsewhere."""
    _plain(model).save_pretrained(folder)
    if tokenizer is not None:
        tokenizer.save_pretrained(folder)


def _plain(model: Any) -> Any:
    """transformers refuses to save what it read from GGUF, although it is plain numbers by then:
    they are moved into a model that was read from nowhere."""
    if getattr(model.config, "quantization_config", None) is None:
        return model
    config = deepcopy(model.config)
    del config.quantization_config
    plain = type(model)(config).to(model.dtype)
    plain.load_state_dict(model.state_dict())
    if model.can_generate():
        plain.generation_config = model.generation_config
    return plain


def revisions(name: str) -> list[str]:
    """Branches and tags; asks the hub."""
    try:
        from huggingface_hub import HfApi, constants
    except ModuleNotFoundError:
        raise ModelError(
            f"The revisions of {name} are on the hub. Asking for them needs huggingface_hub, in "
            "the optional part `hf` of the package. From a clone: `pip install '.[hf]'`."
        ) from None
    try:
        refs = HfApi(endpoint=constants.ENDPOINT).list_repo_refs(name)
    except Exception as error:
        raise ModelError(
            f"The revisions of {name} could not be listed: {first_line(error)}. There may be no "
            "such model, or no network. Check the name, or name a folder."
        ) from None
    return [ref.name for ref in (*refs.branches, *refs.tags)]
