"""SentenceDebias (Liang et al. 2020): the directions in which a sentence and its counterfactuals
differ most are taken away.

`paper`: pooled over all tokens, each vector of length one. `sound`: at scored positions.
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from stereometer.core.errors import UsageError
from stereometer.wings.mitigation.methods.linear import ProjectionMethod, orthogonal
from stereometer.wings.mitigation.methods.method import (
    MitigationFit,
    MitigationOrder,
    SentenceDebiasOptions,
)
from stereometer.wings.mitigation.methods.sentences import counted


class SentenceDebias(ProjectionMethod):
    name, variants, options = "sentence-debias", ("sound", "paper"), SentenceDebiasOptions

    def fit(self, order: MitigationOrder) -> MitigationFit:
        differences, mean, sentences = _differences(order)
        count, width = order.options.components, differences.shape[1]
        if not 1 <= count < width:
            raise UsageError(
                f"--components is {count} of {width} dimensions. Choose from 1 to {width - 1}."
            )
        basis, shares = components(differences, count)
        projection = orthogonal(basis, mean)
        settings = {"components": count, "variance": shares}
        return MitigationFit(projection.tensors, projection.rank, settings, sentences=sentences)


METHOD = SentenceDebias()


def _differences(order: MitigationOrder) -> tuple[Tensor, Tensor | None, Mapping[str, int]]:
    """Of every version from the mean over the versions of its sentence; the mean of all, which the
    variant `paper` does not spare; and the number of sentences by class."""
    reader = order.reader()
    if order.variant == "sound":
        states = reader.scored(order.sentences.fit, "fitted on")
        return states.differences(), states.rows.mean(0), order.counted(states)
    sentences = [part for part in order.sentences.fit if reader.reads(part.versions.values())]
    rows = [
        reader.pooled([part.versions[name] for part in sentences], f"fitted on, {name}")
        for name in order.attribute.classes
    ]
    units = torch.nn.functional.normalize(torch.stack(rows), dim=-1, eps=0.0)
    return (units - units.mean(0)).flatten(0, 1), None, counted(sentences, order.attribute)


def components(differences: Tensor, count: int) -> tuple[Tensor, list[float]]:
    """The principal directions as orthonormal columns, and the share of variance of each."""
    centred = differences - differences.mean(0)
    values, vectors = torch.linalg.eigh(centred.T @ centred)
    shares = (values / values.sum()).flip(0)[:count].tolist()
    return vectors.flip(1)[:, :count].contiguous(), shares
