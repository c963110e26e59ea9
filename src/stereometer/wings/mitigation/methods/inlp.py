"""INLP (Ravfogel et al. 2020): classifiers one after another, each on states without what those
before it read; what all of them read is taken away.

`paper`: pooled sentences, a fixed number of rounds (Meade et al. 2022). Of two classes, each of
them and sentences without any list word, one against the rest; of more, as that code does for race
and religion, any list word against none. `sound`: sentences and their counterfactuals at scored
positions, until held-out sentences cannot be told apart.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from stereometer.core.errors import DataError, ModelError, UsageError
from stereometer.wings.mitigation.methods import linear
from stereometer.wings.mitigation.methods.method import InlpOptions, MitigationFit, MitigationOrder
from stereometer.wings.mitigation.methods.probing import share
from stereometer.wings.mitigation.methods.sentences import counted
from stereometer.wings.mitigation.methods.states import States

PAPER_ROUNDS, MOST_ROUNDS = 80, 40
"""In the paper's code, and here at most."""
NOTHING = 1e-8
"""Weights up to this are none, as in the code of Ravfogel et al.: they read rounding alone."""


@dataclass(frozen=True)
class Rounds:
    """What was taken away."""

    basis: Tensor
    """Orthonormal columns."""
    weights: Tensor
    """Of every classifier, one per row."""
    rounds: int
    at_chance: bool
    """Whether it stopped because nothing could be told any more."""


class Inlp(linear.ProjectionMethod):
    name, variants, options = "inlp", ("sound", "paper"), InlpOptions

    def fit(self, order: MitigationOrder) -> MitigationFit:
        if order.options.rounds < 0:
            raise UsageError(
                f"--rounds is {order.options.rounds}. A round fits a classifier. Choose 1 or more."
            )
        done, mean, sentences = (_as_printed if order.variant == "paper" else _until_chance)(order)
        if not done.rounds:
            raise ModelError(
                f"Held-out sentences of {order.attribute.name} cannot be told apart by states of "
                f"{order.backend.checkpoint.name}. There is nothing that INLP could take away. "
                "Choose another model or attribute."
            )
        projection = linear.orthogonal(done.basis, mean)
        notes = () if done.at_chance or order.variant == "paper" else (STOPPED.format(done.rounds),)
        settings = {"rounds": done.rounds}
        return MitigationFit(projection.tensors, projection.rank, settings, notes, sentences)


METHOD = Inlp()
STOPPED = (
    "INLP stopped after {} rounds. Before the last round, held-out sentences could still be told "
    "apart; it was not checked again afterwards."
)


Found = tuple[Rounds, Tensor | None, Mapping[str, int]]
"""What was taken away, the mean that states were measured from, and the sentences by class."""


def _as_printed(order: MitigationOrder) -> Found:
    """h' = P h, which takes away a part of the mean as well."""
    reader = order.reader()
    classes = _printed_classes(order).items()
    texts = {name: [text for text in part if reader.reads([text])] for name, part in classes}
    if empty := [name for name, part in texts.items() if not part]:
        raise DataError(
            f"The text has no sentence of the class '{empty[0]}' to fit on. The variant `paper` "
            "also needs sentences without any list word. Give another text, or use `sound`."
        )
    parts = [reader.pooled(part, f"fitted on, {name}") for name, part in texts.items()]
    labels = torch.cat([torch.full((len(part),), at) for at, part in enumerate(parts)])
    rows = torch.cat(parts)
    states = States(rows, labels, torch.arange(len(rows)))
    done = _last_round(taken_away(states), order, order.options.rounds or PAPER_ROUNDS)
    read = {text for part in texts.values() for text in part}
    fitted_on = (part for part in order.sentences.fit if part.text in read)
    return done, None, counted(fitted_on, order.attribute)


def _printed_classes(order: MitigationOrder) -> dict[str, list[str]]:
    """Sentences of each class that is told from the rest. Where all list words are one class, only
    every k-th sentence of k classes is taken, so that both sides are about as many."""
    names, fit = order.attribute.classes, order.sentences.fit
    own = {name: [part.text for part in fit if part.label == name] for name in names}
    if len(names) > 2:
        own = {"any": [part.text for part in fit[:: len(names)]]}
    return {**own, "neither": list(order.sentences.neutral)}


def _until_chance(order: MitigationOrder) -> Found:
    reader = order.reader()
    states = reader.scored(order.sentences.fit, "fitted on")
    held_out = reader.scored(order.sentences.probe, "to stop by").centred()
    steps = taken_away(states.centred(), held_out, order.seed)
    done = _last_round(steps, order, order.options.rounds or MOST_ROUNDS)
    return done, states.rows.mean(0), order.counted(states)


def _last_round(steps: Iterator[Rounds], order: MitigationOrder, most: int) -> Rounds:
    for done in steps:
        order.progress("rounds", done.rounds, most, f"rank {done.basis.shape[1]}")
        if done.rounds == most or done.at_chance:
            break
    return done


def taken_away(states: States, held_out: States | None = None, seed: int = 0) -> Iterator[Rounds]:
    """What is taken away after each round, until there is nothing left or held-out rows cannot be
    told apart better than by chance."""
    width = states.rows.shape[1]
    basis, every = states.rows.new_zeros(width, 0), states.rows.new_zeros(0, width)
    chance = 100 / len(states.labels.unique())
    for number in range(1, width + 1):
        rows = without(states.rows, basis)
        weights = without(linear.classifiers(rows, states.labels), basis)
        if held_out is not None:
            correct = linear.predicted(without(held_out.rows, basis), weights) == held_out.labels
            if share(correct, held_out.sentences, seed).low <= chance:
                yield Rounds(basis, every, number - 1, True)
                return
        basis, every = _extend(basis, weights), torch.cat([every, weights])
        yield Rounds(basis, every, number, False)
        if basis.shape[1] >= width:
            return


def without(rows: Tensor, basis: Tensor) -> Tensor:
    return rows - rows @ basis @ basis.T


def _extend(basis: Tensor, weights: Tensor) -> Tensor:
    """An orthonormal basis with new weights, which may add nothing to those of other classes."""
    fresh = without(weights, basis)
    if float(fresh.abs().max()) <= NOTHING:
        return basis
    left, sizes, _ = torch.linalg.svd(fresh.T, full_matrices=False)
    new = left[:, sizes > 1e-8 * float(sizes.max())]
    joined = torch.cat([basis, new], dim=1)
    orthonormal: Tensor = torch.linalg.qr(joined[:, : len(basis)]).Q
    return orthonormal
