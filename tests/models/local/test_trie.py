"""Texts laid out as trees: every text a path, nothing twice, everything asked once."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from stereometer.core.types import CausalTokens
from stereometer.models.local.batches import LARGEST, Tree, trees, whole

Requests = dict[str, CausalTokens]


@st.composite
def some_requests(draw: st.DrawFn) -> Requests:
    """Texts over few tokens, so that many begin alike; some are another's beginning, some the same
    with another start."""
    texts = draw(
        st.lists(st.lists(st.integers(0, 2), min_size=2, max_size=9), min_size=1, max_size=12)
    )
    return {
        f"r{number}": CausalTokens(tuple(ids), draw(st.integers(1, len(ids) - 1)))
        for number, ids in enumerate(texts)
    }


def path_to(tree: Tree, node: int) -> list[int]:
    path = [node]
    while tree.parents[path[0]] >= 0:
        path.insert(0, tree.parents[path[0]])
    return path


def asked(found: list[Tree]) -> list[tuple[str, int, tuple[int, ...], int]]:
    """Who asks for what: request, number in its row, the tokens before it, the token."""
    return [
        (key, number, tuple(tree.tokens[one] for one in path_to(tree, node)), token)
        for tree in found
        for node, tokens in tree.asked.items()
        for token, places in tokens.items()
        for key, number in places
    ]


@settings(deadline=None)
@given(some_requests())
def test_every_scored_token_is_asked_once_after_exactly_what_comes_before_it(
    requests: Requests,
) -> None:
    for laid_out in (trees, whole):
        wanted = [
            (key, number, request.ids[:position], request.ids[position])
            for key, request in requests.items()
            for number, position in enumerate(range(request.start, len(request.ids)))
        ]
        assert sorted(asked(laid_out(requests))) == sorted(wanted)


@settings(deadline=None)
@given(some_requests())
def test_parents_come_first_and_depths_count_them(requests: Requests) -> None:
    for tree in trees(requests):
        assert len(tree.tokens) == len(tree.parents) == len(tree.depths) == len(tree)
        for node, (parent, depth) in enumerate(zip(tree.parents, tree.depths, strict=True)):
            assert parent < node
            assert depth == (tree.depths[parent] + 1 if parent >= 0 else 0)


@settings(deadline=None)
@given(some_requests())
def test_ancestors_are_the_way_to_the_root(requests: Requests) -> None:
    for tree in trees(requests):
        assert [list(line) for line in tree.ancestors()] == [
            path_to(tree, node) for node in range(len(tree))
        ]


@settings(deadline=None)
@given(some_requests())
def test_every_text_is_a_path_and_no_two_nodes_of_a_tree_stand_for_the_same_beginning(
    requests: Requests,
) -> None:
    found = trees(requests)
    for tree in found:
        beginnings = [
            tuple(tree.tokens[one] for one in path_to(tree, node)) for node in range(len(tree))
        ]
        assert len(set(beginnings)) == len(beginnings)
    everything = {
        tuple(tree.tokens[one] for one in path_to(tree, node))
        for tree in found
        for node in range(len(tree))
    }
    assert everything == {
        request.ids[:end] for request in requests.values() for end in range(1, len(request.ids))
    }


@settings(deadline=None)
@given(some_requests())
def test_sharing_never_costs_nodes(requests: Requests) -> None:
    alone = sum(len(request.ids) - 1 for request in requests.values())
    assert sum(map(len, trees(requests))) <= alone


@settings(deadline=None)
@given(some_requests())
def test_without_sharing_every_text_is_a_plain_line(requests: Requests) -> None:
    found = whole(requests)
    assert [tuple(tree.tokens) for tree in found] == [one.ids for one in requests.values()]
    assert all(tree.parents == list(range(-1, len(tree) - 1)) for tree in found)


@settings(deadline=None)
@given(some_requests(), st.randoms(use_true_random=False))
def test_the_order_of_asking_does_not_matter(requests: Requests, random: object) -> None:
    shuffled = list(requests.items())
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert Counter(map(len, trees(dict(shuffled)))) == Counter(map(len, trees(requests)))
    assert sorted(asked(trees(dict(shuffled)))) == sorted(asked(trees(requests)))


@settings(deadline=None)
@given(some_requests())
def test_each_node_is_brought_by_one_line(requests: Requests) -> None:
    for tree in trees(requests):
        brought = [node for line in tree.lines for node in line.nodes[line.shared :]]
        assert sorted(brought) == list(range(len(tree)))
        assert all(line.nodes == path_to(tree, line.nodes[-1]) for line in tree.lines)


def test_a_tree_of_several_texts_has_at_most_so_many_nodes() -> None:
    start = tuple(range(50))
    requests = {
        f"r{number}": CausalTokens((*start, *(100 + number,) * 40), 1) for number in range(20)
    }
    found = trees(requests)
    assert len(found) > 1
    assert all(len(tree) <= LARGEST for tree in found)


def test_a_text_longer_than_a_tree_stands_alone() -> None:
    long = CausalTokens(tuple(range(LARGEST + 50)), 1)
    (tree,) = trees({"long": long})
    assert len(tree) == LARGEST + 49
