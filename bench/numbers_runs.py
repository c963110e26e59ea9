"""The runs behind `bench.numbers`: a table of command lines, made one after another in a temporary
folder. What a command writes to the folder of its own name belongs to it, and later lines read it
from there; words with `*` are patterns, as in a shell."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

from bench.command import stereometer
from bench.numbers_files import materials

FEW = """
random       run starter -m random
fake         run starter -m fake
compared     compare random/*cat* fake/*cat*
gated        gate fake/*pair* --bars bars.toml
replayed     replay own-scores.jsonl --benchmark own-pairs.csv --data own-pairs.csv
"""
BASELINES = """
ideal        run starter -m ideal --require icat>=70
stereotyped  run starter -m stereotyped --require |ss-50|<=5
sentiment    run starter -m sentiment
seeded       run starter -m random --seed 7 --delta 8 --coverage 0.5
limited      run starter -m random -m fake --limit 40 --seed 3
paper        run starter -m fake --variant paper
cats         run starter -m fake --measure cat-likelihood --measure cat-sum-likelihood --limit 150
pairs        run starter -m fake --measure pair-modified-likelihood --measure pair-random-masks-likelihood --measure pair-all-masks-likelihood --limit 60
sentences    run starter -m fake --measure pair-sentence-likelihood --measure pair-sentence-mean-likelihood --measure pair-after-change-likelihood
facts        run definitional -m fake
facts-random run definitional -m random
german       run abc-german -m fake --limit 400
own          run own-pairs.csv -m fake
own-cats     run own-cats.csv -m fake --variant paper
early        run starter -m random --require ss<=80 --until-decided
early-pairs  run starter -m fake --measure pair-likelihood --require pair_preference<=20 --until-decided
early-point  run starter -m fake --measure cat-likelihood --require point(ss)<=40 --until-decided
early-out    run starter -m random --measure cat-pseudo-likelihood --require |ss-50|<=1 --until-decided
"""
TINY = """
bert         run starter -m tiny/bert --limit 60
bert-words   run starter -m tiny/bert --limit 40 --within-word
bert-masks   run starter -m tiny/bert --limit 20 --measure cat-likelihood --measure cat-sum-likelihood --measure pair-modified-likelihood --measure pair-random-masks-likelihood --measure pair-all-masks-likelihood
gpt2         run starter -m tiny/gpt2 --limit 60
gpt2-paper   run starter -m tiny/gpt2 --limit 60 --variant paper --measure cat-likelihood --measure pair-sentence-likelihood
gpt2-all     run starter -m tiny/gpt2 --limit 60 --measure cat-likelihood --measure cat-pseudo-likelihood --measure pair-sentence-mean-likelihood --measure pair-after-change-likelihood
llama-paper  run starter -m tiny/llama --limit 60 --variant paper --measure cat-likelihood --measure pair-sentence-likelihood
llama        run starter -m tiny/llama --limit 60
facts-bert   run definitional -m tiny/bert
facts-llama  run definitional -m tiny/llama
set          run abc -m tiny/bert --measure set --measure ilps --measure ilps-star --groups {groups} --templates the,plain
set-paper    run abc -m tiny/bert --measure set --groups {groups} --templates the,plain --variant paper --no-synonyms
set-causal   run abc -m tiny/gpt2 --measure causal-set --measure causal-ilps --groups {groups} --templates the,plain
ceat         run abc -m tiny/bert --measure ceat --measure ceat-two-group --groups woman,man,doctor --text text.jsonl
set-fake     run abc -m fake --measure set --groups {groups} --templates the,plain
crossed      intersect -m tiny/bert --groups woman,doctor,teenager,Asian
"""
ASKED = """
choice       ask starter -m fake --limit 40
choice-llama ask starter -m tiny/llama --limit 6
survey       ask survey -m fake --scales 4 --repeats 2
survey-llama ask survey -m tiny/llama --scales 1 --repeats 2 --limit 16
comments     ask comments.csv -m fake {columns} --size 6 --repeats 3
comments-paper ask comments.csv -m fake {columns} --size 6 --repeats 2 --variant paper --setting zero-shot
comments-llama ask comments.csv -m tiny/llama {columns} --size 4 --repeats 2 --setting zero-shot --likelihood
misspelt     ask comments.csv -m fake {columns} --setting misspelling --edits edits.csv
answers      replay answers.csv --benchmark ethos --setting zero-shot --column comment=text,label=gold
"""
AFTERWARDS = """
all-pairs    compare random/*cat* fake/*cat* ideal/*cat* stereotyped/*cat* --all-pairs --every-slice
of-pairs     compare fake/*pair* stereotyped/*pair*
of-facts     compare facts/* facts-random/*
of-models    compare gpt2/*cat* llama/*cat* --seed 5
gate-against gate fake --bars against.toml --against stereotyped
aligned      align set/*-set* --ratings ratings.csv
aligned-pilot align set-fake/* --ratings ratings.csv --pilot --pilot-groups woman,man,doctor
aligned-by   align set/*ilps-star* --ratings ratings.csv --scale 0-100 --by gender --demographics demographics.csv
aligned-some align set-causal/*causal-set* --ratings ratings.csv --templates plain --raters gender=woman --demographics demographics.csv
aligned-survey align set-fake/* --ratings survey/*
swept        sweep starter -m tiny/bert -m tiny/gpt2 --measure cat-likelihood --measure cat-pseudo-likelihood --measure pair-likelihood --measure pair-after-change-likelihood --limit 40
swept-runs   sweep starter --run random --run fake
ensemble     ensemble random/*cat* fake/*cat* --folds 3
ensemble-paper ensemble gpt2-paper/*cat* llama-paper/*cat* --weights intrasentence=1,2 --weights intersentence=3,1
ensemble-pairs ensemble random/*pair* sentiment/*pair*
related      relate random/*cat* fake/*cat* ideal/*cat* stereotyped/*cat* --facts facts.csv
calibrated   calibrate cats/*cat-likelihood* choice/*cat*
series       run starter -m tiny/step* --limit 40
series-page  report series -o series-page/report.html
leace        mitigate leace -m tiny/bert --attribute gender --text text.jsonl --out leace/leace.safetensors
mitigated    run starter definitional -m tiny/bert -m tiny/bert+leace/leace.safetensors -m tiny/bert+leace/leace.control.safetensors --limit 60
judged       compare mitigated/starter-bert-cat* mitigated/starter-*leace-cat* --control mitigated/starter-*control*cat*
analyzed     analyze starter --run fake/*cat*
audited      audit starter --run fake/*cat* --run random/*pair*
shown        show starter
shown-run    show fake --slices
labelled     aggregate labels.csv --items own-pairs.csv --rule majority --out labelled
terms        terms wikidata.csv --property P106 --out terms/terms.csv
split        split starter --out split --share 0.25
csv          export csv fake random/*cat* set/*-set* -o csv
metrics      export metrics fake comments/*zero-shot* -o metrics
figures      export figures fake -o figures
eee          export eee fake/*cat* -o eee --items
lm-eval      export lm-eval fake -o lm-eval
inspect      export inspect fake -o inspect --items
from-lm-eval replay samples.jsonl --format lm-eval --benchmark own-pairs.csv --data own-pairs.csv
from-inspect replay inspect/*pair*.json --format inspect --benchmark starter
from-eee     replay eee/**/*_samples.jsonl --format eee --benchmark starter
board        board build fake random -o board
bundle       submit fake/*cat* -o bundle
published    published stereoset
"""
DATA = """
ss-bert      replay {data}/stereoset/predictions/*bert-base* --benchmark stereoset --name bert
ss-gpt2      replay {data}/stereoset/predictions/*gpt2* --benchmark stereoset --name gpt2
ss-roberta   replay {data}/stereoset/predictions/*roberta* --benchmark stereoset --name roberta
ss-xlnet     replay {data}/stereoset/predictions/*xlnet* --benchmark stereoset --name xlnet
ss-sentiment replay {data}/stereoset/predictions/*Sentiment* --benchmark stereoset --name sentiment
ss-paper     replay {data}/stereoset/predictions/*bert-base* --benchmark stereoset --name bert-base-cased --variant paper
ss-paper-too replay {data}/stereoset/predictions/*gpt2* --benchmark stereoset --name gpt2 --variant paper
ss-fake      run stereoset -m fake --limit 300
ss-like      run stereoset -m random --like-paper --variant paper
ss-early     run stereoset -m random --measure cat-likelihood --require ss<=70 --until-decided
ss-compared  compare ss-bert/* ss-gpt2/* ss-roberta/* --every-slice
ss-gate      gate ss-gpt2/* --bars against-cats.toml --against ss-bert/*
ss-related   relate ss-bert/* ss-gpt2/* ss-roberta/* ss-xlnet/* ss-sentiment/*
ss-ensemble  ensemble ss-bert/* ss-gpt2/* --folds 3
ss-both      ensemble ss-paper/* ss-paper-too/*
ss-swept     sweep stereoset --run ss-bert/* --run ss-gpt2/*
ss-audited   audit stereoset --run ss-gpt2/*
ss-shown     show stereoset
crows-bert   replay {data}/crows_pairs/results_bert.csv --benchmark crows-pairs --measure pair-likelihood
crows        run crows-pairs -m random -m fake --measure pair-sentence-likelihood
crows-fake   run crows-pairs -m fake --like-paper --variant paper
crows-set    compare crows/*random* crows/*fake*
crows-swept  sweep crows-pairs --run crows-fake
crows-audit  audit crows-pairs --run crows/*random*
revised      run crows-pairs-revised -m random
wino         run winobias winobias-test -m fake
packs        run crows-pairs-french crows-pairs-dutch stereoset-portuguese -m fake --limit 200
ethos        ask ethos -m fake --size 8 --repeats 2
ethos-paper  ask ethos -m fake --size 8 --repeats 2 --variant paper --setting zero-shot --setting misspelling
ethos-said   replay ethos.csv --benchmark ethos --setting zero-shot
aligned-data align set/*-set* --ratings {data}/abc/data_full.json
"""
MODELS = """
smollm2      run starter -m smollm2-135m --limit 20
minilm       run starter -m minilm-mlm --limit 20
minilm-set   run abc -m minilm-mlm --measure set --groups woman,man,doctor --templates the
"""
STATISTICS = "--resamples 200"
WRITES = f"{STATISTICS} --out {{name}}"
ANSWERS = f"{WRITES} --threads 1"
ADDED = {
    **dict.fromkeys(["run", "ask", "sweep", "intersect"], ANSWERS),
    **dict.fromkeys(["replay", "ensemble", "align"], WRITES),
    **dict.fromkeys(["compare", "gate", "relate", "analyze", "audit"], STATISTICS),
    "mitigate": "--threads 1",
}
"""What every line of a command has besides what the table says."""
PLACES = {
    "groups": "woman,man,doctor,teenager,Asian,elderly,immigrant",
    "columns": "--column comment=text,label=gold --category rude,kind",
}
PASSING = re.compile(r"\d{4}-\d\d-\d\dT[-+\d]+_|_?[0-9a-f]{8}-?[-0-9a-f]{14,}")
"""Times and digests in names of files."""
ENDS = (0, 3, 5, 7)
"""Exit codes of a line that was carried out: nothing could be scored (3), a bar is missed (5) or
undecided (7)."""


@dataclass(frozen=True)
class Case:
    """One line of the table, carried out."""

    name: str
    code: int
    printed: Any
    files: tuple[tuple[str, Path], ...]


def outcomes(few: bool) -> Iterator[Case]:
    """Every case, while its files are still there."""
    with _place():
        materials(few)
        for line in _lines(few):
            name, *words = line.format(**PLACES, data=os.environ.get("STEREOMETER_DATA")).split()
            yield _case(name, words)


def _lines(few: bool) -> Iterator[str]:
    tables = [FEW] if few else [FEW, BASELINES, TINY, ASKED, AFTERWARDS]
    if not few and _left_out("released data", "STEREOMETER_DATA" in os.environ):
        tables.append(DATA)
    if not few and _left_out("the default models", _has_models()):
        tables.append(MODELS)
    return (line for table in tables for line in table.strip().splitlines())


def _left_out(what: str, there: bool) -> bool:
    if not there:
        print(f"left out: what needs {what}", file=sys.stderr)
    return there


def _has_models() -> bool:
    from platformdirs import user_cache_path

    default = user_cache_path("stereometer", appauthor=False) / "models"
    folder = Path(os.environ.get("STEREOMETER_MODELS") or default)
    return all([*folder.glob(f"{name}-*")] for name in ("smollm2-135m", "minilm-mlm"))


@contextmanager
def _place() -> Iterator[None]:
    """A folder, a cache and a data folder of our own; what was there before stands again after."""
    before, environment = Path.cwd(), dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= _environment(folder)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            os.environ.clear()
            os.environ |= environment


def _environment(folder: str) -> Mapping[str, str]:
    return {
        "STEREOMETER_CACHE": f"{folder}/cache",
        "XDG_DATA_HOME": f"{folder}/data",
        "HF_HUB_OFFLINE": "1",
        "COLUMNS": "200",
    }


def _case(name: str, words: list[str]) -> Case:
    found = stereometer(_expanded([*words, *_more(name, words[0])]))
    if found.code not in ENDS:
        raise SystemExit(f"{name}: {' '.join(words)}\nended with {found.code}: {found.err}")
    return Case(name, found.code, json.loads(found.out), tuple(_files(Path(name))))


def _more(name: str, command: str) -> Iterable[str]:
    return f"{ADDED.get(command, '')} --json".format(name=name).split()


def _expanded(words: Iterable[str]) -> list[str]:
    """A pattern stands for what it finds, except the series of models, which is given as it is."""
    return [found for word in words for found in _found(word)]


def _found(word: str) -> list[str]:
    if "*" not in word or word.startswith("tiny/"):
        return [word]
    found = sorted(glob(word, recursive=True))
    if not found:
        raise SystemExit(f"nothing is called {word}")
    return found


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            yield PASSING.sub("", path.relative_to(folder).as_posix()), path
