"""Blanks on every family: log-probabilities, masses and distances are those of one whole forward
pass at a time."""

from __future__ import annotations

from math import log
from statistics import median
from typing import Any

import pytest
import torch

from stereometer.core.errors import ModelError
from stereometer.core.methods.spans import unknown_token
from stereometer.core.runs.runner import distinct, planned, scored
from stereometer.core.types import (
    HIDDEN,
    SET_DISTANCES,
    WORD_MASSES,
    MaskedBlank,
    NextTokens,
    NoOptions,
    SpanVectors,
)
from stereometer.kinds.traits.abc.items import Choice, TraitCell, chosen_benchmark
from stereometer.kinds.traits.methods.association import (
    CAUSAL_ILPS,
    CAUSAL_SET,
    ILPS,
    ILPS_STAR,
    SET,
)
from tests.builders.models.builders import names
from tests.builders.models.zoo import Zoo
from tests.builders.set_distance import by_rule
from tests.builders.sure import all_of

ITEMS = all_of(
    TraitCell,
    chosen_benchmark(
        Choice(groups=("woman", "Asian"), templates=("that", "plain", "trait-first"))
    ).items("trait"),
)
FEW = ITEMS[::5]
Values = list[tuple[float, float]]
"""The log-probability and the distance of each piece."""


def whole_pass(
    backend: Any, ids: list[int], segments: tuple[int, ...]
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, Any]:
    """Logits of all positions, and what the output embeddings were given and gave, by the model
    alone."""
    model, seen = backend.model, []
    layer = model.get_output_embeddings()
    hook = layer.register_forward_hook(
        lambda part, inputs, output: seen.append((inputs[0], output))
    )
    try:
        with torch.no_grad():
            extra = {"token_type_ids": torch.tensor([segments])} if segments else {}
            logits = model(input_ids=torch.tensor([ids]), **extra).logits[0]
    finally:
        hook.remove()
    given, made = seen[-1]
    return (
        logits.double(),
        given.reshape(len(ids), -1).double(),
        made.reshape(len(ids), -1).double(),
        layer,
    )


@pytest.mark.parametrize(
    ("name", "spells"), [("bert", False), ("albert", False), ("roberta", True), ("gpt2", True)]
)
def test_the_token_for_unknown_words_is_found_where_words_can_be_unknown(
    zoo: Zoo, name: str, spells: bool
) -> None:
    """A tokenizer that spells everything in bytes may have such a token and never uses it."""
    backend = zoo.backend(name)
    assert unknown_token(backend.encode) == (
        None if spells else backend.checkpoint.tokenizer.unk_token_id
    )


def requests_of(backend: Any, binder: Any, variant: str = "sound") -> dict[str, Any]:
    return distinct(list(planned(FEW, binder.bind(backend, variant, NoOptions()))))


def assert_right(backend: Any, request: Any, row: Any) -> None:
    masked = isinstance(request, MaskedBlank)
    ids = (
        [backend.mask if one == HIDDEN else one for one in request.ids]
        if masked
        else list(request.ids)
    )
    logits, given, made, layer = whole_pass(backend, ids, request.segments if masked else ())
    at = request.position if masked else -1
    logs = logits[at].log_softmax(-1)
    assert list(row["logprob"]) == pytest.approx(
        [float(logs[token]) for token in request.asked], abs=1e-5
    )
    state = given[at].numpy()
    own = state @ layer.weight.double().numpy().T + (
        0 if layer.bias is None else layer.bias.double().numpy()
    )
    assert own == pytest.approx(made[at].numpy(), abs=1e-4)
    squared = float(state @ state) + (layer.bias is not None)
    for token, distance in zip(request.asked, row["distance"], strict=True):
        assert distance == pytest.approx(
            by_rule(own, token, squared, request.margin), rel=1e-4, abs=1e-6
        )


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [name for name in names("masked") if name != "bert-real-vocabulary"]
)
def test_masked_blanks_are_those_of_whole_passes(zoo: Zoo, name: str) -> None:
    backend = zoo.backend(name)
    assert {MaskedBlank.kind, SET_DISTANCES} <= backend.abilities.all
    requests = requests_of(backend, SET)
    assert requests
    for key, answer in backend.answer(requests):
        assert_right(backend, requests[key], answer.rows[0])


@pytest.mark.long
@pytest.mark.parametrize("name", names("causal"))
def test_next_tokens_are_those_of_whole_passes(zoo: Zoo, name: str) -> None:
    """Gemma's logits are capped softly: its distance is on the logits before the cap."""
    backend = zoo.backend(name)
    assert {NextTokens.kind, SET_DISTANCES} <= backend.abilities.all
    requests = requests_of(backend, CAUSAL_SET)
    for key, answer in backend.answer(requests):
        assert_right(backend, requests[key], answer.rows[0])


@pytest.mark.parametrize("name", ["bert", "roberta", "albert", "gpt2"])
def test_masses_are_sums_over_the_tokens_that_the_tokenizer_marks(zoo: Zoo, name: str) -> None:
    backend = zoo.backend(name)
    assert WORD_MASSES in backend.abilities.all
    tokenizer = backend.checkpoint.tokenizer
    marks = {"bert": "##", "roberta": "\u0120", "albert": "\u2581", "gpt2": "\u0120"}
    special = set(tokenizer.all_special_ids)

    def begins(token: int) -> bool:
        text = tokenizer.convert_ids_to_tokens(token)
        return not text.startswith("##") if name == "bert" else text.startswith(marks[name])

    requests = requests_of(backend, CAUSAL_ILPS if name == "gpt2" else ILPS_STAR)
    for key, answer in list(backend.answer(requests))[:4]:
        request = requests[key]
        ids = [backend.mask if one == HIDDEN else one for one in request.ids]
        at = request.position if isinstance(request, MaskedBlank) else -1
        segments = request.segments if isinstance(request, MaskedBlank) else ()
        probabilities = whole_pass(backend, ids, segments)[0][at].softmax(-1)
        for token, mass in zip(request.asked, answer.rows[0]["logmass"], strict=True):
            same = [
                one
                for one in range(len(tokenizer))
                if one not in special and begins(one) == begins(token)
            ]
            assert mass == pytest.approx(float(probabilities[same].sum().log()), abs=1e-5)


@pytest.mark.parametrize(("name", "mark"), [("bert", "##"), ("roberta", "\u0120")])
def test_paper_renormalises_by_position_with_special_tokens(zoo: Zoo, name: str, mark: str) -> None:
    """The released way: the first piece by all tokens that begin a word, every later piece by all
    that go on with one, whatever the piece is; special tokens are among those without a mark."""
    backend = zoo.backend(name)
    tokenizer = backend.checkpoint.tokenizer
    marked = torch.tensor(
        [token.startswith(mark) for token in tokenizer.convert_ids_to_tokens(range(len(tokenizer)))]
    )
    first = ~marked if name == "bert" else marked
    item = next(item for item in ITEMS if item.trait.right == "science-oriented")

    def released(word: str, prior: bool) -> float:
        sentence = (item.frame.about_nobody() if prior else item.frame).sentence(word)
        start, end = sentence.trait
        space = " " if sentence.text[start - 1 : start] == " " and name == "roberta" else ""
        pieces = tokenizer(space + word, add_special_tokens=False)["input_ids"]
        masks = " ".join([tokenizer.mask_token] * len(pieces))
        ids = tokenizer(f"{sentence.text[:start]}{masks}{sentence.text[end:]}")["input_ids"]
        places = [at for at, token in enumerate(ids) if token == tokenizer.mask_token_id]
        total = 0.0
        for number, (place, piece) in enumerate(zip(places, pieces, strict=True)):
            shares = whole_pass(backend, ids, ())[0][place].softmax(-1)
            total += float((shares[piece] / shares[~first if number else first].sum()).log())
            ids[place] = piece
        return total

    (score,) = [
        scored(plan, measure, dict(backend.answer(distinct([plan]))))
        for measure in [ILPS_STAR.bind(backend, "paper", NoOptions())]
        for plan in planned(measure.items([item])[0], measure)
    ]
    words = ("science-oriented", "analytical", "logical", "athiestic")
    differences = [released(word, False) - released(word, True) for word in words]
    assert score.values["right"] == pytest.approx(median(differences), abs=1e-4)


def naive(backend: Any, item: Any, word: str, prior: bool) -> Values:
    """Log-probability and distance of each piece, from strings: the sentence cut by hand around the
    trait."""
    tokenizer = backend.checkpoint.tokenizer
    sentence = (item.frame.about_nobody() if prior else item.frame).sentence(word)
    found = tokenizer(sentence.text, return_offsets_mapping=True)
    ids, offsets = list(found["input_ids"]), found["offset_mapping"]
    inside = [
        at
        for at, (a, b) in enumerate(offsets)
        if b > a and b > sentence.trait[0] and a < sentence.trait[1]
    ]
    if prior:
        person = [
            at
            for at, (a, b) in enumerate(offsets)
            if b > a and b > sentence.group[0] and a < sentence.group[1]
        ]
        ids[person[0] : person[-1] + 1] = [backend.mask]
        inside = [at - len(person) + 1 if at > person[-1] else at for at in inside]
    pieces, values = [ids[at] for at in inside], []
    for number, at in enumerate(inside):
        shown = list(ids)
        for later in inside[number:]:
            shown[later] = backend.mask
        logits, given, made, layer = whole_pass(backend, shown, ())
        state = given[at].numpy()
        squared = float(state @ state) + (layer.bias is not None)
        distance = by_rule(made[at].numpy(), pieces[number], squared, 1.0)
        values.append((float(logits[at].log_softmax(-1)[pieces[number]]), distance))
    return values


def first_difference(group: Values, prior: Values) -> float:
    return group[0][0] - prior[0][0]


def log_ratio_of_distances(group: Values, prior: Values) -> float:
    return -log(max(distance for _, distance in group) / max(distance for _, distance in prior))


FORMULAS = ((ILPS, first_difference), (SET, log_ratio_of_distances))


def test_scores_are_those_computed_by_hand(zoo: Zoo) -> None:
    backend = zoo.backend("bert")
    for item in FEW[:6]:
        by_hand = {
            pole: (
                naive(backend, item, item.trait.head(pole), False),
                naive(backend, item, item.trait.head(pole), True),
            )
            for pole in ("left", "right")
        }
        for binder, formula in FORMULAS:
            measure = binder.bind(backend, "sound", NoOptions())
            (plan,) = planned([item], measure)
            score = scored(plan, measure, dict(backend.answer(distinct([plan]))))
            for pole, (group, prior) in by_hand.items():
                assert score.values[pole] == pytest.approx(formula(group, prior), abs=1e-4)


def test_one_pass_for_each_template_group_and_number_of_pieces(zoo: Zoo) -> None:
    """What is asked of a position is asked once: traits share it, and the second measure finds it
    answered."""
    backend = zoo.backend("bert")
    assert requests_of(backend, ILPS_STAR).keys() == requests_of(backend, SET).keys()
    assert requests_of(backend, ILPS).keys() < requests_of(backend, SET).keys()
    requests = requests_of(backend, SET).values()
    assert len({(request.ids, request.position) for request in requests}) == len(requests)


def test_vectors_are_the_last_hidden_states(zoo: Zoo) -> None:
    for name in ("bert", "gpt2"):
        backend = zoo.backend(name)
        encoding = backend.encode("The cook is busy.")
        request = SpanVectors(encoding.ids, (1, 2))
        ((_, answer),) = backend.answer({"k": request})
        with torch.no_grad():
            states = backend.model.base_model(input_ids=torch.tensor([encoding.ids]))[0][0]
        for at, row in zip((1, 2), answer.rows, strict=True):
            assert list(row["vector"]) == pytest.approx(states[at].tolist(), abs=1e-5)


def test_a_model_without_a_usable_output_layer_is_refused(zoo: Zoo) -> None:
    backend = zoo.backend("bert")
    backend.blanks.__dict__["output"] = None
    with pytest.raises(ModelError, match=r"cannot answer set. No last layer was found"):
        SET.bind(backend, "sound", NoOptions())
    assert ILPS.bind(backend, "sound", NoOptions())


def test_a_layer_whose_matrix_does_not_give_its_logits_is_not_believed(zoo: Zoo) -> None:
    from stereometer.models.local.forward import output_layer

    backend = zoo.backend("gpt2")
    layer = backend.model.get_output_embeddings()
    twice = layer.register_forward_hook(lambda part, inputs, output: output.flip(-1))
    try:
        assert output_layer(backend.split) is None
    finally:
        twice.remove()
    assert output_layer(backend.split) is not None


@pytest.mark.parametrize("name", ["gpt2", "bert"])
@pytest.mark.parametrize(
    ("after", "believed"),
    [
        pytest.param(lambda logits: 30 * torch.tanh(logits / 30), True, id="soft cap"),
        pytest.param(lambda logits: logits * 0.25, True, id="scale"),
        pytest.param(
            lambda logits: logits + 0.05 * logits.std() * torch.linspace(-1, 1, logits.shape[-1]),
            False,
            id="bias",
        ),
        pytest.param(lambda logits: -logits, False, id="turned round"),
    ],
)
def test_what_comes_after_the_layer_must_keep_the_order(
    zoo: Zoo, name: str, after: Any, believed: bool, monkeypatch: Any
) -> None:
    from stereometer.models.local.forward import output_layer

    split = zoo.backend(name).split
    head = split.head
    monkeypatch.setattr(split, "head", lambda rows: after(head(rows)))
    assert (output_layer(split) is not None) == believed


def test_families_are_told_apart(zoo: Zoo) -> None:
    with pytest.raises(
        ModelError, match=r"cannot answer set. It needs a model that fills in masks"
    ):
        SET.bind(zoo.backend("gpt2"), "sound", NoOptions())
    with pytest.raises(
        ModelError,
        match=r"cannot answer causal-set. It needs a model that reads from left to right",
    ):
        CAUSAL_SET.bind(zoo.backend("bert"), "sound", NoOptions())
    with pytest.raises(ModelError, match=r"cannot answer set"):
        SET.bind(zoo.backend("xlnet"), "sound", NoOptions())
