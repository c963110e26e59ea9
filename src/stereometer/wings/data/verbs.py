"""The verbs of `data`: find, fetch and add data sets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import find, folders
from stereometer.core.errors import DataMissing, UsageError
from stereometer.core.options import verb
from stereometer.core.show.view import View, line
from stereometer.core.types.document import Document
from stereometer.core.types.shown import Shown, Told
from stereometer.wings.data import fetch
from stereometer.wings.data.fetch import LOG, Announce, Arrival


@dataclass(frozen=True, repr=False)
class Places(Shown, Document):
    """Where data sets are looked for, and the files of each that needs some."""

    folders: Sequence[str]
    files: Mapping[str, Sequence[str]]
    """None where they are not on this machine."""
    schema: str = "where@1"

    def view(self) -> View:
        places = {
            name: files[0] if files else "not on this machine" for name, files in self.files.items()
        }
        return View(parts=tuple(line(f"{name}: {place}") for name, place in places.items()))


@verb
def add(
    name: Annotated[str, "A benchmark."],
    files: Annotated[Sequence[str | Path], "Its file, its files, or the folder that holds them."],
    *,
    anyway: Annotated[bool, "Keep it even if it differs from what was released."] = False,
) -> Told:
    """Check a file you have and keep it in the user data folder."""
    source = catalog.find("benchmark", name)
    return _kept([fetch.add(source, [Path(file) for file in files], anyway)])


@verb
def pull(
    *names: Annotated[str, "Benchmarks."],
    url: Annotated[
        Sequence[str],
        "Fetch from here instead; repeat for each file of one benchmark, in the card's order.",
    ] = (),
    announce: Announce = LOG.info,
) -> Told:
    """Fetch data sets from their public places, pinned to a commit, or from their second ones."""
    if url and len(names) > 1:
        raise UsageError(
            "--url goes with one benchmark. It is not clear whose files these are. Pull them one "
            "by one."
        )
    sources = [catalog.find("benchmark", name) for name in names]
    return _kept([fetch.pull(source, url, announce) for source in sources])


def _kept(arrivals: Sequence[Arrival]) -> Told:
    remarks = (remark for arrival in arrivals for remark in arrival.remarks)
    return Told(*remarks, schema="data@1", sets=[arrival.as_json() for arrival in arrivals])


@verb
def where() -> Places:
    """Say which data sets are on this machine, and in which folder."""
    files: dict[str, list[str]] = {}
    for name, source in catalog.every("benchmark").items():
        if source.card.files:
            try:
                files[name] = [str(file) for file in find(source)]
            except DataMissing:
                files[name] = []
    return Places([str(folder) for folder in folders()], files)
