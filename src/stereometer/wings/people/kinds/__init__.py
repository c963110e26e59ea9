"""The five kinds of study, by name."""

from stereometer.core.errors import UnknownName
from stereometer.wings.people.kinds.judging import JUDGE_CATS, JUDGE_PAIRS
from stereometer.wings.people.kinds.kind import Kind
from stereometer.wings.people.kinds.survey import SURVEY
from stereometer.wings.people.kinds.writing import WRITE_CATS, WRITE_PAIRS

KINDS: dict[str, Kind] = {
    kind.name: kind for kind in (SURVEY, WRITE_CATS, JUDGE_CATS, WRITE_PAIRS, JUDGE_PAIRS)
}


def kind_called(name: str) -> Kind:
    if name not in KINDS:
        raise UnknownName(
            "kind of study", name, KINDS, "`stereometer study new --help` lists them."
        )
    return KINDS[name]
