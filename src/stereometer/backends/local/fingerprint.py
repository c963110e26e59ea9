"""What a model's files are, without loading them: a digest of every byte that loading reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path

from stereometer.backends.local.checkpoint import HUB_PATIENCE, Options, hub_answers
from stereometer.backends.local.named_files import ADAPTER, is_outside, named_files
from stereometer.backends.local.place import CONFIG, name_of
from stereometer.types import digest_of, digest_of_file
from stereometer.types.names import ModelName

LAYOUT = "1"
"""Raise it when what is said of the same files changes."""
READERS = ("stereometer", "transformers", "tokenizers", "torch")
COMMIT = re.compile(r"[0-9a-f]{40}")


def fingerprint(spec: str, options: Options, more: tuple[str, ...] = ()) -> str | None:
    """None where files decide that are not in the model's folder, or that are not there yet."""
    files = None if options.trust_remote_code else _files(spec)
    if files is None:
        return None
    head = (
        [digest_of_file(Path(options.head))]
        if options.head and Path(options.head).is_file()
        else []
    )
    read = [LAYOUT, *map(version, READERS), asdict(replace(options, head="")), *head, *more]
    digests = [(name, digest_of_file(path)) for name, path in files]
    return digest_of([spec, name_of(spec), read, digests])


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
