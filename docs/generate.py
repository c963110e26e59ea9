"""Write docs/reference from the code: `python docs/generate.py [FOLDER]`.

tests/docs checks that the committed pages are what this writes. The commands, the catalog and the
Python names are read from the package; the fields of JSON documents from documents that the
commands print; sentences that no object carries from docs/descriptions.toml.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import typer

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from documents import Document, collect  # noqa: E402
from fields import Reader, Schema, inner, properties  # noqa: E402

FROM_CODE = "<!-- Written by docs/generate.py. Do not edit: run `make reference`. -->\n\n"
DESCRIPTIONS: Mapping[str, Any] = tomllib.loads((HERE / "descriptions.toml").read_text("utf-8"))
UNDESCRIBED = "(not described)"
"""What stands where a sentence is missing; tests/docs finds it."""


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "reference"
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")
    (folder / "schemas").mkdir(exist_ok=True)
    for name, text in json_schemas().items():
        (folder / "schemas" / f"{name}.json").write_text(text, encoding="utf-8")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(_cell, row))} |\n" for row in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


# Commands


def the_app() -> Any:
    from stereometer import cli

    if isinstance(getattr(cli, "app", None), typer.Typer):
        return cli.app
    from stereometer.cli.app import app

    return app


def every_command() -> Iterator[tuple[str, Any]]:
    """Each command with its full name, in the order of `--help`."""
    yield from _commands(typer.main.get_command(the_app()), "")


def _commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    if not hasattr(command, "list_commands"):
        yield name, command
        return
    for word in command.list_commands(None):
        yield from _commands(command.get_command(None, word), f"{name} {word}".strip())


def commands_page() -> str:
    root = typer.main.get_command(the_app())
    groups: dict[str, list[tuple[str, Any]]] = {}
    for name, command in every_command():
        panel = _panel(root, name)
        groups.setdefault(panel, []).append((name, command))
    text = "# Commands\n\n" + FROM_CODE + f"{(root.help or '').strip()}\n\n"
    text += "`--version` prints the version. Every command has `--help`; the exit codes"
    text += " are on [their own page](exit-codes.md).\n\n"
    for panel, entries in groups.items():
        text += f"## {panel}\n\n" + "".join(_command(*entry) for entry in entries)
    text += "## Shared options\n\nThey mean this wherever a command does not say otherwise.\n\n"
    return text + _table(("argument or option", "meaning"), sorted(_shared()))


def _panel(root: Any, name: str) -> str:
    """The heading under which `--help` lists a command, or its group."""
    first = name.split()[0]
    return str(next(heading for heading, entries in root.sections.items() if first in entries))


@cache
def _shared() -> frozenset[tuple[str, str]]:
    """What several commands take and explain alike: of each argument or option the meaning that
    most of them give it."""
    seen = Counter(row for name, command in every_command() for row in _parameters(name, command))
    usual = {shown: (shown, meaning) for (shown, meaning), _ in reversed(seen.most_common())}
    return frozenset(row for row in usual.values() if seen[row] > (1 if "-" in row[0] else 3))


def _parameters(name: str, command: Any) -> list[tuple[str, str]]:
    context = command.make_context(name, [], resilient_parsing=True)
    entries = [entry for entry in command.params if not entry.hidden]
    return [_parameter(entry, context) for entry in entries]


def _command(name: str, command: Any) -> str:
    text = f"### {name}\n\n{_prose(command.help)}\n\n{_examples(name, command)}\n\n"
    rows = _parameters(name, command)
    if own := [row for row in rows if row not in _shared()]:
        text += _table(("argument or option", "meaning"), own) + "\n"
    if shared := [re.sub(r" [A-Z]\S*`$", "`", row[0]) for row in rows if row in _shared()]:
        text += f"[Shared](#shared-options): {', '.join(shared)}.\n\n"
    return text


def _prose(text: str | None) -> str:
    """A help text without the marks that keep the terminal from wrapping lines."""
    return inspect.cleandoc((text or UNDESCRIBED).replace("\b", "").replace("\f", "")).strip()


def _examples(name: str, command: Any) -> str:
    """What follows \\b, where the terminal keeps its lines; without examples, the usage."""
    lines = (command.epilog or "").partition("\b\n")[2]
    if not lines:
        context = command.make_context(name, [], resilient_parsing=True)
        lines = f"stereometer {name} {' '.join(command.collect_usage_pieces(context))}"
    return f"```\n{inspect.cleandoc(lines)}\n```"


def _parameter(parameter: Any, context: Any) -> tuple[str, str]:
    shown, meaning = parameter.get_help_record(context)
    return f"`{shown}`", meaning.replace("<", "&lt;") or UNDESCRIBED


# Python


def python_page() -> str:
    import stereometer

    text = "# Python\n\n" + FROM_CODE + _paragraph(stereometer.__doc__) + "\n\n" + PYTHON_HEAD
    for name in sorted(stereometer.__all__, key=str.lower):
        value = getattr(stereometer, name)
        text += f"## {name}\n\n"
        text += _class(name, value) if inspect.isclass(value) else _function(name, value)
    return text.rstrip() + "\n"


PYTHON_HEAD = """Every name below is imported from `stereometer`. A verb does what the command of
that name does, and its parameters mean what the command's options mean: only others are explained
here. `**options` are the command's other options: `--in-flight 4` is `in_flight=4`, and a column is
`column={"label": "gold"}`. What may be given several times is a sequence; a path is a string or a
`Path`, a run its folder or what `run` gave, and a model a name, `(model, tokenizer)` or a pipeline
of transformers. `out` is a folder, by default `stereometer-runs`; `announce` is given what the
command line writes to standard error, and `progress` (on by default) shows how far a run is. An
error is a `stereometer.core.errors.StereometerError`.

"""
COMMANDS = {"write_report": "report", "export_mitigated": "mitigate export"}
"""Commands of verbs that have another name."""


def _commands_of(verb: str) -> dict[str, Any]:
    """Commands of a verb, by name: one, or those of its group."""
    found = COMMANDS.get(verb, verb)
    return {
        name: command
        for name, command in every_command()
        if name == found or (name.startswith(f"{found} ") and name not in COMMANDS.values())
    }


def _about_verb(name: str, about: str | None) -> str:
    """What it does; of parameters what no command says."""
    commands = _commands_of(name)
    known = {entry.name for command in commands.values() for entry in command.params}
    known |= {"out", "announce", "progress"}
    lines = [
        line
        for line in _prose(about).splitlines()
        if not ((found := re.match(r"- `(\w+)`:", line)) and found[1] in known)
    ]
    links = [f"[{each}](commands.md#{each.replace(' ', '-')})" for each in commands]
    told = "\n".join(lines).strip()
    return f"{told}\n\nParameters: {', '.join(links)}." if links else told


def _function(name: str, function: Any) -> str:
    signature = inspect.signature(function)
    about = function.__doc__ or DESCRIPTIONS["python"].get(name)
    entries = ", ".join(_arguments(signature))
    returned = signature.return_annotation
    arrow = "" if returned is signature.empty else f" -> {_type(returned)}"
    head = textwrap.fill(f"{name}({entries}){arrow}", 96, subsequent_indent="    ")
    return f"```python\n{head}\n```\n\n{_about_verb(name, about)}\n\n"


def _arguments(signature: inspect.Signature) -> Iterator[str]:
    """With the star before those that only have a name."""
    before = None
    for parameter in signature.parameters.values():
        named = parameter.kind is parameter.KEYWORD_ONLY
        if named and before not in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL):
            yield "*"
        before = parameter.kind
        yield _argument(parameter)


def _argument(parameter: inspect.Parameter) -> str:
    """With what it is by default; a type stands in the command's help."""
    stars = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}.get(parameter.kind.name, "")
    given = parameter.default
    # What has no spelling of its own, such as a method, is said in the text.
    value = "..." if repr(given).startswith("<") else repr(_plain(given))
    default = "" if given is parameter.empty else f"={value}"
    return f"{stars}{parameter.name}{default}"


def _plain(value: Any) -> Any:
    """Paths as strings."""
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return str(value) if isinstance(value, Path) else value


def _class(name: str, value: Any) -> str:
    text = f"{_paragraph(value.__doc__)}\n\n"
    if dataclasses.is_dataclass(value):
        names = ", ".join(f"`{entry.name}`" for entry in dataclasses.fields(value))
        text += f"Fields{FIELDS.get(name, '')}: {names}.\n\n"
    for own, method in inspect.getmembers(value, inspect.isfunction):
        if not own.startswith("_") and method.__doc__:
            text += f"- `{own}`: {_paragraph(method.__doc__)}\n"
    return text.rstrip() + "\n\n"


FIELDS = {
    "Estimate": " ([what each means](schemas/Estimate.json))",
    "Result": " ([what each means](schemas/stereometer-result@1.json))",
}


def _type(annotation: Any) -> str:
    """A type as one reads it, without the names of modules."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Za-z])", "", text)


def _paragraph(text: str | None) -> str:
    return " ".join(inspect.cleandoc(text or UNDESCRIBED).split("\n"))


# Catalog


def catalog_page() -> str:
    from stereometer.core import catalog
    from stereometer.wings.packs.pack import shipped

    text = "# Catalog\n\n" + FROM_CODE
    text += "Every name that a command takes, as `stereometer list` prints them;"
    text += " [commands](commands.md) have a page of their own. Other packages add names with"
    text += " [entry points](../howto/extend.md).\n\n"
    told: list[tuple[str, str]] = []
    for kind in [kind for kind in catalog.TABLE if kind != "command"]:
        text += f"## {kind}\n\n{DESCRIPTIONS['kinds'].get(kind, UNDESCRIBED)}\n\n"
        rows = [(f"`{name}`", _about(kind, name)) for name in catalog.TABLE[kind]]
        packs = sorted(shipped()) if kind == catalog.PACKED else []
        rows += [(f"`{name}`", catalog.find(kind, name).sentence) for name in packs]
        if new := [row for row in rows if row not in told]:
            text += _table(("name", "what it is"), new) + "\n"
        if known := [name for name, about in rows if (name, about) in told]:
            text += f"As described above: {', '.join(known)}.\n\n"
        told += rows
    return text.rstrip() + "\n"


def _about(kind: str, name: str) -> str:
    """The sentence written for a name, else what its object says of itself."""
    from stereometer.core import catalog

    if name in DESCRIPTIONS["catalog"]:
        return str(DESCRIPTIONS["catalog"][name])
    about = getattr(catalog.find(kind, name), "about", None)
    return about if isinstance(about, str) and about else UNDESCRIBED


# Metrics


def metrics_page() -> str:
    text = "# Metrics\n\n" + FROM_CODE
    text += (
        "Each estimate of a result carries one of these names. The ideal is the value of a model"
    )
    text += " without the stereotype; where there is none, distance from it means nothing. How"
    text += (
        " intervals and verdicts are made is explained under [uncertainty](../uncertainty.md).\n\n"
    )
    known: list[tuple[str, str, str]] = []
    for title, rows in _metrics():
        text += f"## {title}\n\n"
        if new := [row for row in rows if row not in known]:
            text += _table(("metric", "ideal", "what it is"), new) + "\n"
        if told := [name for name, *about in rows if (name, *about) in known]:
            text += f"As described above: {', '.join(told)}.\n\n"
        known += rows
    return text.rstrip() + "\n"


def _metrics() -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    declared = _declared_metrics()
    named = {name for rows in declared.values() for name, _, _ in rows}
    for title, rows in declared.items():
        yield title, [(f"`{name}`", ideal, about) for name, ideal, about in rows]
    for title, sentences in DESCRIPTIONS["metrics"].items():
        rows = [
            (f"`{name}`", _ideal(_ideals().get(name)), about)
            for name, about in sentences.items()
            if name not in named
        ]
        if rows:
            yield (f"{title} (more)" if title in declared else title), rows


def _declared_metrics() -> dict[str, list[tuple[str, str, str]]]:
    """What the shapes in the catalog declare; nothing where the catalog has no shapes."""
    from stereometer.core import catalog

    if "shape" not in catalog.TABLE:
        return {}
    return {
        name: [
            (metric.name, _ideal(metric.ideal), metric.about or UNDESCRIBED)
            for metric in catalog.find("shape", name).metrics
        ]
        for name in catalog.TABLE["shape"]
    }


def _ideal(value: float | None) -> str:
    return "none" if value is None else f"{value:g}"


@cache
def _ideals() -> dict[str, float | None]:
    """The ideal of every metric that some document holds."""
    return {
        str(entry["name"]): entry["ideal"]
        for entry in _objects()
        if _reader().record(entry) == "Estimate"
    }


def metric_names() -> set[str]:
    """Every metric in the documents."""
    return set(_ideals())


# JSON


@cache
def documents() -> tuple[Document, ...]:
    """What the commands print."""
    return tuple(collect(the_app()))


@cache
def _objects() -> tuple[Document, ...]:
    """Every document and every object in one."""
    return tuple(entry for document in documents() for entry in inner(document))


@cache
def _reader() -> Reader:
    records = {name: frozenset(keys) for name, keys in DESCRIPTIONS["records"].items()}
    return Reader(frozenset(DESCRIPTIONS["maps"]), records)


def schemas() -> set[str]:
    """Every schema of the documents, and of those described by hand."""
    printed = {entry["schema"] for entry in _objects() if "schema" in entry}
    return printed | set(DESCRIPTIONS["by_hand"])


def json_schemas() -> dict[str, str]:
    """The text of each file beside the page, by its name without `.json`."""
    files = {schema: _document_schema(schema) for schema in sorted(schemas())}
    for record in DESCRIPTIONS["records"]:
        fields = _reader().fields(o for o in _objects() if _reader().record(o) == record)
        files[record] = {"type": "object", "properties": properties(fields, _field_about)}
    return {name: _schema_file(name, schema) for name, schema in files.items()}


def _document_schema(schema: str) -> Schema:
    if by_hand := DESCRIPTIONS["by_hand"].get(schema):
        found: Schema = {
            name: {"description": _field_about(name), **_by_hand(kind)}
            for name, kind in by_hand.items()
        }
    else:
        documents = (entry for entry in _objects() if entry.get("schema") == schema)
        found = properties(_reader().fields(documents), _field_about)
    found["schema"] = {"description": _field_about("schema"), "const": schema}
    about = DESCRIPTIONS["schemas"].get(schema, (UNDESCRIBED, UNDESCRIBED))[1]
    return {"description": about, "type": "object", "required": ["schema"], "properties": found}


def _by_hand(kind: str | list[str]) -> Schema:
    return (
        {"type": kind} if isinstance(kind, str) else {"type": "array", "items": {"type": kind[0]}}
    )


def _field_about(name: str) -> str:
    return str(DESCRIPTIONS["fields"].get(name, UNDESCRIBED))


def _schema_file(name: str, schema: Mapping[str, Any]) -> str:
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": name}
    return json.dumps(dialect | dict(schema), indent=1, ensure_ascii=False) + "\n"


def json_page() -> str:
    rows = [
        (f"[`{schema}`](schemas/{schema}.json)", about, where)
        for schema, (where, about) in DESCRIPTIONS["schemas"].items()
    ]
    return "# JSON\n\n" + FROM_CODE + JSON_HEAD + _table(("document", "what it is", "from"), rows)


JSON_HEAD = """With `--json` a command prints one document on standard output and nothing else;
messages go to standard error. `serve-model` alone has no `--json`. Every document names its layout
in `schema`; a layout that changes gets another version. The table at the end links a JSON Schema
for each, with a sentence about every field. A field that does not apply may be missing; a value
that is not available is `null`, never NaN.

## Examples

The overall scores of every result in a folder, with their intervals:

```sh
stereometer show stereometer-runs/demo --json \\
  | jq '.results[] | {model, scores: [.estimates[] | select(.slice == {}) | {name, low, high}]}'
```

What differs between two runs after the correction for many comparisons:

```sh
stereometer compare RUN RUN --json \\
  | jq '.pairs[].differences[] | select(.beyond_noise) | {name, slice, value, p_adjusted}'
```

The same numbers from Python, as the objects that the documents are written from:

```python
import stereometer

for result in stereometer.load("stereometer-runs/demo"):
    print(result.model, [(e.name, e.value, e.low, e.high) for e in result.overall])
```

## What the documents share

An entry of `estimates` is an [Estimate](schemas/Estimate.json). Its slice names only what it
fixes: `{}`, `{"task": ...}`, `{"domain": ...}`, `{"task": ..., "domain": ...}`,
`{"domain": ..., "target": ...}`, `{"bias_type": ...}`, `{"direction": ...}`,
`{"group": ..., "trait": ...}`, `{"group": ..., "dimension": ...}`.

The measure of a result of `align` is called `<measure>+alignment`, that of `intersect`
`<measure>+intersection@1`. An ensemble's `model_card.settings` holds `rule`, `members` and
`weights` (by task and part of the terms).

A run folder holds `run.json`, `result.json` and `scores.jsonl`. The last has one line per item:
`item`, `slices`, `values` (one per candidate), `skipped`, `texts`, `derived` (for pairs, the
`confidence`) and `answers` (what the model wrote when it was asked in words).

## Documents

"""


# Exit codes


def exit_codes() -> dict[int, str]:
    """Each code of an error class, and those that no class has, with what it means."""
    from stereometer.core import errors

    classes = (entry for entry in vars(errors).values() if inspect.isclass(entry))
    codes = {entry.exit_code for entry in classes if issubclass(entry, errors.StereometerError)}
    sentences = {int(code): about for code, about in DESCRIPTIONS["exit_codes"].items()}
    return {code: sentences.get(code, UNDESCRIBED) for code in sorted(codes | sentences.keys())}


def exit_codes_page() -> str:
    text = "# Exit codes\n\n" + FROM_CODE
    text += _table(
        ("code", "meaning"), ((str(code), about) for code, about in exit_codes().items())
    )
    return text + "\nAn error is one line on standard error that begins with `error:`.\n"


def pack_page() -> str:
    """Every field of a pack, as its schema has it."""
    from stereometer.wings.packs.schema import PARTS, SEPARATORS

    text = "# pack.toml\n\n" + FROM_CODE
    text += "What a [pack](../howto/packs.md) says of a set in another language. Other fields are"
    text += " refused, and so is a file of more than 256 kB.\n\n"
    for part in PARTS:
        text += f"## {_paragraph(part.__doc__).rstrip('.')}\n\n" if part is not PARTS[0] else ""
        rows = [
            (
                f"`{field.alias or name}`",
                _pack_value(field),
                " ".join((field.description or "").split()),
            )
            for name, field in part.model_fields.items()
        ]
        text += _table(("field", "value", "meaning"), rows) + "\n"
    names = ", ".join(f"`{name}`" for name in SEPARATORS)
    return text + f"A separator is one of {names}, or empty.\n"


def _pack_value(field: Any) -> str:
    if field.is_required():
        return "required"
    default = field.default
    if isinstance(default, str | bool) and default != "":
        return f"`{str(default).lower() if isinstance(default, bool) else default}` by default"
    return "optional"


PAGES: Mapping[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "python.md": python_page,
    "catalog.md": catalog_page,
    "metrics.md": metrics_page,
    "json.md": json_page,
    "exit-codes.md": exit_codes_page,
    "pack.md": pack_page,
}

if __name__ == "__main__":
    main()
