"""A class that leaves out what its kind must say is refused when it is made, not when it is
asked."""

from __future__ import annotations

import pytest

from stereometer.core.shapes.sentences import SentenceShape
from stereometer.core.shapes.shape import Contrast
from stereometer.core.types import Method
from stereometer.models.text_scores import TextScores
from stereometer.report.sections.preference import Preference


@pytest.mark.parametrize("base", [TextScores, Preference, Contrast, SentenceShape, Method])
def test_a_class_without_its_hooks_cannot_be_made(base: type) -> None:
    with pytest.raises(TypeError, match="abstract"):
        type("Half", (base,), {})()
