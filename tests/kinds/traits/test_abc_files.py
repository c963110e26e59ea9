"""The groups, traits and templates: what ships, its grammar, and what a wrong file is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stereometer.core.errors import DataError, UnknownName, UsageError
from stereometer.kinds.traits.abc.files import (
    POLES,
    Rules,
    SocialGroup,
    pair,
    pairs,
    read_groups,
    read_rules,
    read_traits,
)
from stereometer.kinds.traits.abc.items import (
    Choice,
    Grid,
    chosen_benchmark,
    crossed,
    data_file,
    packaged,
)
from stereometer.kinds.traits.abc.items import grid as grid_of
from stereometer.kinds.traits.abc.templates import Template, read_templates
from tests.builders.commands import assert_refused, call


def grid(groups: tuple[str, ...] = (), templates: tuple[str, ...] = ()) -> Grid:
    return grid_of(Choice(groups, None, templates))


SENTENCES = Path(__file__).with_name("abc_sentences.txt")
DEFAULT = Grid.of(*packaged())


def listed() -> str:
    """Every sentence of the default set, the trait as a blank."""
    lines = [
        f"{template.name}: {template.fill(group, '____').text}"
        for template in DEFAULT.templates
        for group in DEFAULT.groups
    ]
    return "\n".join(lines) + "\n"


def test_every_sentence_is_the_one_that_was_read_and_found_good() -> None:
    assert listed() == SENTENCES.read_text()


def test_the_lists_are_as_long_as_the_papers() -> None:
    """Cao et al. 2022: Tables 3, 4, A7; the released code has 51 groups and 35 templates."""
    counted = {
        name: sum(name in group.lists for group in DEFAULT.groups)
        for name in ("printed", "released")
    }
    assert counted == {"printed": 53, "released": 51}
    assert {name: sum(name in one.lists for one in DEFAULT.templates) for name in counted} == {
        "printed": 34,
        "released": 35,
    }
    dimensions = [trait.dimension for trait in DEFAULT.traits]
    assert {name: dimensions.count(name) for name in dimensions} == {
        "Agency": 6,
        "Beliefs": 4,
        "Communion": 6,
    }
    assert len({trait.head(pole) for trait in DEFAULT.traits for pole in POLES}) == 32
    assert {
        1 <= len(trait.adjectives(pole)) - 1 <= 3 for trait in DEFAULT.traits for pole in POLES
    } == {True}
    assert len({group.domain for group in DEFAULT.groups}) == 8


def test_articles_capitals_and_numbers() -> None:
    named = {group.name: group for group in DEFAULT.groups}
    templates = {one.name: one for one in DEFAULT.templates}
    assert templates["a"].fill(named["unemployed"], "warm").text == "An unemployed person is warm."
    assert templates["a"].fill(named["woman"], "warm").text == "A woman is warm."
    assert (
        templates["plain"].fill(named["non-binary"], "warm").text == "Non-binary people are warm."
    )
    assert templates["why"].fill(named["man"], "warm").text == "Why are men warm?"
    assert (
        templates["everyone-thinks"].fill(named["Deaf"], "warm").text
        == "Everyone thinks that Deaf people are warm."
    )


def test_spans_are_of_the_groups_own_words_and_the_trait() -> None:
    for template in DEFAULT.templates:
        for group in (DEFAULT.groups[0], DEFAULT.groups[10]):
            sentence = template.fill(group, "high status")
            assert sentence.text[slice(*sentence.trait)] == "high status"
            assert (
                sentence.text[slice(*sentence.group)].lower() == group.form(template.number).lower()
            )


def test_articles_fit_what_they_stand_before() -> None:
    for group in (*DEFAULT.groups, *pairs(DEFAULT.groups, DEFAULT.rules())):
        assert group.article == ("an" if group.singular[0].lower() in "aeiou" else "a"), group.name


def test_which_templates_end_with_the_trait() -> None:
    assert [one.name for one in DEFAULT.templates if not one.ends_with_trait] == [
        "trait-first",
        "more-likely",
        "more",
    ]


@given(
    st.text(st.characters(blacklist_categories=("Cs", "Cc")), min_size=1)
    .map(str.strip)
    .filter(bool),
    st.sampled_from(["warm", "low status"]),
)
def test_any_name_of_a_group_keeps_its_place(form: str, adjective: str) -> None:
    group = SocialGroup("own", "own", form, form, "a")
    for slot, number in (("{group}", "plural"), ("{Group}", "plural"), ("{A group}", "singular")):
        sentence = Template("own", "own", number, f"{slot} are {{trait}}, see.").fill(
            group, adjective
        )
        assert sentence.text[slice(*sentence.trait)] == adjective
        assert sentence.text[slice(*sentence.group)] in (form, form[0].upper() + form[1:])


# ----------------------------------------------------------------------------------------- choosing


def test_groups_and_templates_are_chosen_by_name_kind_or_list() -> None:
    assert [group.name for group in grid(groups=("age", "woman")).groups] == [
        "woman",
        "teenager",
        "elderly",
    ]
    assert [one.name for one in grid(templates=("singular",)).templates] == ["the", "that", "a"]
    released = grid(groups=("released",), templates=("released",))
    assert (len(released.groups), len(released.templates)) == (51, 35)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"no group called 'womens'\. Did you mean woman"):
        grid(groups=("womens",))
    with pytest.raises(UnknownName, match=r"no template called 'thats'\. Did you mean that"):
        grid(templates=("thats",))


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("name,domain,singular,plural,article\nbaker,work,baker,bakers,a\n")
    (group,) = grid(groups=(str(file),)).groups
    assert (group.plural, group.first, group.lists) == ("bakers", "", ())


# ----------------------------------------------------------------------------------------- mistakes

GROUPS = "name,domain,singular,plural,article\n"
TRAITS = "name,dimension,left,right\n"
TEMPLATES = "name,kind,number,text\n"


@pytest.mark.parametrize(
    ("read", "text", "says"),
    [
        (
            read_groups,
            GROUPS + "baker,work,baker,bakers,a\nbaker,work,baker,bakers,a\n",
            "line 3: 'baker' is there twice",
        ),
        (read_groups, GROUPS + "baker,work,baker,,a\n", "line 2: plural is empty"),
        (
            read_groups,
            GROUPS + "baker,work,baker,bakers,the\n",
            "line 2: article is 'the'. It must be a or an",
        ),
        (read_groups, GROUPS, "has no rows"),
        (read_groups, "name,domain\nbaker,work\n", "has no column singular, plural, article"),
        (read_traits, TRAITS + "t,Agency,warm,warm\n", "line 2: both poles are 'warm'"),
        (read_traits, TRAITS + "t,Agency,warm\n", "line 2 does not have 4 fields"),
        (
            read_templates,
            TEMPLATES + "t,k,plural,{Group} are nice.\n",
            "line 2: the template has no blank for a trait",
        ),
        (
            read_templates,
            TEMPLATES + "t,k,plural,{Group} are {trait} and {trait}.\n",
            "line 2: the template has 2 blanks for a trait",
        ),
        (
            read_templates,
            TEMPLATES + "t,k,plural,They are {trait}.\n",
            "line 2: the template has no place for a group",
        ),
        (
            read_templates,
            TEMPLATES + "t,k,plural,{Groups} are {trait}.\n",
            "line 2: {Groups} is not understood",
        ),
        (
            read_templates,
            TEMPLATES + "t,k,plural,{Group} are {trait.\n",
            "line 2: { is not understood",
        ),
        (
            read_templates,
            TEMPLATES + "t,k,plural,{A group} are {trait}.\n",
            "line 2: an article stands before a plural",
        ),
        (
            read_templates,
            TEMPLATES + "t,k,plural,{Group} are{trait}.\n",
            "line 2: a slot stands right beside a letter (are{trait}.)",
        ),
        (
            read_templates,
            TEMPLATES + "t,k,plural,Some {group}s are {trait}.\n",
            "line 2: a slot stands right beside a letter ({group}s)",
        ),
        (
            read_templates,
            TEMPLATES + "t,k,plural,{Group} are [MASK] {trait}.\n",
            "line 2: the text has [MASK]",
        ),
        (
            read_templates,
            TEMPLATES + "t,k,plural,{Group} are <mask> {trait}.\n",
            "line 2: the text has <mask>",
        ),
        (
            read_templates,
            TEMPLATES + "t,k,plural,{group} are {trait}.\n",
            "line 2: the sentence begins with {group}",
        ),
        (
            read_templates,
            TEMPLATES + "t,k,singular,{a group} is {trait}.\n",
            "line 2: the sentence begins with {a group}",
        ),
        (
            read_templates,
            TEMPLATES + "t,k,singular,That {group} are {trait}.\n",
            "line 2: '{group} are' is not singular",
        ),
        (
            read_templates,
            TEMPLATES + "t,k,plural,{Group} was {trait}.\n",
            "line 2: '{Group} was' is not plural",
        ),
        (read_templates, TEMPLATES + "t,k,dual,{Group} are {trait}.\n", "line 2: number is 'dual'"),
    ],
)
def test_a_wrong_file_is_told_which_line_and_why(
    read: object, text: str, says: str, tmp_path: Path
) -> None:
    file = tmp_path / "own.csv"
    file.write_text(text)
    with pytest.raises(DataError) as told:
        read(file)  # type: ignore[operator]
    assert says in str(told.value)
    assert str(file) in str(told.value)


@pytest.mark.parametrize(
    "row",
    [
        "plural,{Group} were {trait}.",
        "singular,Is that {group} {trait}?",
        "plural,Non-{group} are not {trait}!",
    ],
)
def test_good_templates_are_taken(row: str, tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text(f"{TEMPLATES}t,k,{row}\n")
    assert read_templates(file)[0].text == row.partition(",")[2]


# -------------------------------------------------------------------------------------------- pairs


def test_pairs_are_grammatical_and_in_both_orders_where_both_can_stand_first() -> None:
    named = {one.name: one for one in pairs(DEFAULT.groups, DEFAULT.rules())}
    assert named["female doctor"].plural == "female doctors"
    assert named["Asian woman"].parts == ("Asian", "woman")
    assert named["female Asian person"].parts == ("woman", "Asian")
    assert "doctor woman" not in named
    assert named["elderly man"].article == "an"


@pytest.mark.parametrize(
    "parts",
    [
        ("cis", "non-binary"),
        ("teenager", "elderly"),
        ("man", "woman"),
        ("Mexican", "Native American"),
    ],
)
def test_pairs_that_make_no_sense_are_left_out(parts: tuple[str, str]) -> None:
    assert not any(set(one.parts) == set(parts) for one in pairs(DEFAULT.groups, DEFAULT.rules()))


@pytest.mark.long
def test_every_rule_bars_something() -> None:
    rules = read_rules(data_file("pair_rules.csv"), DEFAULT.groups)
    for rule in rules.barred:
        fewer = len(list(pairs(DEFAULT.groups, rules))) - len(
            list(pairs(DEFAULT.groups, Rules(rules.barred - {rule})))
        )
        assert fewer < 0, sorted(rule)


def test_a_rule_about_nobody_known(tmp_path: Path) -> None:
    file = tmp_path / "rules.csv"
    file.write_text("one,other\nman,womann\n")
    with pytest.raises(
        DataError, match=r"line 2: 'womann' is neither a group nor a domain\. Did you mean woman"
    ):
        read_rules(file, DEFAULT.groups)
    file.write_text("one,other\n")
    with pytest.raises(DataError, match="has no rules"):
        read_rules(file, DEFAULT.groups)


def test_ones_own_rules_stand_beside_those_of_the_package(tmp_path: Path) -> None:
    file = tmp_path / "rules.csv"
    file.write_text("one,other\nmen,Black people\nnationality,age\n")
    met = {one.parts for one in crossed(grid(groups=("man", "woman", "Black", "White")), file)}
    assert ("woman", "man") not in met
    assert ("Black", "man") not in met
    assert ("Black", "woman") in met


def test_groups_go_by_all_their_names() -> None:
    found = grid(groups=("Women", "asian people", "working-class", "AGE")).groups
    assert [group.name for group in found] == [
        "woman",
        "Asian",
        "working class",
        "teenager",
        "elderly",
    ]


@pytest.mark.parametrize(
    "given", [("own.csv", "woman"), ("woman", "own.csv"), ("own.csv", "other.csv")]
)
def test_a_table_and_names_are_not_mixed(given: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match=r"own\.csv is a table"):
        grid(groups=given)


def test_an_empty_option_is_not_everything() -> None:
    assert_refused(
        call("run", "abc", "--model", "fake", "--groups", ""), 2, "A list of names is empty"
    )
    assert_refused(
        call("intersect", "--model", "fake", "--templates", " , "),
        2,
        "A list of names is empty",
    )


@pytest.mark.parametrize(
    ("first", "article"),
    [("Ukrainian", "a"), ("LGBT", "an"), ("HIV-positive", "an"), ("Asian", "an"), ("cis", "a")],
)
def test_a_pair_has_the_article_that_the_table_gives_its_first_word(
    first: str, article: str
) -> None:
    woman = next(group for group in DEFAULT.groups if group.name == "woman")
    assert (
        pair(
            SocialGroup(first, "own", f"{first} person", f"{first} people", article, first), woman
        ).article
        == article
    )


def test_where_the_adjective_is_another_word_its_article_is_guessed() -> None:
    woman = next(group for group in DEFAULT.groups if group.name == "woman")
    assert (
        pair(SocialGroup("senior", "age", "senior", "seniors", "a", "elderly"), woman).article
        == "an"
    )
    assert (
        pair(
            SocialGroup("immigrant", "origin", "immigrant", "immigrants", "an", "foreign"), woman
        ).article
        == "a"
    )


def test_a_pair_of_groups_without_an_adjective_is_not_made() -> None:
    doctor = next(group for group in DEFAULT.groups if group.name == "doctor")
    woman = next(group for group in DEFAULT.groups if group.name == "woman")
    assert pair(woman, doctor).singular == "female doctor"
    assert [one.name for one in pairs([doctor, woman], Rules())] == ["female doctor"]


def test_without_synonyms_there_are_head_adjectives_alone() -> None:
    made = grid_of(Choice(synonyms=False))
    assert [trait.adjectives("left") for trait in made.traits] == [
        (trait.left,) for trait in DEFAULT.traits
    ]
    assert (
        "16 traits without synonyms"
        in chosen_benchmark(Choice(groups=("man",), synonyms=False)).notes[0]
    )
