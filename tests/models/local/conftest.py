"""The zoo of tiny models; without torch there is nothing to collect here, and no test asks a
hub."""

from __future__ import annotations

import os
from importlib.util import find_spec

os.environ["HF_HUB_OFFLINE"] = "1"  # read once, where huggingface_hub is first imported
os.environ["TQDM_DISABLE"] = "1"

collect_ignore_glob = [] if find_spec("torch") and find_spec("transformers") else ["test_*.py"]
"""Language models are an optional part of the package."""
