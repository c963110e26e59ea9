"""Faster parts of a twin give what the part gives, and only parts that are understood get one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import Linear, Module, functional

from stereometer.backends.local.lean import choice, leaves
from stereometer.backends.local.lean.leaves import quicken
from stereometer.backends.local.lean.products import activation_of, linear, times
from tests.builders.models.agreement import assert_same, family, rows, slow
from tests.builders.models.builders import GROUPED
from tests.unit.backends.local.test_architectures import causal, model_of


class Gated(Module):
    def __init__(self, bias: bool, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.gate_proj, self.up_proj = Linear(24, 40, bias=bias), Linear(24, 40, bias=bias)
        self.down_proj, self.act_fn = Linear(40, 24, bias=bias), activation

    def forward(self, states: Tensor) -> Tensor:
        gates = self.act_fn(self.gate_proj(states)) * self.up_proj(states)
        narrow: Tensor = self.down_proj(gates)
        return narrow


class Clipped(Gated):
    """Looks like the other, and computes something else."""

    def forward(self, states: Tensor) -> Tensor:
        return super().forward(states).clamp(-0.01, 0.01)


class Adapted(Linear):
    """A linear layer with something added."""

    def forward(self, states: Tensor) -> Tensor:
        return super().forward(states) + 1


def tanh_gelu(states: Tensor) -> Tensor:
    return functional.gelu(states, approximate="tanh")


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    "activation", [functional.silu, functional.gelu, tanh_gelu, functional.relu]
)
@torch.inference_mode()
def test_a_gated_layer_is_computed_by_three_products(
    bias: bool, activation: Callable[[Tensor], Tensor]
) -> None:
    part = Gated(bias, activation)
    states = torch.randn(1, 30, 24)
    expected = part(states)
    quicken(part)
    assert "forward" in vars(part)
    torch.testing.assert_close(part(states), expected, rtol=0, atol=1e-6)


@torch.inference_mode()
def test_what_is_not_understood_keeps_its_own_forward() -> None:
    odd = Gated(False, torch.sin)
    for part in (Clipped(True, functional.silu), Adapted(8, 8), odd, torch.nn.LayerNorm(8)):
        quicken(part)
        assert "forward" not in vars(part)
    assert "forward" in vars(odd.gate_proj)  # its linear layers are what they are
    assert activation_of(torch.sin) is None


@pytest.mark.parametrize(("deep", "wide"), [(24, 40), (576, 192), (64, 96), (17, 33), (1536, 8)])
@torch.inference_mode()
def test_a_row_of_a_product_depends_on_no_other(deep: int, wide: int) -> None:
    torch.manual_seed(2)
    inputs, weight, bias = torch.randn(200, deep), torch.randn(wide, deep), torch.randn(wide)
    whole = linear(inputs, weight, bias, ("swish", ""))
    more = times(inputs, weight, bias, whole)
    for start, count in ((0, 2), (3, 16), (7, 17), (50, 64), (11, 150)):
        part = slice(start, start + count)
        few = linear(inputs[part], weight, bias, ("swish", ""))
        assert torch.equal(few, whole[part])
        assert torch.equal(times(inputs[part], weight, bias, few), more[part])


def test_faster_parts_that_disagree_step_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The twin with the model's own parts takes over."""

    def wrong(trunk: Any) -> None:
        for part in trunk.modules():
            if leaves.is_linear(part):
                part.forward = lambda states, part=part: functional.linear(
                    states, part.weight * 1.01, part.bias
                )

    monkeypatch.setattr(choice, "has_onednn", lambda: True)
    monkeypatch.setattr("stereometer.backends.local.lean.twin.quicken", wrong)
    model = model_of("Llama", **GROUPED)
    backend, asked = causal(model), family(12, 9, 3)
    before = len(backend.layouts)
    assert_same(rows(backend, asked), slow(model, asked))
    assert getattr(backend.layouts[0], "func", None) == backend.in_paths
    assert len(backend.layouts) == before - 1
