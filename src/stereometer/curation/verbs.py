"""The verbs `analyze` and `audit`, under one name for both."""

from __future__ import annotations

from stereometer.curation.analysis.analyses import analyze
from stereometer.curation.audit.audits import audit

__all__ = ["analyze", "audit"]
