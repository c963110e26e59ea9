"""A user's own items: CATs or pairs, as JSONL or as a table with a header. The columns, which are
those of the files of each kind, say which."""

from collections.abc import Sequence
from functools import partial
from itertools import chain
from pathlib import Path

from stereometer.core import catalog, tables
from stereometer.core.benchmarks.benchmark import Content, Source
from stereometer.core.errors import DataError
from stereometer.core.shapes.sentences import SentenceShape, unique
from stereometer.core.types import Item

NOUNS = {"cat": "CATs", "pair": "pairs"}
SHAPES: tuple[SentenceShape, ...] = tuple(catalog.find("shape", kind) for kind in NOUNS)
OPTIONAL = ("id", "note", "hidden", "stereo_antistereo", "annotations")
KNOWN = (*dict.fromkeys(name for shape in SHAPES for name in shape.columns), *OPTIONAL)


def read(
    files: Sequence[Path], faulty: bool = False, layout: tables.Layout = tables.PLAIN
) -> Content:
    """For an audit also `faulty` items: those with an empty text or a context without BLANK."""
    (path,) = files
    of_hub = tables.is_parquet(path) and any(
        "sentences" in row for _, row in tables.parquet_rows(path)
    )
    if of_hub or path.name.removesuffix(".gz").endswith(".json"):
        shape = next(shape for shape in SHAPES if shape.suffix == ".json")
        return {shape.name: shape.read_released(path, layout)}, []
    rows = tables.read_rows(path, [], "", layout, KNOWN)
    line, row = next(rows, (0, None))
    if row is None:
        raise tables.empty_file(path)
    shape = _shape(path, list(row))
    items = tables.gathered(
        path,
        chain([(line, row)], rows),
        lambda at, fields: shape.read_row(fields, path, at, faulty),
    )
    unique((item.id for item in items), f"{path}: item")
    return {shape.name: items}, repeated(items)


def _shape(path: Path, columns: Sequence[str]) -> SentenceShape:
    """The shape whose columns a file has."""
    missing = {shape: [name for name in shape.columns if name not in columns] for shape in SHAPES}
    nearest = min(SHAPES, key=lambda shape: len(missing[shape]) / len(shape.columns))
    if not missing[nearest]:
        return nearest
    needs = "; ".join(f"{NOUNS[shape.name]} need {', '.join(shape.columns)}" for shape in SHAPES)
    raise DataError(
        f"{path} lacks {', '.join(missing[nearest])}. It has the columns "
        f"{', '.join(map(str, columns))[:300]}. {needs}. Say which column is which with --column "
        f"{missing[nearest][0]}=NAME, or rename them."
    )


def repeated(items: Sequence[Item]) -> list[str]:
    """Says how many items repeat another: each counts, though it brings nothing new."""
    extra = len(items) - len({tuple(sorted(item.texts.items())) for item in items})
    note = f"{extra} item(s) have the same texts as another and are still counted."
    return [note] if extra else []


SOURCE = Source(
    "custom",
    read,
    {shape.name: shape.measures for shape in SHAPES},
    read_faulty=partial(read, faulty=True),
    package="stereometer.wings.packs",
    takes_layout=True,
)
