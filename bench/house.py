"""The sizes of a tree of source code: `python -m bench.house FOLDER`.

Decision 12 has these figures of three versions. Format a tree first, so that lines mean the same:
`ruff format --isolated --line-length 100 FOLDER`.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median

LONG_FUNCTION, LONG_FILE, LONG_LINE, RUN = 50, 400, 100, 6
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
        if "shapes" not in path.relative_to(folder).parts and GUESS.search(row)
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
    yield f"lines in runs of {RUN} or more that stand twice", _repeated(list(lines.values()))


def _functions(text: str) -> Iterator[int]:
    """Lines of each function, decorators left out."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


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


if __name__ == "__main__":
    for what, figure in sizes(Path(sys.argv[1])):
        print(f"{what}: {figure}")
