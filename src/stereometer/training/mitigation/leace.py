"""LEACE (Belrose et al. 2023): the least change after which no linear classifier reads a class.

The library computes it. Its trace constraint would mix in another projection and leave some of the
class behind; its shrinkage would make the change larger than the least. Both are off.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from torch import Tensor

from stereometer.backends.local.mitigation.fold import Projection
from stereometer.errors import ModelError
from stereometer.training.mitigation.method import Fitted, Order
from stereometer.training.mitigation.projections import ProjectionMethod
from stereometer.types import NoOptions

SMALLEST = 1e-12
"""Singular value of the whitened covariance with the label that still counts."""


@dataclass(frozen=True)
class Leace(ProjectionMethod):
    name: str = "leace"
    variants: tuple[str, ...] = ("sound",)
    options: type[NoOptions] = NoOptions

    def fit(self, order: Order) -> Fitted:
        states = order.reader().scored(order.sentences.fit, "fitted on")
        projection = erased(states.rows, states.labels)
        settings = {"rows": len(states.rows)}
        return Fitted(
            projection.tensors, projection.rank, settings, sentences=order.counted(states)
        )


METHOD = Leace()


def library() -> Any:
    """concept-erasure, which compiles parts of itself in a way that torch is giving up."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return import_module("concept_erasure")
    except ImportError:
        raise ModelError(
            "LEACE needs the package concept-erasure. It is in the optional part `mitigate` of "
            "the package. From a clone: `pip install '.[mitigate]'`."
        ) from None


def erased(rows: Tensor, labels: Tensor) -> Projection:
    """The projection whose covariance with the label is zero and which changes the rows least."""
    one_hot = torch.nn.functional.one_hot(labels).double()[:, 1:]  # the first is 1 less the others
    fitter = library().LeaceFitter(
        rows.shape[1],
        one_hot.shape[1],
        dtype=torch.float64,
        constrain_cov_trace=False,
        shrinkage=False,
        svd_tol=SMALLEST,
    )
    eraser = fitter.update(rows.double(), one_hot).eraser
    kept = eraser.proj_right.abs().sum(1) > 0
    return Projection(eraser.proj_left[:, kept], eraser.proj_right[kept], fitter.mean_x)
