"""What a pack gives when it is read: for whoever writes one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stereometer.benchmarks.benchmark import Benchmark
from stereometer.benchmarks.fetch import differences
from stereometer.benchmarks.folders import find
from stereometer.benchmarks.packs.source import PackSource
from stereometer.errors import DataError, DataMissing
from stereometer.files import digest_of_content
from stereometer.types.document import Document
from stereometer.types.shown import Shown

ABSENT = "Its data are not on this machine: only what it says of itself was checked."
SLICES = ("bias_type", "domain")


@dataclass(frozen=True, repr=False)
class PackCheck(Shown, Document):
    """A pack, and what came out of its files."""

    name: str
    shape: str
    language: str
    country: str
    origin: str
    licence: str
    verified: bool
    files: tuple[str, ...]
    sha256: tuple[str, ...]
    """Of each file, unpacked."""
    counts: Mapping[str, int]
    digest: str
    types: Mapping[str, int]
    """Items by bias type or domain."""
    skipped: Mapping[str, int]
    """Items that no method can score, by reason."""
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    schema: str = "pack-check@1"

    def check(self) -> None:
        """Raises where the files are not what the pack says."""
        if self.faults:
            raise DataError(
                f"{self.name} is not what its pack says: {'; '.join(self.faults)}. The file or "
                "the pack was changed. Fix pack.toml, or take the file it was made for."
            )


def check(source: PackSource, data: Path | None = None) -> PackCheck:
    """Reads what the pack describes, if it is there; raises where it cannot be read at all."""
    try:
        files = tuple(find(source, data))
    except DataMissing:
        return _checked(source)
    loaded = source.load(files)
    sha256 = tuple(map(digest_of_content, files)) if source.card.sha256 else ()
    return _checked(source, tuple(file.name for file in files), sha256, loaded)


def _checked(
    source: PackSource,
    files: tuple[str, ...] = (),
    sha256: tuple[str, ...] = (),
    loaded: Benchmark | None = None,
) -> PackCheck:
    card, shapes = source.card, loaded.shapes if loaded else {}
    shape = source.described.written.shape
    items = shapes.get(shape, ())
    wrong = [
        f"{name} has the sha256 {actual} instead of {stated}"
        for name, actual, stated in zip(files, sha256, card.sha256, strict=False)
        if stated and actual != stated
    ]
    return PackCheck(
        name=source.name,
        shape=shape,
        language=card.language,
        country=card.country,
        origin=card.origin,
        licence=card.licence,
        verified=source.described.written.expect.verified,
        files=files,
        sha256=sha256,
        counts={name: len(of) for name, of in shapes.items()},
        digest=loaded.digest if loaded else "",
        types=Counter(
            item.slices[name] for item in items for name in SLICES if name in item.slices
        ),
        skipped=Counter(item.unscorable for item in items if item.unscorable),
        faults=(*(differences(loaded) if loaded else ()), *wrong),
        notes=loaded.notes if loaded else (*source.described.notes, ABSENT),
    )
