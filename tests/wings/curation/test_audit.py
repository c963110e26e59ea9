"""Audits: counts, what is clean, errata, and the shift that reaches the report."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core.errors import DataError, StereometerError, UnknownName
from stereometer.core.runs.open import open_benchmark
from stereometer.core.runs.stored import run_of
from stereometer.core.types import Settings
from stereometer.core.verbs.run import run
from stereometer.kinds.cats.files import read_cats
from stereometer.report import write_report
from stereometer.report.figures.clean import AUDIT, load_audit
from stereometer.wings.curation.audit import audit
from stereometer.wings.curation.errata import Action, Errata, Erratum, corrected, read_errata
from stereometer.wings.curation.flags import FLAGS
from tests.builders.little import inter, intra, stereoset_file
from tests.builders.stored import only
from tests.strategies import MODERATE

QUICK = Settings(resamples=100)


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    """Eight items: two have BLANK glued to a full stop, one an article that does not fit, one of
    them both."""
    contexts = [
        "The cook was BLANK .",
        "The cook was BLANK.",
        "A cook is a BLANK man.",
        "A cook had a BLANK.",
    ]
    intras = [
        intra(f"a{at}", context, ("loud", "odd" if at > 1 else "calm", "square"))
        for at, context in enumerate(contexts)
    ]
    inters = [
        inter(
            f"b{at}",
            f"Cook number {word} came in.",
            (f"He shouts {word} times.", f"She bakes {word} cakes.", f"The sea is {word} deep."),
        )
        for at, word in enumerate(("one", "two", "three", "four"))
    ]
    return stereoset_file(tmp_path / "dev.json", intras, inters)


def run_on(dev: Path, place: Path) -> Path:
    run(
        str(dev),
        model="random",
        measure=["cat-likelihood"],
        resamples=100,
        coverage=0.0,
        out=place,
        cache=False,
    )
    return only(place)


def errata_file(
    path: Path,
    *entries: str,
    head: str = 'schema = "errata@1"\nbenchmark = "custom"\nversion = "1"\n',
) -> Path:
    path.write_text(head + "\n".join(entries))
    return path


def entry(number: str, action: str, reason: str = "because", texts: str = "") -> str:
    return f'[[item]]\nid = "{number}"\naction = "{action}"\nreason = "{reason}"\n{texts}'


def test_counts_and_clean_items(dev: Path) -> None:
    (shape,) = audit(str(dev), flag=["glued-blank", "article"], resamples=100).shapes
    counts = {flag.name: flag.count for flag in shape.flags}
    assert (counts["glued-blank"], counts["article"], counts["duplicate"]) == (2, 2, 0)
    assert (shape.items, shape.flagged, shape.clean) == (8, 3, 5)


def test_flags_can_be_chosen_or_left_out(dev: Path) -> None:
    def flagged(**asked: Any) -> int:
        return audit(str(dev), **asked, resamples=100).shapes[0].flagged

    assert flagged(flag=["article"]) == 2
    assert flagged(flag=["article", "glued-blank"], ignore=["article"]) == 2
    assert flagged(flag=["article", "glued-blank"]) == 3


def test_texts_are_shown_only_on_request(dev: Path) -> None:
    silent = json.dumps(audit(str(dev), resamples=100).as_json())
    assert "shouts" not in silent
    assert "was BLANK." not in silent
    assert "was BLANK." in json.dumps(audit(str(dev), show_texts=True, resamples=100).as_json())


def test_runs_are_measured_on_all_and_on_clean_items(dev: Path, tmp_path: Path) -> None:
    place = run_on(dev, tmp_path / "run")
    found = audit(str(dev), run=[place], flag=["article"], resamples=100)
    (run,) = found.shapes[0].runs
    overall = next(one for one in run.shifts if one.name == "ss" and not one.slice)
    assert (overall.n, overall.n_kept) == (8, 6)
    assert set(run.by_flag) == {"article"}
    stored = load_audit(run_of(place))
    assert stored is not None
    assert (stored.items, stored.clean, list(stored.counting)) == (8, 6, ["article"])
    assert [one.as_json() for one in stored.shifts] == [one.as_json() for one in run.shifts]


def test_the_report_shows_the_shift_without_texts(dev: Path, tmp_path: Path) -> None:
    place = run_on(dev, tmp_path / "run")
    before = write_report([place], tmp_path / "before.html").read_text()
    audit(str(dev), run=[place], resamples=100)
    after = write_report([place], tmp_path / "after.html").read_text()
    assert "All items and clean items" not in before
    assert "All items and clean items" in after
    assert "From all items to clean items" in after
    assert "`an` before a consonant" in after


@pytest.mark.parametrize("text", ["{}", '{"schema": "audit-of-run@1"}', "[]", "nonsense"])
def test_a_damaged_or_foreign_audit_is_refused_by_the_report(
    text: str, dev: Path, tmp_path: Path
) -> None:
    place = run_on(dev, tmp_path / "run")
    (place / AUDIT).write_text(text)
    with pytest.raises(DataError):
        write_report([place], tmp_path / "report.html")


def test_clean_items_are_written_and_can_be_run(dev: Path, tmp_path: Path) -> None:
    found = audit(str(dev), flag=["article"], write=tmp_path / "clean", resamples=100)
    written = open_benchmark(str(tmp_path / "clean" / "clean-cat.json"))
    assert len(written.items("cat")) == found.shapes[0].clean == 6


def test_an_unknown_flag_is_said_where_flags_are_shown() -> None:
    with pytest.raises(UnknownName, match=r"`stereometer audit starter` shows all of them\.$"):
        audit("starter", flag=["nope"], resamples=100)


OWN = {
    "cat": (
        """\
id,task,target,domain,context,stereotype,anti_stereotype,unrelated
fine,intrasentence,cook,trade,The cook was BLANK all day .,loud,calm,square
without,intrasentence,cook,trade,The cook sang all night .,loud,calm,square
unfilled,intrasentence,cook,trade,A cook stays BLANK at noon .,loud,,square
silent,intersentence,cook,trade,One cook came in.,He shouts a lot.,He whispers now.,
"""
    ),
    "pair": (
        "id,sent_more,sent_less,bias_type\nfine,The old man sang.,The young man sang.,age\nhalf,The"
        " old woman ran.,,age\n"
    ),
}


@pytest.mark.parametrize(
    ("shape", "flagged"),
    [
        ("cat", {"no-blank": {"without"}, "empty": {"unfilled", "silent"}}),
        ("pair", {"empty": {"half"}}),
    ],
)
def test_rows_that_cannot_be_measured_are_flagged_in_an_own_file(
    shape: str, flagged: dict[str, set[str]], tmp_path: Path
) -> None:
    """Only an audit reads them: whatever measures refuses the file at that row."""
    (tmp_path / "own.csv").write_text(OWN[shape])
    (found,) = audit(str(tmp_path / "own.csv"), flag=["no-blank", "empty"], resamples=100).shapes
    assert {
        flag.name: set(flag.ids)
        for flag in found.flags
        if flag.name in ("no-blank", "empty") and flag.ids
    } == flagged
    assert found.clean == 1
    with pytest.raises(DataError, match="line 3"):
        open_benchmark(str(tmp_path / "own.csv"))


def test_a_row_that_does_not_say_what_it_is_is_refused_by_an_audit_too(tmp_path: Path) -> None:
    (tmp_path / "own.csv").write_text(OWN["pair"].replace(",,age", ",The young woman ran.,"))
    with pytest.raises(DataError, match="bias_type"):
        audit(str(tmp_path / "own.csv"), resamples=100)


# ------------------------------------------------------------------------------------------- errata


def test_errata_drop_keep_and_correct(dev: Path, tmp_path: Path) -> None:
    texts = (
        '[item.texts]\ncontext = "A cook had a BLANK ."\nanti-stereotype = "A cook had a cold'
        ' ."\nstereotype = "A cook had a loud ."\nunrelated = "A cook had a square ."\n'
    )
    file = errata_file(
        tmp_path / "e.toml",
        entry("b0", "drop"),
        entry("a1", "keep"),
        entry("a3", "correct", texts=texts),
    )
    flag = ["article", "glued-blank"]
    (shape,) = audit(str(dev), flag=flag, errata=file, resamples=100).shapes
    counts = {flag.name: flag.count for flag in shape.flags}
    assert (counts["article"], counts["glued-blank"]) == (1, 1)
    assert (shape.dropped, shape.kept, shape.corrected) == (1, 1, 1)
    assert shape.flagged == 2  # a2 by its article, b0 by hand; a1 is kept, a3 is repaired


def corrections(number: str, **texts: str) -> Errata:
    return Errata(
        schema="errata@1",
        benchmark="custom",
        version="1",
        item=[Erratum(id=number, action="correct", reason="because", texts=texts)],
    )


def test_a_corrected_context_is_filled_in_anew(dev: Path) -> None:
    items = corrected(read_cats(dev), corrections("a3", context="The cook owned a BLANK ."))
    assert dict(items[3].texts) == {
        "context": "The cook owned a BLANK .",
        "stereotype": "The cook owned a loud .",
        "anti-stereotype": "The cook owned a odd .",
        "unrelated": "The cook owned a square .",
    }


def test_a_sentence_given_with_a_corrected_context_is_taken(dev: Path) -> None:
    (item,) = corrected(
        read_cats(dev)[3:4],
        corrections("a3", context="A cook is BLANK .", unrelated="A cook is green ."),
    )
    assert (item.texts["stereotype"], item.texts["unrelated"]) == (
        "A cook is loud .",
        "A cook is green .",
    )


@pytest.mark.parametrize(
    "texts",
    [
        {"stereotype": "calm"},
        {"context": "A cook."},
        {"context": "A BLANK .", "unrelated": "A cook had a tree."},
    ],
)
def test_corrections_that_would_break_an_item_are_refused(texts: dict[str, str], dev: Path) -> None:
    with pytest.raises(DataError, match="a3"):
        corrected(read_cats(dev), corrections("a3", **texts))


def test_scores_of_a_corrected_item_are_of_the_old_text_and_not_clean(
    dev: Path, tmp_path: Path
) -> None:
    place = run_on(dev, tmp_path / "run")
    file = errata_file(
        tmp_path / "e.toml",
        entry("b0", "correct", texts='[item.texts]\nunrelated = "The moon is far."\n'),
    )
    found = audit(
        str(dev),
        run=[place],
        flag=["article"],
        errata=file,
        resamples=100,
    )
    assert found.shapes[0].runs[0].clean == found.shapes[0].clean - 1


BAD = {
    "not TOML": "schema = ",
    "another schema": 'schema = "errata@9"\n',
    "no version": 'schema = "errata@1"\nbenchmark = "custom"\n',
    "an unknown field": 'schema = "errata@1"\nbenchmark = "custom"\nversion = "1"\nauthor = "x"\n',
    "a number for a version": 'schema = "errata@1"\nbenchmark = "custom"\nversion = 3\n',
}
BAD_ENTRIES = {
    "an unknown action": entry("a1", "remove"),
    "no reason": entry("a1", "drop", reason=" "),
    "texts without correction": entry("a1", "drop", texts='[item.texts]\ncontext = "x"\n'),
    "a correction without texts": entry("a1", "correct"),
    "an item twice": entry("a1", "drop") + "\n" + entry("a1", "keep"),
    "an unknown item": entry("zzz", "drop"),
    "an unknown text": entry("a1", "correct", texts='[item.texts]\ntitle = "x"\n'),
}


@pytest.mark.parametrize("name", [*BAD, *BAD_ENTRIES])
def test_bad_errata_are_refused(name: str, dev: Path, tmp_path: Path) -> None:
    file = tmp_path / "e.toml"
    if name in BAD:
        file.write_text(BAD[name])
    else:
        errata_file(file, BAD_ENTRIES[name])
    with pytest.raises(DataError) as refused:
        audit(str(dev), errata=file, resamples=100)
    assert str(refused.value).count(". ") >= 1


@pytest.mark.parametrize(
    "head",
    [
        'schema = "errata@1"\nbenchmark = "starter"\nversion = "1"\n',
        'schema = "errata@1"\nbenchmark = "custom"\nversion = "1"\ndigest = "0000"\n',
    ],
)
def test_errata_of_other_data_are_refused(head: str, dev: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError):
        audit(
            str(dev),
            errata=errata_file(tmp_path / "e.toml", head=head),
            resamples=100,
        )


@MODERATE
@given(
    st.text(st.characters(codec="utf-8"), max_size=80)
    | st.sampled_from(["item = 3", "[[item]]", "[item]", 'item = ["x"]', "digest = 1"])
)
def test_whatever_stands_in_it_an_errata_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    file = tmp_path_factory.mktemp("errata") / "e.toml"
    file.write_text(
        'schema = "errata@1"\nbenchmark = "custom"\nversion = "1"\n' + text, encoding="utf-8"
    )
    try:
        found = read_errata(file)
    except StereometerError:
        return
    assert all(one.action in get_args(Action) for one in found.item)


def test_examples_of_hidden_items_stay_hidden(dev: Path) -> None:
    value = json.loads(dev.read_text())
    for item in value["data"]["intrasentence"]:
        item["hidden"] = True
    dev.write_text(json.dumps(value))
    assert "was BLANK." not in json.dumps(audit(str(dev), show_texts=True, resamples=100).as_json())


def test_settings_are_part_of_what_is_told(dev: Path) -> None:
    found = audit(str(dev), agreement=0.8, resamples=100)
    assert (found.agreed, found.schema) == (0.8, "audit@1")


def test_the_example_in_the_docs_is_an_errata_file(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "docs" / "howto" / "audit.md").read_text(encoding="utf-8")
    (tmp_path / "e.toml").write_text(text.split("```toml")[1].split("```")[0])
    found = audit("starter", flag=["article"], errata=tmp_path / "e.toml", resamples=100)
    assert (
        found.errata,
        found.shapes[0].dropped,
        found.shapes[0].kept,
        found.shapes[0].corrected,
    ) == ("2026-11-16", 1, 1, 1)


def test_every_flag_is_in_the_docs_as_the_program_defines_it() -> None:
    page = Path(__file__).parents[3] / "docs" / "howto" / "audit" / "flags.csv"
    with page.open(encoding="utf-8", newline="") as file:
        defined = {row["flag"]: row["definition"] for row in csv.DictReader(file)}
    assert defined == {flag.name: flag.definition for flag in FLAGS}


def test_items_that_are_all_alike_are_not_each_compared_with_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 3,000 near-duplicates every one is flagged, in a number of comparisons that grows with
    their number and not with its square."""
    from stereometer.wings.curation import flags

    calls = 0
    alike = flags.alike

    def counted(first: frozenset[str], second: frozenset[str]) -> float:
        nonlocal calls
        calls += 1
        return alike(first, second)

    monkeypatch.setattr(flags, "alike", counted)
    shared = [f"word{at}" for at in range(12)]
    sets = {f"i{at}": frozenset([*shared, f"own{at}"]) for at in range(3000)}
    assert len(flags.near(sets)) == 3000
    assert calls < 30_000
