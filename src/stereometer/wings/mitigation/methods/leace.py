"""LEACE (Belrose et al. 2023): the least change after which no linear classifier reads a class.

The library computes it. Its trace constraint would mix in another projection and leave some of the
class behind; its shrinkage would make the change larger than the least. Both are off.
"""

import warnings
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from stereometer.core.types.packages import check_packages
from stereometer.wings.mitigation.forms.apply import Projection
from stereometer.wings.mitigation.methods.linear import ProjectionMethod
from stereometer.wings.mitigation.methods.method import MitigationFit, MitigationOrder

SMALLEST = 1e-12
"""Singular value of the whitened covariance with the label that still counts."""
ROUNDING = 1e-6
"""Spread of states, as a share of their size, that float32 and the order of sums can make."""


class Leace(ProjectionMethod):
    name = "leace"

    def fit(self, order: MitigationOrder) -> MitigationFit:
        states = order.reader().scored(order.sentences.fit, "fitted on")
        projection, settings = erased(states.rows, states.labels), {"rows": len(states.rows)}
        sentences = order.counted(states)
        return MitigationFit(projection.tensors, projection.rank, settings, sentences=sentences)


METHOD = Leace()


def library() -> Any:
    """concept-erasure, which compiles parts of itself in a way that torch is giving up."""
    check_packages("LEACE", ["concept_erasure"], "mitigate")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return import_module("concept_erasure")


def erased(rows: Tensor, labels: Tensor) -> Projection:
    """The projection whose covariance with the label is zero and which changes the rows least.

    Rows that a normalising layer made have a direction in which nothing but rounding differs. To
    tell classes by it, rounding would have to be magnified a thousandfold: such directions are
    changed, but nothing is read along them.
    """
    rows = rows.double()
    one_hot = torch.nn.functional.one_hot(labels).double()[:, 1:]  # the first is 1 less the others
    mean, centred_labels = rows.mean(0), one_hot - one_hot.mean(0)
    # Orthonormal columns: the directions in which rows differ by more than float32 rounds.
    spreads, directions = torch.linalg.eigh(torch.cov(rows.T, correction=0))
    basis = directions[:, spreads > ROUNDING**2 * rows.square().mean()]
    how = {"constrain_cov_trace": False, "shrinkage": False, "svd_tol": SMALLEST}
    fitter = library().LeaceFitter(basis.shape[1], one_hot.shape[1], dtype=torch.float64, **how)
    right = fitter.update((rows - mean) @ basis, one_hot).eraser.proj_right
    right = right[right.abs().sum(1) > 0] @ basis.T
    covariance = (rows - mean).T @ centred_labels / len(rows)
    return Projection(covariance @ torch.linalg.pinv(right @ covariance), right, mean)
