"""CATs as questions: which of two candidates is likelier, in both orders, or each by itself."""

from __future__ import annotations

from collections.abc import Mapping

from stereometer.core.asking.forced_choice import Presentation, choice_method
from stereometer.core.asking.graded_choice import graded_method
from stereometer.core.asking.isolated_rating import rating_method
from stereometer.kinds.cats import metrics
from stereometer.kinds.cats.items import LABELS, Cat
from stereometer.kinds.cats.rules import filled


def texts(item: Cat) -> Mapping[str, str]:
    if item.task == "intersentence":
        return dict(item.texts)
    return {label: filled(item, label, "sound")[0] for label in LABELS}


def context(item: Cat) -> str | None:
    return item.context if item.task == "intersentence" else None


SHOWN = Presentation(LABELS, texts, context, metrics.summarize)
METHOD = choice_method("cat", SHOWN)
GRADED = graded_method("cat", SHOWN)
ISOLATED = rating_method("cat", SHOWN)
