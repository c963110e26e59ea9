"""The sizes of a tree of source code: `python -m bench.house src`.

`--hops` also counts what one item passes through, in the package that is imported; `--before REV`
sets a revision of the repository beside the tree. Decision 12 has the first of these figures of
three versions. Lines mean the same only where both are formatted:
`ruff format --isolated --line-length 100 FOLDER`.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import threading
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from glob import glob
from importlib.util import find_spec
from io import BytesIO
from itertools import chain
from pathlib import Path
from statistics import median
from types import CodeType, FrameType
from unittest.mock import patch

from bench.command import stereometer

LONG_FUNCTION, LONG_FILE, LONG_LINE, RUN, SHORT = 50, 400, 100, 6, 4
PACKAGE, SHELVES = "stereometer", ("kinds", "wings")
STORED = (
    "run starter -m fake --limit 1 --out one",
    "run starter -m random --limit 1 --measure cat-pseudo-likelihood --out other",
    "run abc -m fake --measure set --groups doctor,teenager --templates the --out traits",
)
PASSAGE = (
    "run starter -m fake --limit 1 --out {out}",
    "report one/*cat* -o {out}.html",
    "compare one/*cat* other/*",
    "align traits/* --ratings ratings.csv --resamples 100 --out aligned-{out}",
    "show one/*cat*",
)
"""What is counted, on the runs above."""
NAMES = (
    "cat|pair|trait|comment|ss|lms|icat|pair_preference|accuracy|association|sent_more|stereotype"
)
GUESS = re.compile(
    rf'(==|!=|\bin) \(?"({NAMES})"|"({NAMES})" (not )?in |(==|!=) (CAT|PAIR|TRAIT|COMMENT|FACT)\b'
)
"""A shape told by the name of a shape, a metric or a key, where code should ask the shape."""


def sizes(folder: Path) -> Iterator[tuple[str, int | float]]:
    texts = {path: path.read_text("utf-8") for path in sorted(folder.rglob("*.py"))}
    lines = {path: text.splitlines() for path, text in texts.items()}
    functions = [length for text in texts.values() for length in _functions(text)]
    guesses = [
        path
        for path, rows in lines.items()
        for row in rows
        if not {"shapes", "kinds"} & {*path.relative_to(folder).parts} and GUESS.search(row)
    ]
    yield "files", len(texts)
    yield "lines", sum(map(len, lines.values()))
    yield f"files over {LONG_FILE} lines", sum(len(rows) > LONG_FILE for rows in lines.values())
    yield "longest file", max(map(len, lines.values()))
    yield (
        f"lines over {LONG_LINE} characters",
        sum(len(row) > LONG_LINE for rows in lines.values() for row in rows),
    )
    yield "functions", len(functions)
    yield "median lines of a function", median(functions)
    yield (
        f"functions over {LONG_FUNCTION} lines",
        sum(length > LONG_FUNCTION for length in functions),
    )
    yield "lines that tell a shape by a name", len(guesses)
    yield "files of those", len(set(guesses))
    yield "class names used twice", _twice(texts.values())
    yield (
        "import lines, %",
        round(100 * _imports(texts.values()) / sum(map(len, lines.values())), 1),
    )
    yield (
        f"private helpers with one caller and at most {SHORT} lines of body",
        _lone_helpers(texts.values()),
    )
    yield f"lines in runs of {RUN} or more that stand twice", _repeated(list(lines.values()))
    yield from _rooms({path: len(rows) for path, rows in lines.items()})


def _rooms(lines: Mapping[Path, int]) -> Iterator[tuple[str, int]]:
    """Lines of each room, each kind and each wing; the core with a kind is what one must read to
    change `run`. Nothing of a tree that has other rooms."""
    sizes: Counter[str] = Counter()
    for path, size in lines.items():
        inner = path.parts[path.parts.index(PACKAGE) + 1 : -1] if PACKAGE in path.parts else ()
        if size and inner:
            sizes["/".join(inner[: 1 + (inner[0] in SHELVES)])] += size
    kinds = [size for room, size in sizes.items() if room.startswith("kinds/")]
    if kinds:
        yield "to read before changing run: core and cats", sizes["core"] + sizes["kinds/cats"]
        yield "to read before changing run: core and the largest kind", sizes["core"] + max(kinds)
    yield from ((f"lines of {room}", size) for room, size in sorted(sizes.items()))


def _functions(text: str) -> Iterator[int]:
    """Lines of each function, decorators left out."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def _twice(texts: Iterable[str]) -> int:
    """Names that more than one class has."""
    names = Counter(
        node.name
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
    )
    return sum(often > 1 for often in names.values())


def _imports(texts: Iterable[str]) -> int:
    """Lines, those of an import over several too."""
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def _lone_helpers(texts: Iterable[str]) -> int:
    """Private functions of a module, or methods, that their file names once, with a short body."""
    return sum(
        len(re.findall(rf"\b{node.name}\b", text)) == 2 and _body(node) <= SHORT
        for text in texts
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and re.match("_[a-z]", node.name)
    )


def _body(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body, its docstring left out."""
    rest = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return (rest[-1].end_lineno or 0) - rest[0].lineno + 1 if rest else 0


def _repeated(files: list[list[str]]) -> int:
    """Lines of code, without imports and comments, whose run of six stands in another place too."""
    kept = [[row.strip() for row in rows if _counts(row)] for rows in files]
    runs = [[tuple(rows[at : at + RUN]) for at in range(len(rows) - RUN + 1)] for rows in kept]
    often = Counter(run for file in runs for run in file)
    covered = (
        {at + step for at, run in enumerate(file) if often[run] > 1 for step in range(RUN)}
        for file in runs
    )
    return sum(map(len, covered))


def _counts(row: str) -> bool:
    return bool(re.search(r"\w", row)) and not re.match(r"\s*(#|import |from )", row)


def words(docs: Path) -> Iterator[tuple[str, int]]:
    """Of the pages, written by hand or generated."""
    for what, generated in (("not generated", False), ("generated", True)):
        pages = (
            p for p in docs.rglob("*.md") if (p.parts[len(docs.parts)] == "reference") == generated
        )
        yield f"words of docs, {what}", sum(len(page.read_text("utf-8").split()) for page in pages)


# --------------------------------------------------------------------------------------------- hops


def hops() -> Iterator[tuple[str, str]]:
    """How many functions, in how many files, one item enters in each verb. Comprehensions and
    lambdas are not counted, nor what only the first call of a process needs."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, patch.dict("os.environ", _own(folder)):
        os.chdir(folder)
        try:
            _ratings(Path("ratings.csv"))
            for line in STORED:
                stereometer(line.split())
            for line in PASSAGE:
                verb, functions, files = _passed(line)
                yield f"{verb}: functions entered by one item", f"{functions} in {files} files"
        finally:
            os.chdir(before)


def _own(folder: str) -> dict[str, str]:
    return {"STEREOMETER_CACHE": f"{folder}/cache", "COLUMNS": "120"}


def _ratings(file: Path) -> None:
    rows = [
        f"r{who},{group},cold - warm,{20 + 9 * who}"
        for who in range(3)
        for group in ("doctor", "teenager")
    ]
    file.write_text("\n".join(["participant,group,trait,rating", *rows]) + "\n")


def _passed(line: str) -> tuple[str, int, int]:
    """Of the second of two calls, which writes elsewhere."""
    for out in ("first", "second"):
        words = [found for word in line.format(out=out).split() for found in _found(word)]
        entered = _entered(words)
    return words[0], len(entered), len({code.co_filename for code in entered})


def _found(word: str) -> list[str]:
    return sorted(glob(word)) if "*" in word else [word]


def _entered(words: list[str]) -> set[CodeType]:
    folder = str(Path(str(find_spec("stereometer").origin)).parent)  # type: ignore[union-attr]
    entered: set[CodeType] = set()

    def see(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_name[0] != "<" and code.co_filename.startswith(folder):
            entered.add(code)

    threading.setprofile(see)
    sys.setprofile(see)
    try:
        outcome = stereometer(words)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    if outcome.code:
        raise SystemExit(outcome.err)
    return entered


def figures(folder: Path, entered: bool = False) -> dict[str, object]:
    docs = [docs for parent in folder.resolve().parents if (docs := parent / "docs").is_dir()]
    return dict(chain(sizes(folder), words(docs[0]) if docs else (), hops() if entered else ()))


def earlier(revision: str, folder: Path) -> dict[str, object]:
    """Of the same folder in another revision of the repository that the tree is in."""
    with tempfile.TemporaryDirectory() as copy:
        inside = ["git", "-C", str(folder), "rev-parse", "--show-toplevel"]
        top = Path(subprocess.check_output(inside, text=True).strip())
        packed = subprocess.check_output(["git", "-C", str(top), "archive", revision])
        with tarfile.open(fileobj=BytesIO(packed)) as archive:
            archive.extractall(copy, filter="data")
        return figures(Path(copy) / folder.resolve().relative_to(top))


def main(arguments: list[str]) -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--hops", action="store_true")
    parser.add_argument("--before", metavar="REV")
    asked = parser.parse_args(arguments)
    now = figures(asked.folder, asked.hops)
    before = earlier(asked.before, asked.folder) if asked.before else {}
    for what, figure in now.items():
        print(f"{what}: {figure}" + (f" (before: {before[what]})" if what in before else ""))


if __name__ == "__main__":
    main(sys.argv[1:])
