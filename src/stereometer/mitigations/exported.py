"""What a model folder says of the mitigation in its weights."""

from __future__ import annotations

from dataclasses import dataclass

from stereometer.mitigations.card import MitigationCard
from stereometer.types.document import Document

EXPORTED = "mitigation.json"
"""The file in the folder."""


@dataclass(frozen=True)
class ExportedCard(Document):
    card: MitigationCard
    weights: str
    """Digest of the weights in the folder: of others the card says nothing."""
    schema: str = "mitigation-folder@1"
