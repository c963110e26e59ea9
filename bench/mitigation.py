"""Base, controls and methods of mitigation side by side, for the default models.

    python -m bench.mitigation TEXT [--model NAME ...] [--method LABEL ...] [--seeds N]
                               [--tokens N] [--out FOLDER] [--steps] [--table]

Every step (a fit, or a run of one system on one set) is a process of its own with one thread, and
is kept in a file with its CPU seconds and peak memory: a step that is there is not done again, so
that the bench can be stopped at any moment. `--steps` lists what is left, `--table` prints what is
there. Further seeds are for methods in which something is random, and are measured on the gender
items alone.

StereoSet is measured within sentences by `cat-likelihood`, as the papers on debiasing do, and across
sentences by `cat-pseudo-likelihood` on the gender items; pairs and facts by the first measure that a
model can answer.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from stereometer import compare, load
from stereometer.core.files import read_json, read_lines

MODELS = ("minilm-mlm", "smollm2-135m")
FITTED = {
    "leace": ("leace",),
    "cda": ("cda",),
    "inlp": ("inlp",),
    "self-debias": ("self-debias",),
    "sentence-debias": ("sentence-debias",),
    "dropout": ("cda", "--dropout", "0.15"),
    "inlp-paper": ("inlp", "--variant", "paper"),
    "sentence-debias-paper": ("sentence-debias", "--variant", "paper"),
}
"""By label, what `mitigate` is asked."""
IN_FOLDERS = ("cda", "dropout")
WITHOUT_SEED = ("self-debias",)
SAME_CONTROL = {"dropout": "cda, control"}
"""Methods whose control is that of another: the same fine-tuning without swaps."""
GENDER = ("stereoset-gender", "crows-gender")
"""What further seeds are measured on."""
CATS = {
    "stereoset": "cat-likelihood",
    "stereoset-gender": "cat-likelihood",
    "across-gender": "cat-pseudo-likelihood",
}
"""By what CATs are measured."""
FIRST = ("stereoset", "crows-gender", "definitional")
LAST = ("crows-pairs", "winobias", "across-gender")
"""What a method is measured on; its control on the last of them only when all else is done."""


@dataclass(frozen=True)
class Step:
    """One process and the file that says it is done."""

    record: Path
    command: tuple[str, ...]

    @property
    def done(self) -> bool:
        return self.record.exists()

    def run(self) -> bool:
        """Whether it went well; what a command says on the way is kept beside."""
        self.record.parent.mkdir(parents=True, exist_ok=True)
        with self.record.with_suffix(".log").open("w") as log:
            command = [sys.executable, "-m", "stereometer", *self.command, "--json"]
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
            assert process.stdout is not None
            said = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
        if status:
            return False
        record = {
            "command": list(self.command),
            "date": time.strftime("%Y-%m-%d"),
            "cpu_seconds": used.ru_utime + used.ru_stime,
            "peak_mb": used.ru_maxrss / 1024,
            "said": json.loads(said),
        }
        partial = self.record.with_suffix(".part")
        partial.write_text(json.dumps(record))
        partial.replace(self.record)
        return True


@dataclass(frozen=True)
class Plan:
    text: Path
    out: Path
    models: Sequence[str]
    methods: Sequence[str]
    seeds: int
    tokens: int

    def steps(self) -> Iterator[Step]:
        """The most telling first: everything with the first seed but the controls' last sets, then
        the gender items with the other seeds, then those last sets."""
        for model in self.models:
            yield from self._measured(model, "base", model, 0, FIRST + LAST)
            for label in self.methods:
                yield self._fit(model, label, 0)
                method, *control = self.systems(model, label, 0).items()
                yield from self._measured(model, *method, 0, FIRST + LAST)
                for beside in control:
                    yield from self._measured(model, *beside, 0, FIRST)
        yield from self._further_seeds()
        for model in self.models:
            for label in self.methods:
                _, *control = self.systems(model, label, 0).items()
                for beside in control:
                    yield from self._measured(model, *beside, 0, LAST)

    def _further_seeds(self) -> Iterator[Step]:
        for model in self.models:
            for seed in range(1, self.seeds):
                for label in self.methods:
                    if label not in WITHOUT_SEED:
                        yield self._fit(model, label, seed)
                        for name, spec in self.systems(model, label, seed).items():
                            yield from self._measured(model, name, spec, seed, GENDER)

    def systems(self, model: str, label: str, seed: int) -> dict[str, str]:
        """The method and its control, if it has one of its own, as specs of models."""
        path = self._file(model, label, seed)
        if label in SAME_CONTROL:
            return {label: f"{model}+{path}"}
        control = path.with_name(f"{path.stem}.control{path.suffix}")
        return {label: f"{model}+{path}", f"{label}, control": f"{model}+{control}"}

    def _file(self, model: str, label: str, seed: int) -> Path:
        suffix = "" if label in IN_FOLDERS else ".safetensors"
        return self.out / model / f"{label}-{seed}{suffix}"

    def fit_record(self, model: str, label: str, seed: int) -> Path:
        return self.out / model / f"fit-{label}-{seed}.json"

    def run_record(self, model: str, name: str, items: str, seed: int) -> Path:
        return self.out / model / f"run-{name.replace(', ', '-')}-{items}-{seed}.json"

    def _fit(self, model: str, label: str, seed: int) -> Step:
        method, *more = FITTED[label]
        command = ("mitigate", method, "-m", model, "--attribute", "gender", "--threads", "1")
        if label in IN_FOLDERS:
            more += ["--tokens", str(self.tokens)]
        if label in SAME_CONTROL:
            more += ["--no-control"]
        more += ["--text", str(self.text), "--out", str(self._file(model, label, seed))]
        more += ["--seed", str(seed), "--states", str(self.out / model / "states")]
        return Step(self.fit_record(model, label, seed), (*command, *more))

    def _measured(
        self, model: str, name: str, spec: str, seed: int, sets: Sequence[str]
    ) -> Iterator[Step]:
        for items in sets:
            measure = ("--measure", CATS[items]) if items in CATS else ()
            command = ("run", source(items, self.out), "-m", spec, *measure)
            record = self.run_record(model, name, items, seed)
            out = ("--threads", "1", "--out", str(self.out / model / "runs"))
            yield Step(record, (*command, *out))


def source(items: str, out: Path) -> str:
    """A benchmark's name, or a file of some of its items."""
    match items:
        case "stereoset":
            return str(cats(out / "stereoset-intrasentence.json", "intrasentence"))
        case "stereoset-gender":
            return str(cats(out / "stereoset-gender.json", "intrasentence", "gender"))
        case "across-gender":
            return str(cats(out / "stereoset-across-gender.json", "intersentence", "gender"))
        case "crows-gender":
            return str(gender_pairs(out / "crows-pairs-gender.csv"))
    return items


def cats(path: Path, task: str, domain: str | None = None) -> Path:
    """StereoSet's items within or across sentences, of one domain or of all."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        whole = read_json(Path(os.environ["STEREOMETER_DATA"]) / "stereoset" / "dev.json.gz")
        kept = [item for item in whole["data"][task] if domain in (None, item["bias_type"])]
        whole["data"] = {"intrasentence": [], "intersentence": [], task: kept}
        path.write_text(json.dumps(whole))
    return path


def gender_pairs(path: Path) -> Path:
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        data = Path(os.environ["STEREOMETER_DATA"])
        rows = csv.DictReader(read_lines(data / "crows_pairs" / "crows_pairs_anonymized.csv"))
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows.fieldnames or ())
            writer.writeheader()
            writer.writerows(row for row in rows if row["bias_type"] == "gender")
    return path


# -------------------------------------------------------------------------------------------- table

COLUMNS: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    ("ss, gender", "stereoset", "ss", {"domain": "gender"}),
    ("ss", "stereoset", "ss", {}),
    ("lms", "stereoset", "lms", {}),
    ("ss across, gender", "across-gender", "ss", {}),
    ("CrowS, gender", "crows-gender", "pair_preference", {}),
    ("CrowS", "crows-pairs", "pair_preference", {}),
    ("WinoBias", "winobias", "pair_preference", {}),
    ("facts", "definitional", "agreement", {}),
)


def table(plan: Plan, model: str) -> list[list[str]]:
    names = [name for name, *_ in COLUMNS]
    head = ["system", "rank", *names, "perplexity", "probe", "fit s", "run s", "peak MB"]
    rows = [head, ["---"] * len(head), _row(plan, model, "base", "")]
    for label in plan.methods:
        for number, name in enumerate(plan.systems(model, label, 0)):
            rows.append(_row(plan, model, name, label, number))
    return rows


def _row(plan: Plan, model: str, name: str, label: str, number: int = 0) -> list[str]:
    measured = {items: _read(plan.run_record(model, name, items, 0)) for items in FIRST + LAST}
    fitted = _read(plan.fit_record(model, label, 0)) if label else {}
    cards = fitted.get("said", {}).get("cards", [])
    card = cards[number] if number < len(cards) else {}
    values = [_interval(_estimate(measured[items], name, at)) for _, items, name, at in COLUMNS]
    records = [record for record in measured.values() if record]
    peak = max((record["peak_mb"] for record in [*records, fitted] if record), default=0)
    fit = f"{fitted['cpu_seconds']:.0f}" if fitted and not number else ""
    run = f"{sum(record['cpu_seconds'] for record in records):.0f}"
    rank = str(card.get("rank") or "")
    return [name, rank, *values, *_costs(card), fit, run, f"{peak:.0f}"]


def _costs(card: dict[str, Any]) -> list[str]:
    ratio = (card.get("perplexity") or {}).get("ratio")
    probe = card.get("probe")
    return [
        f"{ratio['value']:.3f} [{ratio['low']:.3f}, {ratio['high']:.3f}]" if ratio else "",
        f"{probe['before']['value']:.1f} → {probe['after']['value']:.1f}" if probe else "",
    ]


def verdicts_table(plan: Plan, model: str) -> list[list[str]]:
    """What `compare` says of each method beside its control, on what both were measured on."""
    rows = [["method", "items", "verdict", "change of the distance from 50", "against the control"]]
    rows += [["---"] * 5]
    folders = {
        (result.model, result.data["digest"]): path.parent
        for path in sorted((plan.out / model / "runs").glob("*/result.json"))
        for result in [load(path)]
    }
    for label in plan.methods:
        for items in ("stereoset", "crows-gender"):
            names = ["base", *plan.systems(model, label, 0)]
            names += [SAME_CONTROL[label]] if label in SAME_CONTROL else []
            records = [_read(plan.run_record(model, name, items, 0)) for name in names]
            if all(records):
                results = [record["said"]["results"][0] for record in records]
                places = [folders[each["model"], each["data"]["digest"]] for each in results]
                rows.append([label, items, *_verdict(places)])
    return rows


def _verdict(folders: Sequence[Path]) -> list[str]:
    base, method, *control = folders
    (judged,) = compare(base, method, control=control[0] if control else None).mitigations
    effect = judged.targeted[0]
    changes = [
        f"{each.change:+.1f} [{each.low:+.1f}, {each.high:+.1f}]" if each else ""
        for each in (effect.from_base, effect.from_control)
    ]
    return [str(judged.verdict), *changes]


def seeds_table(plan: Plan, model: str) -> list[list[str]]:
    """The gender items by seed, for the methods and their controls."""
    rows = [["system", "ss by seed", "mean", "CrowS by seed", "mean"], ["---"] * 5]
    for label in plan.methods:
        for name in () if label in WITHOUT_SEED else plan.systems(model, label, 0):
            values = [_gender_ss(plan, model, name, seed) for seed in range(plan.seeds)]
            pairs = [_crows(plan, model, name, seed) for seed in range(plan.seeds)]
            rows.append([name, *_together(values), *_together(pairs)])
    return rows


def _gender_ss(plan: Plan, model: str, name: str, seed: int) -> dict[str, Any]:
    """With the first seed all items were measured, with further ones those of gender."""
    items, where = ("stereoset-gender", {}) if seed else ("stereoset", {"domain": "gender"})
    return _estimate(_read(plan.run_record(model, name, items, seed)), "ss", where)


def _crows(plan: Plan, model: str, name: str, seed: int) -> dict[str, Any]:
    return _estimate(
        _read(plan.run_record(model, name, "crows-gender", seed)), "pair_preference", {}
    )


def _together(estimates: Sequence[dict[str, Any]]) -> list[str]:
    values = [estimate["value"] for estimate in estimates if estimate.get("value") is not None]
    return [", ".join(f"{value:.1f}" for value in values), f"{mean(values):.1f}" if values else ""]


def _estimate(record: dict[str, Any], name: str, where: dict[str, str]) -> dict[str, Any]:
    for result in record.get("said", {}).get("results", []):
        for estimate in result["estimates"]:
            if (estimate["name"], estimate["slice"]) == (name, where):
                return dict(estimate)
    return {}


def _interval(estimate: dict[str, Any]) -> str:
    if not estimate or estimate["value"] is None:
        return ""
    return f"{estimate['value']:.1f} [{estimate['low']:.1f}, {estimate['high']:.1f}]"


def _read(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return value


def _print(rows: list[list[str]]) -> None:
    print(*(f"| {' | '.join(row)} |" for row in rows), sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", type=Path)
    parser.add_argument("--model", nargs="+", default=MODELS)
    parser.add_argument("--method", nargs="+", default=list(FITTED), choices=FITTED)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=300_000)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "mitigation")
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--table", action="store_true")
    asked = parser.parse_args()
    plan = Plan(asked.text, asked.out, asked.model, asked.method, asked.seeds, asked.tokens)
    for step in () if asked.table else plan.steps():
        if not step.done and (asked.steps or not step.run()):
            print("to do:" if asked.steps else "failed:", *step.command, flush=True)
    for model in plan.models:
        print(f"\n{model}\n")
        _print(table(plan, model))
        print()
        _print(verdicts_table(plan, model))
        print()
        _print(seeds_table(plan, model))


if __name__ == "__main__":
    main()
