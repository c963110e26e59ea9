"""Packs: what they say is held to its types, read as they say, and told apart from other sets."""

from __future__ import annotations

import json
import sys
import textwrap
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

import stereometer
from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import open_benchmark
from stereometer.core.errors import DataError
from stereometer.kinds.cats.items import Cat
from stereometer.kinds.pairs.items import Pair
from stereometer.kinds.traits.abc.items import TraitCell
from stereometer.wings.packs import schema
from stereometer.wings.packs.pack import UNTRIED, open_pack, shipped
from stereometer.wings.packs.source import source_of
from tests.builders.commands import assert_refused, call
from tests.builders.packs import CARD, pack_of, pairs_pack
from tests.builders.sure import all_of
from tests.conftest import released

# ------------------------------------------------------------------------------------ shipped ones


@pytest.mark.parametrize("name", sorted(shipped()))
def test_a_shipped_pack_says_what_it_is(name: str) -> None:
    source = catalog.find("benchmark", name)
    assert source.name == source.card.name == name
    assert source.card.origin in ("native", "translated", "mixed")
    assert source.pack.written.expect.verified or source.pack.notes == (UNTRIED,)
    assert not any("TODO" in text for text in source.card.known_problems)


def test_packs_that_say_they_were_tried() -> None:
    tried = {name for name in shipped() if open_pack(shipped()[name]).written.expect.verified}
    assert tried == {
        "abc-german",
        "crows-pairs-dutch",
        "crows-pairs-french",
        "stereoset-portuguese",
    }


def test_dutch_is_read_in_its_own_encoding() -> None:
    released("packs/crows_dutch.csv")
    pairs = all_of(
        Pair, open_benchmark(catalog.find("benchmark", "crows-pairs-dutch")).items("pair")
    )
    letters = {letter for pair in pairs for text in pair.texts.values() for letter in text}
    assert "\u00eb" in letters
    assert "\ufffd" not in letters


@pytest.mark.long
def test_portuguese_items_that_are_not_their_context_filled_are_counted_on_the_card() -> None:
    released("packs/stereoset_ptbr_dev.json.gz")
    benchmark = open_benchmark(catalog.find("benchmark", "stereoset-portuguese"))
    within = [cat for cat in all_of(Cat, benchmark.items("cat")) if cat.task == "intrasentence"]
    changed = sum(any(cat.filler(label) is None for label in cat.candidates) for cat in within)
    assert (changed, len(within)) == (1326, 2106)
    assert f"In {changed:,} of the {len(within):,}" in benchmark.card.known_problems[0]


def test_german_sentences_are_german() -> None:
    benchmark = open_benchmark(catalog.find("benchmark", "abc-german"))
    assert benchmark.as_released
    cells = {cell.id: cell for cell in all_of(TraitCell, benchmark.items("trait"))}
    doctor = cells["der/Ärztin/arm - reich"]
    assert doctor.texts["left"] == "Die Ärztin ist arm."
    assert doctor.frame.about_nobody().sentence("arm").text == "Die Person ist arm."
    assert cells["ein/Kind/kalt - warm"].texts["right"] == "Ein Kind ist warm."
    sentence = cells["alle-wissen/Bauer/arm - reich"].frame.sentence("reich")
    assert sentence.text == "Alle wissen, dass Bauern reich sind."
    assert sentence.text[slice(*sentence.group)] == "Bauern"
    assert sentence.text[slice(*sentence.trait)] == "reich"


def test_a_set_in_another_language_runs_and_its_result_says_where_it_comes_from(
    tmp_path: Path,
) -> None:
    folder = pairs_pack(tmp_path)
    (result,) = stereometer.run(str(folder), model="random", resamples=100, out=tmp_path / "runs")
    assert result.benchmark == "little"
    assert result.data["origin"] == "translated"
    assert (result.data["language"], result.data["country"]) == ("Danish", "Denmark")
    assert UNTRIED in result.notes


# ---------------------------------------------------------------------------------------- reading


def test_columns_separator_encoding_and_types_are_as_the_pack_says(tmp_path: Path) -> None:
    folder = pairs_pack(
        tmp_path,
        'encoding = "mac-roman"\nseparator = "semicolon"\n'
        'columns = { sent_more = "mere", sent_less = "mindre", bias_type = "slags" }\n'
        'types = { alder = "age" }',
    )
    text = "mere;mindre;slags\nBørn løber, og synger.;Naboer løber, og synger.;alder\n"
    (folder / "pairs.csv").write_bytes(text.encode("mac-roman"))
    (pair,) = all_of(Pair, open_benchmark(source_of(folder)).items("pair"))
    assert pair.sent_more == "Børn løber, og synger."
    assert pair.bias_type == "age"


def test_another_blank_and_two_files_make_cats(tmp_path: Path) -> None:
    def item(task: str, context: str) -> dict[str, Any]:
        labels = ("stereotype", "anti-stereotype", "unrelated")
        ends = ("late.", "early.", "blue.")
        sentences = [
            {"id": f"{task}-{label}", "sentence": f"The bus is {end}", "gold_label": label}
            for label, end in zip(labels, ends, strict=True)
        ]
        fields = {"id": task, "target": "bus", "bias_type": "fag", "context": context}
        return fields | {"sentences": sentences}

    folder = pack_of(
        tmp_path,
        'shape = "cat"',
        '[[files]]\nname = "within.json"\n[[files]]\nname = "across.json"',
        '[read]\nblank = "____"\ntypes = { fag = "profession" }',
    )
    within, across = item("within", "The bus is ____"), item("across", "A bus.")
    (folder / "within.json").write_text(json.dumps({"data": {"intrasentence": [within]}}), "utf-8")
    (folder / "across.json").write_text(json.dumps({"data": {"intersentence": [across]}}), "utf-8")
    cats = all_of(Cat, open_benchmark(source_of(folder)).items("cat"))
    assert [(cat.task, cat.domain) for cat in cats] == [
        ("intrasentence", "profession"),
        ("intersentence", "profession"),
    ]
    assert cats[0].filler("stereotype") == "late."


GRAMMAR = """
[grammar]
determiners = { el = "el", "los plural" = "los" }
[[grammar.persons]]
singular = "persona"
plural = "personas"
agrees = "f"
determiners = { el = "la", los = "las" }
[[grammar.persons]]
singular = "individuo"
plural = "individuos"
agrees = "m"
determiners = { el = "el", los = "los" }
"""
FORMS = "adjective,f plural,m plural\nalto,altas,altos\nbajo,bajas,bajos\n"


def traits_pack(folder: Path, template: str = "Todas {los group} son {trait}.") -> Path:
    pack = pack_of(folder, 'shape = "trait"', GRAMMAR)
    groups = "name,domain,singular,plural,agrees,el,los\nabuela,edad,abuela,abuelas,f,la,las\n"
    (pack / "groups.csv").write_text(groups + "gato,otro,gato,gatos,m,el,los\n", "utf-8")
    (pack / "traits.csv").write_text("name,dimension,left,right\nb - a,x,bajo,alto\n", "utf-8")
    (pack / "templates.csv").write_text(f"name,kind,number,text\nt,p,plural,{template}\n", "utf-8")
    (pack / "forms.csv").write_text(FORMS, "utf-8")
    return pack


def test_adjectives_agree_with_the_group_and_with_the_person_in_its_place(tmp_path: Path) -> None:
    cells = all_of(TraitCell, open_benchmark(source_of(traits_pack(tmp_path))).items("trait"))
    assert [cell.texts["right"] for cell in cells] == [
        "Todas las abuelas son altas.",
        "Todas los gatos son altos.",
    ]
    priors = [cell.frame.about_nobody().sentence("alto").text for cell in cells]
    assert priors == ["Todas las personas son altas.", "Todas los individuos son altos."]


def test_an_adjective_without_a_form_is_named(tmp_path: Path) -> None:
    pack = traits_pack(tmp_path)
    (pack / "forms.csv").write_text("adjective,f plural,m plural\nalto,altas,\n", "utf-8")
    with pytest.raises(DataError, match="no form of 'bajo'"):
        open_benchmark(source_of(pack))


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{El group} son {trait}.", "an article stands before a plural"),
        ("{the group} son {trait}.", "{the group} is not understood"),
        ("{los group} son {trait}.", "begins with {los group}"),
    ],
)
def test_templates_are_held_to_the_grammar(tmp_path: Path, template: str, why: str) -> None:
    with pytest.raises(DataError, match=why):
        open_benchmark(source_of(traits_pack(tmp_path, template)))


# --------------------------------------------------------------------------------------- checking


def test_check_prints_what_may_be_stated_and_then_finds_it_met(tmp_path: Path) -> None:
    folder = pairs_pack(tmp_path)
    said = call("pack", "check", str(folder))
    assert said.code == 0, said.err
    block = said.out[said.out.index("[expect]") : said.out.index("verified = true")]
    with (folder / "pack.toml").open("a", encoding="utf-8") as file:
        file.write(f"{block}verified = true\n")
    assert open_benchmark(source_of(folder)).as_released
    assert UNTRIED not in call("pack", "check", str(folder)).out
    (folder / "pairs.csv").write_text("sent_more,sent_less,bias_type\na b,a c,x\n", "utf-8")
    changed = call("pack", "check", str(folder))
    assert changed.code == 4
    assert "1 items of shape pair instead of 2" in changed.err


def test_check_without_the_data_checks_what_is_said(tmp_path: Path) -> None:
    folder = pairs_pack(tmp_path)
    (folder / "pairs.csv").unlink()
    said = call("pack", "check", str(folder), "--json")
    assert json.loads(said.out)["counts"] == {}


def test_a_pack_without_its_data_says_how_to_add_them(tmp_path: Path) -> None:
    folder = pairs_pack(tmp_path)
    (folder / "pairs.csv").rename(tmp_path / "elsewhere.csv")
    missing = call("run", str(folder), "-m", "random")
    assert_refused(missing, 4, f"`stereometer data add {folder} FILE`")
    assert call("data", "add", str(folder), str(tmp_path / "elsewhere.csv")).code == 0
    assert call("show", str(folder)).code == 0


def test_what_is_no_pack_is_refused(tmp_path: Path) -> None:
    assert_refused(call("pack", "check", str(tmp_path)), 4, "is not a pack")
    assert_refused(call("pack", "check", "stereoset"), 4, "is not a pack")


@pytest.mark.parametrize("taken", ["stereoset", "crows-pairs-dutch"])
def test_a_pack_cannot_take_the_name_of_another_set(tmp_path: Path, taken: str) -> None:
    folder = pairs_pack(tmp_path)
    text = (folder / "pack.toml").read_text("utf-8").replace('"little"', f'"{taken}"')
    (folder / "pack.toml").write_text(text, "utf-8")
    assert_refused(call("run", str(folder), "-m", "random"), 4, "calls itself", "another name")


# -------------------------------------------------------------------------------------- installed


def test_a_wheel_s_pack_is_found_and_its_code_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "little_pack"
    package.parent.mkdir()
    pairs_pack(tmp_path).rename(package)
    (package / "__init__.py").write_text("raise SystemExit('run')\n", "utf-8")
    info = tmp_path / "site" / "little-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: little\nVersion: 1\n", "utf-8")
    points = "[stereometer.packs]\nlittle = little_pack\nlost = nowhere\ninner = os.path\n"
    (info / "entry_points.txt").write_text(points, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    for remembered in (catalog._installed, catalog._shipped):
        remembered.cache_clear()
    try:
        assert "little" in catalog.names("benchmark")
        assert len(open_benchmark(catalog.find("benchmark", "little")).items("pair")) == 2
        assert "little_pack" not in sys.modules
        assert not {"lost", "inner"} & set(catalog.names("benchmark"))
        for name in ("lost", "inner"):
            with pytest.raises(DataError, match="cannot be found"):
                catalog.find("benchmark", name)
    finally:
        catalog._installed.cache_clear()


# ------------------------------------------------------------------------------------ hostile packs


WHOLE = textwrap.dedent(CARD)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ('[[files]]\nname = "../../etc/passwd"', "files.0.name"),
        ('[[files]]\nname = "/etc/passwd"', "files.0.name"),
        ('[[files]]\nname = "a\\\\b.csv"', "files.0.name"),
        ('[[files]]\nname = ".hidden"', "files.0.name"),
        (
            '[[files]]\nname = "a.csv"\nurl = "file:///etc/passwd"\nsha256 = "' + "0" * 64 + '"',
            "url",
        ),
        ('[[files]]\nname = "a.csv"\nurl = "https://example.org/a.csv"', "needs its sha256"),
        ('[[files]]\nname = "a.csv"\n[[files]]\nname = "a.csv"', "same name"),
        ('[[files]]\nname = "a.csv"\n[read]\nencoding = "zlib_codec"', "no such text encoding"),
        ('[[files]]\nname = "a.csv"\n[read]\nrun = "rm -rf /"', "read.run"),
        ('[[files]]\nname = "a.csv"\n[expect]\nverified = true', "counts and digest"),
        ("", r"names its \[\[files\]\]"),
    ],
)
def test_a_hostile_or_careless_pack_is_refused(tmp_path: Path, change: str, why: str) -> None:
    with pytest.raises(DataError, match=why):
        open_pack(pack_of(tmp_path, 'shape = "pair"', change))


def test_large_files_links_and_pipes_are_refused(tmp_path: Path) -> None:
    folder = pairs_pack(tmp_path)
    whole = (folder / "pack.toml").read_bytes()
    (folder / "pack.toml").write_bytes(whole + b"#" * schema.LARGEST)
    with pytest.raises(DataError, match="larger than"):
        open_pack(folder)
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_bytes(whole)
    (folder / "pack.toml").unlink()
    (folder / "pack.toml").symlink_to(elsewhere)
    with pytest.raises(DataError, match=r"no file pack\.toml of its own"):
        open_pack(folder)
    traits = traits_pack(tmp_path / "traits")
    (traits / "groups.csv").write_bytes(b"x" * (4 * 1024 * 1024 + 1))
    with pytest.raises(DataError, match="larger than"):
        open_pack(traits)


def test_a_foreign_pack_s_data_are_kept_apart(tmp_path: Path) -> None:
    assert open_pack(pairs_pack(tmp_path)).card.folder == "packs/little"


@given(st.binary(max_size=300))
def test_no_bytes_do_more_than_be_refused(content: bytes) -> None:
    with pytest.raises(DataError):
        schema.parse(content, "pack.toml")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(place=st.sampled_from(["name", "shape", "card", "files", "read", "expect"]), value=VALUES)
def test_no_value_in_any_place_gets_past_the_types(place: str, value: object) -> None:
    """Either it is refused, or what comes out is plain: names without folders, web addresses."""
    written = tomllib.loads(f'shape = "pair"\n{WHOLE}\n[[files]]\nname = "a.csv"\n')
    written[place] = value
    try:
        pack = schema.PackFile.model_validate(written)
    except ValidationError:
        return
    assert all("/" not in file.name and ".." not in file.name for file in pack.files)


def test_deeply_nested_toml_is_refused() -> None:
    with pytest.raises(DataError, match="not TOML"):
        schema.parse(b"a = " + b"[" * 50_000, "pack.toml")
