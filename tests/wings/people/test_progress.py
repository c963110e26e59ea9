"""What `study status` prints is what the researcher's page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from stereometer.wings.people import progress
from stereometer.wings.people.progress import RaterAgreement
from tests.builders.commands import call
from tests.builders.studies import small_survey


def test_agreement_is_rounded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = small_survey(tmp_path / "s")
    monkeypatch.setattr(progress, "agreement_of", lambda *_: RaterAgreement(0.73496, None, 400))
    assert call("study", "status", study.folder).out.split()[-1] == "0.73"
    monkeypatch.setattr(progress, "agreement_of", lambda *_: RaterAgreement(0.7351, None, 400))
    assert call("study", "status", study.folder).out.split()[-1] == "0.74"
