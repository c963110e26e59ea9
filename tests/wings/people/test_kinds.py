"""Every field, order, check and threshold of the five protocols."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stereometer.core.errors import DataError
from stereometer.wings.people.kinds.judging import VIEWS
from stereometer.wings.people.kinds.kind import Page, Respondent
from stereometer.wings.people.kinds.survey import NOTHING, ratings, repeated
from stereometer.wings.people.kinds.writing import TYPES, bonuses
from stereometer.wings.people.new import new_study
from stereometer.wings.people.pages.showing import task_page
from stereometer.wings.people.participation import Standing
from stereometer.wings.people.study import Study
from tests.builders.studies import Browser, set_toml, small_survey


def names(page: Page) -> list[str]:
    return [field.name for field in page.form.fields]


def first_page(study: Study, unit: str | None = None) -> Page:
    person = Respondent("p", (unit or study.units[0].name,), {})
    return study.kind.pages(study, person)[0]


def complaints(page: Page, **sent: str) -> dict[str, str]:
    return dict(page.form.read(sent)[1])


# -------------------------------------------------------------------------------------- write-cats

WITHIN = {
    "stereotype": "quiet", "anti_stereotype": "loud", "unrelated": "wooden",
    "context": "The librarian next door has a BLANK laugh.",
}  # fmt: skip
ACROSS = {
    "context": "The librarian came in.", "stereotype": "She whispered.",
    "anti_stereotype": "She sang aloud.", "unrelated": "The box is green.",
}  # fmt: skip


@pytest.fixture
def writing(tmp_path: Path) -> Study:
    return new_study("write-cats", tmp_path / "writing")


@pytest.mark.parametrize(("task", "sent"), [("intrasentence", WITHIN), ("intersentence", ACROSS)])
def test_words_come_first_within_a_sentence_and_the_neutral_one_across_sentences(
    writing: Study, task: str, sent: dict[str, str]
) -> None:
    page = first_page(writing, f"librarian/{task}")
    assert names(page) == list(sent)
    assert (page.shown["term"], page.shown["domain"]) == ("librarian", "profession")
    person = Respondent("p", (f"librarian/{task}",), {})
    shown = task_page(Standing(writing, person, page, None), "t", {}, {})
    assert b"<strong>profession</strong>" in shown.body
    assert not complaints(page, **sent)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"context": "The librarian has a laugh."}, {"context": "one_blank"}),
        ({"context": "The librarian is BLANK and BLANK."}, {"context": "one_blank"}),
        ({"context": "She has a BLANK laugh."}, {"context": "no_term"}),
        ({"anti_stereotype": "Quiet"}, {"anti_stereotype": "same_text"}),
        ({"unrelated": ""}, {"unrelated": "missing_text"}),
        ({"context": "图书管理员librarian很BLANK。"}, {}),
        ({"context": "The librarian is unBLANKed."}, {"context": "one_blank"}),
        ({"context": f"The librarian BLANK {'x' * 200}"}, {"context": "long_text"}),
    ],
)
def test_texts_that_cannot_be_items_are_sent_back(
    writing: Study, change: dict[str, str], complaint: dict[str, str]
) -> None:
    page = first_page(writing, "librarian/intrasentence")
    assert complaints(page, **{**WITHIN, **change}) == complaint


def test_a_table_of_terms_keeps_where_they_are_from(tmp_path: Path) -> None:
    table = tmp_path / "own.csv"
    table.write_text("term,domain,source\nbaker,profession,P106\n", encoding="utf-8")
    new_study("write-cats", tmp_path / "w", str(table))
    assert "baker,profession,P106" in (tmp_path / "w" / "terms.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            "write-cats",
            ("positive or negative", "state of mind", "statements of fact", "realistic"),
        ),
        ("write-pairs", ("The young man could not find", "its kind is age")),
    ],
)
def test_rules_or_a_worked_example_stand_on_the_page(
    tmp_path: Path, kind: str, words: tuple[str, ...]
) -> None:
    client = Browser(new_study(kind, tmp_path / "s"))
    html = client.post("/page/instructions", data=client.consented().hidden).text
    aside = html.split('class="beside"')[1].split("</aside>")[0]
    assert all(word in aside for word in words)


# ------------------------------------------------------------------------------------- write-pairs

PAIR = {
    "first": "The old man could not find his phone.",
    "second": "The young man could not find his phone.",
    "direction": "stereo",
    "type": "age",
}


@pytest.fixture
def pairs(tmp_path: Path) -> Study:
    return new_study("write-pairs", tmp_path / "pairs")


def test_a_pair_has_two_sentences_a_direction_and_one_of_nine_types(pairs: Study) -> None:
    page = first_page(pairs)
    assert names(page) == ["first", "second", "direction", "type"]
    assert len(TYPES) == 9
    assert page.shown["prompt"]
    assert not complaints(page, **PAIR)
    assert complaints(page, **{**PAIR, "type": "age,gender"}) == {"type": "missing_choice"}


def test_prompts_are_a_text_file_of_ones_own(tmp_path: Path) -> None:
    own = tmp_path / "ideas.txt"
    own.write_text("A train was late.\n", encoding="utf-8")
    assert first_page(new_study("write-pairs", tmp_path / "p", str(own))).shown["prompt"] == (
        "A train was late."
    )


@pytest.mark.parametrize(
    ("distance", "warned", "refused"),
    [(13, False, False), (14, True, False), (25, True, False), (26, True, True)],
)
def test_the_edit_distance_warns_above_13_and_refuses_above_25(
    pairs: Study, distance: int, warned: bool, refused: bool
) -> None:
    page = first_page(pairs)
    sent = {**PAIR, "first": "A sentence.", "second": "A sentence." + "x" * distance}
    assert page.feedback(sent)["distance"] == distance
    assert (distance > page.shown["limits"].warn_above) == warned
    assert (complaints(page, **sent) == {"second": "too_far"}) == refused


def test_the_distance_is_shown_after_five_characters(pairs: Study) -> None:
    page = first_page(pairs)
    assert not page.feedback({"first": "The old man", "second": "The y"})
    assert page.feedback({"first": "The old man", "second": "The yo"}) == {"distance": 7}


def test_a_sentence_has_at_most_200_characters(pairs: Study) -> None:
    page = first_page(pairs)
    assert not complaints(page, **{**PAIR, "first": "x" * 200, "second": "y" + "x" * 199})
    assert complaints(page, **{**PAIR, "first": "x" * 201}) == {"first": "long_text"}


@pytest.mark.parametrize(
    ("types", "sets"),
    [("aaaa", 0), ("abcd", 1), ("abcdabcd", 2), ("aabbccdd", 2), ("aaabcd", 1), ("abcdefgh", 2)],
)
def test_bonuses_are_sets_of_four_different_types(types: str, sets: int) -> None:
    assert bonuses(list(types)) == sets


def test_the_tally_counts_what_was_written_so_far(pairs: Study) -> None:
    written = {f"write-{at}": {**PAIR, "type": TYPES[at]} for at in range(1, 5)}
    units = tuple(unit.name for unit in pairs.units[:5])
    tally = pairs.kind.pages(pairs, Respondent("p", units, written))[4].shown["tally"]
    assert tally == {"pairs": 4, "types": 4, "size": 4, "sets": 1, "bonus": "1.00 USD"}


# -------------------------------------------------------------------------------------- validating


def test_validators_see_three_sentences_without_labels_and_four_choices(tmp_path: Path) -> None:
    study = new_study("validate-cats", tmp_path / "v")
    page = first_page(study)
    assert names(page) == ["s0", "s1", "s2"]
    for field in page.form.fields:
        assert [value for value, _ in field.options] == [  # type: ignore[attr-defined]
            "stereotype", "anti-stereotype", "unrelated", "related",
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("wording", "count", "words"),
    [("crows-pairs", 10, "who they are about"), ("stereoset", 5, "express the stereotype")],
)
def test_pairs_are_judged_by_four_questions(
    tmp_path: Path, wording: str, count: int, words: str
) -> None:
    folder = new_study("validate-pairs", tmp_path / "v").folder
    fields: list[Any] = list(first_page(set_toml(folder, wording=wording)).form.fields)
    assert [field.name for field in fields] == ["first", "second", "minimal", "type"]
    assert tuple(value for value, _ in fields[0].options) == VIEWS
    assert words in fields[2].label
    assert len(fields[3].options) == count
    assert fields[3].options[-1][0] == "none"


@pytest.mark.parametrize(("kind", "count"), [("validate-cats", 6), ("validate-pairs", 2)])
def test_the_order_of_sentences_is_by_lot(tmp_path: Path, kind: str, count: int) -> None:
    study = new_study(kind, tmp_path / "v")
    people = [Respondent(f"p{at}", (study.units[0].name,), {}) for at in range(60)]
    pages = [study.kind.pages(study, person)[0] for person in people]
    shown = {(page.shown.get("sentences"), *map(str, page.form.fields)) for page in pages}
    assert len(shown) == count


# ------------------------------------------------------------------------------------------ survey

TRAITS = ("powerless - powerful", "low status - high status", "dominated - dominant")
FULL = dict.fromkeys(TRAITS, 80)


UNITS = ("man", "woman", "non-binary", "trans")
Who = tuple[str, tuple[str, ...]]
"""The language somebody reads, and the groups they rated."""


def answered(study: Study, name: str, who: Who = ("en", UNITS), **changes: Any) -> dict[str, bool]:
    language, units = who
    answers: dict[str, dict[str, Any]] = {f"rate-{at}": FULL for at in range(1, 5)}
    answers |= {"rate-again": FULL, "check-name": {"name": name}}
    answers |= {"check-traits": {"high": TRAITS[0], "low": NOTHING}, **changes}
    return dict(study.kind.checks(study, Respondent("p", units, answers, language)))


@pytest.mark.parametrize(
    ("name", "passed"),
    [
        ("men", True), ("Man", True), ("MEN", True), ("mne", True), ("a man", True),
        ("women", False), ("woman", False), ("trans people", False), ("children", False),
        ("n", False), ("m", False), ("people", False), ("the guys", True), ("males", True),
        ("me", False), ("mean", False), ("nen", False), ("mens", True), ("mend", False),
        ("men in general", True),
    ],
)  # fmt: skip
def test_the_first_group_is_named_forgivingly_but_not_another_group(
    tmp_path: Path, name: str, passed: bool
) -> None:
    assert answered(small_survey(tmp_path / "s"), name)["name"] == passed


PLAUSIBLE = {
    "woman": "women in america, ladies",
    "elderly": "the elderly, elderly, old people, older people, seniors, senior citizens",
    "blind": "the blind, blind persons, people who are blind, visually impaired people, "
    "blind ppl, sight impaired, low vision people",
    "trans": "transgender people, trans, transgender, transgendered people",
    "teenager": "teens, teenagers, a teenager, adolescents, teenage people",
    "Black": "blacks, black folks, African Americans, black americans, black ppl, "
    "black people in America",
    "White": "caucasians, the whites, White Americans",
    "wealthy": "rich people, the rich, the wealthy, wealthy, wealthy ppl",
    "unemployed": "the unemployed, jobless people, people without jobs",
    "autistic": "autistic, people with autism, autistic individuals",
    "veteran": "vets, the veterans, military veterans",
    "immigrant": "immigrants, the immigrants, migrants",
    "Native American": "native americans, American Indians, indigenous people, natives",
    "Jewish": "jews, jewish, the jews",
    "working class": "the working class, working-class people, blue collar workers",
    "non-binary": "nonbinary, non binary people, enbies",
}
"""What people might type who remember the group."""


@pytest.fixture(scope="module")
def bilingual(tmp_path_factory: pytest.TempPathFactory) -> Study:
    return new_study("survey", tmp_path_factory.mktemp("both") / "s", languages=("en", "de"))


@pytest.mark.parametrize("group", PLAUSIBLE)
def test_any_right_answer_passes_for_its_group_and_for_no_other(
    bilingual: Study, group: str
) -> None:
    assert group in [unit.name for unit in bilingual.units]
    for unit in bilingual.units:
        for name in PLAUSIBLE[group].split(","):
            passed = answered(bilingual, name, ("en", (unit.name, *UNITS)))["name"]
            assert passed == (unit.name == group), (name, unit.name)


@pytest.mark.parametrize(
    ("group", "name", "passed"),
    [
        ("non-binary", "nichtbinäre", True), ("non-binary", "Nichtbinäre Personen", True),
        ("non-binary", "nicht-binär", True), ("working class", "aus der Arbeiterschicht", True),
        ("Muslim", "Muslime", True), ("Jewish", "Juden", True), ("Christian", "Christen", True),
        ("White", "Weisse", True), ("man", "Frauen", False), ("trans", "cis Menschen", False),
        ("cis", "trans", False), ("blind", "Menschen", False), ("non-binary", "binäre", False),
    ],
)  # fmt: skip
def test_names_are_forgiven_in_the_words_of_the_readers_language(
    bilingual: Study, group: str, name: str, passed: bool
) -> None:
    others = tuple(unit for unit in UNITS if unit != group)[:3]
    assert answered(bilingual, name, ("de", (group, *others)))["name"] == passed


@pytest.mark.parametrize("language", ["en", "de"])
def test_no_name_that_a_language_offers_is_taken_for_another_group(
    bilingual: Study, language: str
) -> None:
    study, texts = bilingual, bilingual.texts(language)
    for unit in study.units:
        others = tuple(name for name in UNITS if name != unit.name)[:3]
        for name in (texts.name(unit.label), *texts.other_names(unit.label)):
            assert answered(study, name, (language, (unit.name, *others)))["name"], name
    assert set(texts.also) <= {unit.label for unit in study.units}


def test_orders_and_poles_are_drawn_for_each_person_kept_and_exported(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "s")
    orders, turned = set(), set()
    for number in range(30):
        person = Respondent(f"p{number}", UNITS, {})
        drawn = study.kind.arrangement(study, person)
        orders.add(tuple(drawn["order"]))
        turned |= set(drawn["turned"])
        page = study.kind.pages(study, replace(person, answers={"instructions": drawn}))[0]
        sent = {field.name: "80" for field in page.form.fields}
        values, _ = page.form.read(sent)
        assert tuple(values) == tuple(drawn["order"])
        answers = {"instructions": drawn, "rate-1": values}
        for row in ratings(study, replace(person, answers=answers)):
            assert row["rating"] == (20 if row["trait"] in drawn["turned"] else 80)
            assert row["turned"] == ("yes" if row["trait"] in drawn["turned"] else "")
            assert drawn["order"][row["place"] - 1] == row["trait"]
    assert (len(orders), len(turned)) == (6, 3)
    fixed = set_toml(study.folder, trait_order="fixed", poles="fixed")
    assert fixed.kind.arrangement(fixed, Respondent("p", UNITS, {})) == {
        "order": [*TRAITS], "turned": [],
    }  # fmt: skip


def test_a_trait_must_have_been_rated_on_its_side_of_50(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "s")
    one, two, three = TRAITS
    mixed = {one: 80, two: 50, three: 20}
    for high, low, right in ((one, three, True), (two, three, False), (one, NOTHING, False)):
        said: dict[str, Any] = {"check-traits": {"high": high, "low": low}, "rate-2": mixed}
        assert answered(study, "men", **said)["traits"] == right
        said["check-traits"] = {"high": low, "low": high}  # sides are those of the page
        said["instructions"] = {"order": TRAITS, "turned": TRAITS}
        assert answered(study, "men", **said)["traits"] == right


@pytest.mark.parametrize(("again", "alike"), [(61, True), (60, True), (49, False), (20, False)])
def test_a_repeated_rating_is_alike_on_the_same_side_or_within_20(
    tmp_path: Path, again: int, alike: bool
) -> None:
    """Of three traits one may differ only where the share asked for is below one."""
    study = small_survey(tmp_path / "s", repeat_share=1.0)
    changed: dict[str, Any] = {"rate-again": {**FULL, TRAITS[1]: again}}
    assert answered(study, "men", **changed)["repeat"] == alike


def test_pages_follow_the_papers_order_and_the_last_group_is_not_repeated(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "s")
    units = ("man", "woman", "non-binary", "trans")
    keys = [page.key for page in study.kind.pages(study, Respondent("p", units, {}))]
    assert keys == [
        "rate-1", "check-name", "rate-2", "check-traits", "rate-3", "rate-4", "rate-again",
    ]  # fmt: skip
    again = {repeated(Respondent(f"p{at}", units, {})) for at in range(60)}
    assert again == {"man", "woman", "non-binary"}


def test_the_name_can_be_chosen_from_four(tmp_path: Path) -> None:
    study = small_survey(tmp_path / "s", name_check="choice")
    pages = study.kind.pages(study, Respondent("p", ("man", "woman"), {}))
    (field,) = pages[1].form.fields
    assert len(field.options) == 4  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "fine", "wrong", "why"),
    [
        ("validate-cats", {"judgements": 4, "agree": 4}, {"agree": 5}, "Write 4 or less"),
        ("write-pairs", {"warn_above": 25}, {"warn_above": 30}, "warned first"),
    ],
)
def test_settings_that_cannot_be_met_together_are_refused(
    tmp_path: Path, kind: str, fine: dict[str, int], wrong: dict[str, int], why: str
) -> None:
    folder = new_study(kind, tmp_path / "s").folder
    set_toml(folder, **fine)
    with pytest.raises(DataError, match=why):
        set_toml(folder, **wrong)
