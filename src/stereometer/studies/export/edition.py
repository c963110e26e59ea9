"""What an export is about: one version of a study, and the people who consented to it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from stereometer.errors import UsageError
from stereometer.studies.database import Database
from stereometer.studies.people import Participant, everybody, kept, withheld
from stereometer.studies.study import Study
from stereometer.studies.versions import Version, open_answers, study_of, versions_of


@dataclass(frozen=True)
class Edition:
    study: Study
    people: Sequence[Participant]
    hidden: frozenset[str] = frozenset()
    """Those whose demographics are withheld."""
    version: Version | None = None
    """None before anybody has consented."""
    count: int = 1

    @property
    def counted(self) -> list[Participant]:
        return kept(self.people, self.study.kind.counts_at_once)

    @property
    def fact(self) -> str:
        """What is said of versions: nothing where there was but one."""
        if self.count == 1 or self.version is None:
            return ""
        return (
            f"These are answers to version {self.version.number} of {self.count}; those to the "
            "others are not among them."
        )


def edition_of(study: Study, database: Database, number: int | None = None) -> Edition:
    """A version by its number, or the one that people join now."""
    with database.read() as connection:
        known = {version.number: version for version in versions_of(connection)}
        hidden, people = withheld(connection), everybody(connection)
    if number is not None and number not in known:
        raise UsageError(
            f"{study.folder} has no version {number}. Its versions are "
            f"{', '.join(map(str, known)) or 'none yet'}. Name one of them, or leave it out."
        )
    if not known:
        return Edition(study, ())
    version = known[number or max(known)]
    its = [each for each in people if each.version == version.number]
    return Edition(study_of(study, version), its, hidden, version, len(known))


def open_edition(study: Study, url: str | None = None, number: int | None = None) -> Edition:
    """An edition from a study's database, whose folder is still what people have consented to."""
    with closing(open_answers(study, url)) as database:
        return edition_of(study, database, number)
