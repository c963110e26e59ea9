"""Base, controls and methods of mitigation side by side, for the default models.

    python -m bench.mitigation TEXT [--model NAME ...] [--method LABEL ...] [--seeds N] [--limit N]
                               [--out FOLDER] [--steps]

Every step (a fit, or a run of one system) is a process of its own, timed, its peak memory noted,
and kept in a file: a step that is there is not done again, so that the bench can be stopped at any
moment. `--steps` lists what is left. The table is printed from whatever is there. Further seeds are
for methods in which something is random, and are measured on the gender slices alone.
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
from typing import Any

from stereometer.files import read_json, read_lines

MODELS = ("minilm-mlm", "smollm2-135m")
BENCHMARKS = ("stereoset", "crows-pairs", "winobias")
FITTED = {
    "leace": ("leace",),
    "inlp": ("inlp",),
    "inlp-paper": ("inlp", "--variant", "paper"),
    "sentence-debias": ("sentence-debias",),
    "sentence-debias-paper": ("sentence-debias", "--variant", "paper"),
    "self-debias": ("self-debias",),
    "cda": ("cda",),
    "dropout": ("cda", "--dropout", "0.15"),
}
"""By label, what `mitigate` is asked; methods that this version does not have are passed over."""
IN_FOLDERS = ("cda", "dropout")
WITHOUT_TEXT = ("self-debias",)


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
        started = time.perf_counter()
        with self.record.with_suffix(".log").open("w") as log:
            command = [sys.executable, "-m", "stereometer", *self.command, "--json"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
            assert process.stdout is not None
            said = process.stdout.read()
            _, status, used = os.wait4(process.pid, 0)
        if status:
            return False
        record = {
            "command": list(self.command),
            "date": time.strftime("%Y-%m-%d"),
            "seconds": time.perf_counter() - started,
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
    limit: int | None

    def steps(self) -> Iterator[Step]:
        """Everything with the first seed, then the gender slices with the others."""
        for model in self.models:
            yield self._measured(model, "base", model, 0)
            for seed in range(self.seeds):
                for label in self.methods:
                    if seed and label in WITHOUT_TEXT:
                        continue
                    yield self._fit(model, label, seed)
                    for name, spec in self.systems(model, label, seed).items():
                        yield self._measured(model, name, spec, seed)

    def systems(self, model: str, label: str, seed: int) -> dict[str, str]:
        """The method and its control, as specs of models."""
        path = self._file(model, label, seed)
        control = path.with_name(f"{path.stem}.control{path.suffix}")
        return {label: f"{model}+{path}", f"{label}, control": f"{model}+{control}"}

    def _file(self, model: str, label: str, seed: int) -> Path:
        suffix = "" if label in IN_FOLDERS else ".safetensors"
        return self.out / model / f"{label}-{seed}{suffix}"

    def fit_record(self, model: str, label: str, seed: int) -> Path:
        return self.out / model / f"fit-{label}-{seed}.json"

    def run_record(self, model: str, name: str, seed: int) -> Path:
        return self.out / model / f"run-{name.replace(', ', '-')}-{seed}.json"

    def _fit(self, model: str, label: str, seed: int) -> Step:
        method, *more = FITTED[label]
        text = () if label in WITHOUT_TEXT else ("--text", str(self.text), "--seed", str(seed))
        command = ("mitigate", method, "-m", model, "--attribute", "gender", *text, *more)
        states = () if label in WITHOUT_TEXT else ("--states", str(self.out / model / "states"))
        out = (*states, "--out", str(self._file(model, label, seed)))
        return Step(self.fit_record(model, label, seed), (*command, *out))

    def _measured(self, model: str, name: str, spec: str, seed: int) -> Step:
        limit = ("--limit", str(self.limit)) if self.limit else ()
        out = ("--out", str(self.out / model / "runs"))
        items = BENCHMARKS if not seed else tuple(map(str, self._gender()))
        return Step(self.run_record(model, name, seed), ("run", *items, "-m", spec, *limit, *out))

    def _gender(self) -> tuple[Path, Path]:
        """The gender items of StereoSet and CrowS-Pairs as files of their own."""
        cats, pairs = self.out / "gender-cats.json", self.out / "gender-pairs.csv"
        data = Path(os.environ["STEREOMETER_DATA"])
        self.out.mkdir(parents=True, exist_ok=True)
        if not cats.exists():
            whole = read_json(data / "stereoset" / "dev.json.gz")
            for items in whole["data"].values():
                items[:] = [item for item in items if item["bias_type"] == "gender"]
            cats.write_text(json.dumps(whole))
        if not pairs.exists():
            rows = csv.DictReader(read_lines(data / "crows_pairs" / "crows_pairs_anonymized.csv"))
            with pairs.open("w", newline="") as file:
                writer = csv.DictWriter(file, rows.fieldnames or ())
                writer.writeheader()
                writer.writerows(row for row in rows if row["bias_type"] == "gender")
        return cats, pairs


# -------------------------------------------------------------------------------------------- table

COLUMNS: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    ("ss, gender", "stereoset", "ss", {"domain": "gender"}),
    ("ss", "stereoset", "ss", {}),
    ("lms", "stereoset", "lms", {}),
    ("CrowS, gender", "crows-pairs", "preference", {"domain": "gender"}),
    ("CrowS", "crows-pairs", "preference", {}),
    ("WinoBias", "winobias", "preference", {}),
)


def table(plan: Plan, model: str) -> str:
    names = [name for name, *_ in COLUMNS]
    head = ["system", *names, "perplexity", "probe", "fit s", "run s", "peak MB"]
    lines = [head, ["---"] * len(head), _row(plan, model, "base", "")]
    for label in plan.methods:
        for number, name in enumerate(plan.systems(model, label, 0)):
            lines.append(_row(plan, model, name, label, number))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _row(plan: Plan, model: str, name: str, label: str, number: int = 0) -> list[str]:
    measured = _read(plan.run_record(model, name, 0))
    fitted = _read(plan.fit_record(model, label, 0)) if label else {}
    cards = fitted.get("said", {}).get("cards", [])
    card = cards[number] if number < len(cards) else {}
    values = [_value(measured, *column[1:]) for column in COLUMNS]
    peak = max(measured.get("peak_mb", 0), fitted.get("peak_mb", 0))
    times = [f"{part['seconds']:.0f}" if part else "" for part in (fitted, measured)]
    return [name, *values, *_costs(card), *times, f"{peak:.0f}" if peak else ""]


def _costs(card: dict[str, Any]) -> list[str]:
    ratio = (card.get("perplexity") or {}).get("ratio")
    probe = card.get("probe")
    return [
        f"{ratio['value']:.3f} [{ratio['low']:.3f}, {ratio['high']:.3f}]" if ratio else "",
        f"{probe['before']['value']:.1f} → {probe['after']['value']:.1f}" if probe else "",
    ]


def _value(record: dict[str, Any], benchmark: str, name: str, where: dict[str, str]) -> str:
    for result in record.get("said", {}).get("results", []):
        for each in result["estimates"]:
            if (result["benchmark"], each["name"], each["slice"]) == (benchmark, name, where):
                if each["value"] is None:
                    return "-"
                return f"{each['value']:.1f} [{each['low']:.1f}, {each['high']:.1f}]"
    return ""


def _read(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return value


def main() -> None:
    from stereometer import catalog

    known = set(catalog.names("mitigation"))
    methods = [label for label, (method, *_) in FITTED.items() if method in known]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text", type=Path)
    parser.add_argument("--model", nargs="+", default=MODELS)
    parser.add_argument("--method", nargs="+", default=methods, choices=methods)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "out" / "mitigation")
    parser.add_argument("--steps", action="store_true")
    asked = parser.parse_args()
    plan = Plan(asked.text, asked.out, asked.model, asked.method, asked.seeds, asked.limit)
    for step in plan.steps():
        if not step.done and (asked.steps or not step.run()):
            print("to do:" if asked.steps else "failed:", *step.command, flush=True)
    for model in plan.models:
        print(f"\n{model}\n\n{table(plan, model)}")


if __name__ == "__main__":
    main()
