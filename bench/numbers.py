"""Every number of stored runs of all kinds, kept before a redesign and checked after it.

`python -m bench.numbers keep FILE.json` makes the runs in a temporary folder and writes what they
say; `python -m bench.numbers check FILE.json [--names map.toml]` makes them again and prints what
differs. Values, bounds and p are the same within 1e-9, and every n, verdict, number of notes and
reason of a skip is equal. `--few` makes five runs. STEREOMETER_DATA adds the released data.

The map says what is called otherwise since then, old = new:

    drop = ["tokens"]               # JSON keys that are not compared
    [names]                         # measures, schemas and other whole names, wherever they stand
    "cat-likelihood@2" = "cat-likelihood@1"
    [prefixes]                      # what words and names begin with
    "readings@" = "sweep@"
    [keys]                          # JSON keys
    asked = "n_asked"
    [paths]                         # regular expressions for where a number stands
    '^(compare.*)/out/pairs' = '\\1/out/comparisons'
    [values]                        # JSON keys whose number is another one now
    statistics = 1
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.numbers_runs import outcomes

CLOSE = 1e-9
LINES = 40
"""Differences that are printed."""
PASSING = {"seconds", "started", "bytes", "wall", "versions", "machine", "texts"}
"""Keys whose numbers are of the moment, and texts, which belong to others."""
SAID = (
    "schema benchmark measure model variant scoring verdict why skipped reason outcome "
    "correction was now label answer domain task task_type"
)
"""Keys whose words are compared; all other words may change."""
ROW = (
    "schema name system metric measure variant model benchmark one other first second x y group "
    "trait dimension template question setting category domain term target flag bar require file "
    "comment slice slices"
)
"""Keys by which a row of a list is known, whatever its place."""
COUNTED = ("notes", "warnings")

Leaves = dict[str, Any]


# ------------------------------------------------------------------------------------- what is kept


def reduced(value: Any, key: str = "") -> Any:
    """Numbers, compared words and counts of notes; rows under their names; nothing else."""
    if isinstance(value, dict):
        rows = {name: reduced(of, name) for name, of in value.items() if name not in PASSING}
        return {name: of for name, of in rows.items() if of not in (None, {})} or None
    if isinstance(value, list) and key in COUNTED:
        return len(value)
    if isinstance(value, list):
        return reduced(dict(_named(value)), key)
    if isinstance(value, str):
        return value if key in SAID.split() else None
    return value


def _named(rows: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    seen: dict[str, int] = {}
    for at, row in enumerate(rows):
        name = _name(row) or str(at)
        seen[name] = seen.get(name, 0) + 1
        yield (f"[{name}]" if seen[name] == 1 else f"[{name} #{seen[name]}]"), row


def _name(row: Any) -> str:
    """Nothing for what has no name: it is known by its place."""
    if not isinstance(row, dict):
        return ""
    if isinstance(row.get("item"), str):
        return str(row["item"])
    parts = (row.get(key) for key in ROW.split())
    return " ".join(
        part if isinstance(part, str) else json.dumps(part, sort_keys=True, ensure_ascii=False)
        for part in parts
        if isinstance(part, str | dict) and part
    )


def file_value(path: Path) -> Any:
    """What a file that a command wrote says; nothing for what is no table and no JSON."""
    text = path.read_text("utf-8") if path.suffix in (".json", ".jsonl", ".csv", ".html") else ""
    if path.suffix == ".json":
        return json.loads(text)
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in text.splitlines()]
    if path.suffix == ".csv":
        return [
            {key: _cell(cell) for key, cell in row.items()}
            for row in csv.DictReader(text.splitlines())
        ]
    return _trends(text) if path.suffix == ".html" else None


def _cell(cell: Any) -> Any:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return cell


def _trends(page: str) -> dict[str, Any]:
    """What is said about a trend over a series of models: it stands on the page alone."""
    text = re.sub(r"<[^>]+>", " ", page)
    told = re.findall(r"(\w+): ([^.:,]+), ([^(]+points from the first to the last[^)]+)\)", text)
    numbers = re.compile(r"[-+]?\d+(?:\.\d+)?")
    return {
        name: {"verdict": verdict, "numbers": [float(one) for one in numbers.findall(rest)]}
        for name, verdict, rest in told
    }


def made(few: bool) -> dict[str, Any]:
    """Of every case its exit code, what it printed and what it wrote."""
    return {
        one.name: {
            "code": one.code,
            **(reduced({"out": one.printed}) or {}),
            **(reduced({"files": {name: file_value(file) for name, file in one.files}}) or {}),
        }
        for one in outcomes(few)
    }


# ------------------------------------------------------------------------------- what is the same


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each leaf and where it stands: `case/out/results[fake]/estimates[lms]/value`."""
    if not isinstance(value, dict):
        yield path, value
        return
    for key, of in value.items():
        between = "" if key.startswith("[") or not path else "/"
        yield from flat(of, f"{path}{between}{key}")


def renamed(leaves: Leaves, names: Mapping[str, Any]) -> Leaves:
    """As the map says."""
    rules = [
        *((rf"(?<![\w-]){re.escape(a)}(?![\w@-])", b) for a, b in _literal(names, "names")),
        *((rf"(?<![\w-]){re.escape(a)}", b) for a, b in _literal(names, "prefixes")),
    ]
    places = [
        *((rf"(?<![^/]){re.escape(a)}(?=[/\[]|$)", b) for a, b in _literal(names, "keys")),
        *names.get("paths", {}).items(),
    ]
    values = names.get("values", {})
    return {
        _changed(path, [*rules, *places]): (
            _changed(of, rules) if isinstance(of, str) else values.get(path.rpartition("/")[2], of)
        )
        for path, of in leaves.items()
    }


def _literal(names: Mapping[str, Any], part: str) -> list[tuple[str, str]]:
    return [(old, new.replace("\\", r"\\")) for old, new in names.get(part, {}).items()]


def _changed(text: str, rules: Sequence[tuple[str, str]]) -> str:
    for old, new in rules:
        text = re.sub(old, new, text)
    return text


def differences(
    old: Mapping[str, Any], new: Mapping[str, Any], names: Mapping[str, Any]
) -> list[str]:
    dropped = re.compile(
        "|".join(rf"(?<![^/]){re.escape(key)}(?=[/\[]|$)" for key in names.get("drop", ()))
        or "(?!)"
    )
    alone = [f"{case}: only kept" for case in old if case not in new]
    alone += [f"{case}: only made now" for case in new if case not in old]
    kept = dict(flat({case: of for case, of in old.items() if case in new}))
    before = renamed(kept, names)
    after = dict(flat({case: of for case, of in new.items() if case in old}))
    merged = [f"the map gives {len(kept) - len(before)} leaves the name of others"]
    paths = [path for path in dict.fromkeys([*before, *after]) if not dropped.search(path)]
    return [
        *alone,
        *(merged if len(before) < len(kept) else ()),
        *_changes(before, after, paths),
    ]


def _changes(before: Leaves, after: Leaves, paths: Sequence[str]) -> list[str]:
    return [
        f"{path}: {_shown(before, path)} -> {_shown(after, path)}"
        for path in paths
        if path not in before or path not in after or not same(before[path], after[path])
    ]


def _shown(leaves: Leaves, path: str) -> str:
    return repr(leaves[path]) if path in leaves else "nothing"


def same(old: Any, new: Any) -> bool:
    if isinstance(old, float | int) and isinstance(new, float | int):
        return math.isclose(old, new, rel_tol=CLOSE, abs_tol=CLOSE)
    return bool(old == new)


# ---------------------------------------------------------------------------------------- commands


def main(words: Sequence[str]) -> int:
    asked = _parser().parse_args(words)
    begun = time.process_time()
    new = made(asked.few)
    took = f"{len(new)} cases, {len(dict(flat(new)))} leaves, {time.process_time() - begun:.0f} CPU seconds"
    if asked.what == "keep":
        asked.file.write_text(json.dumps(new, indent=0, ensure_ascii=False) + "\n", "utf-8")
        print(f"{took}: kept in {asked.file}")
        return 0
    names = tomllib.loads(asked.names.read_text("utf-8")) if asked.names else {}
    old = json.loads(asked.file.read_text("utf-8"))
    if asked.few:
        old = {name: of for name, of in old.items() if name in new}
    found = differences(old, new, names)
    print("\n".join(found[: LINES - 1]), end="\n" if found else "")
    print(f"{took}: {f'{len(found)} differ' if found else 'nothing differs'}")
    return int(bool(found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("bench.numbers", description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("keep", "check"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--names", type=Path, help="The map of old to new names, in TOML.")
    parser.add_argument("--few", action="store_true", help="Five cases.")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
