"""The revisions of a model on the hub."""

from __future__ import annotations

from stereometer.backends.local.checkpoint import first_line
from stereometer.errors import ModelError


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
