"""Probes on a model's states before a mitigation, and on those that it leaves."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from stereometer.backends.local.language_model import LanguageModel
from stereometer.backends.local.mitigation.fold import Projection
from stereometer.mitigations.card import ADAPTER, PROJECTION, MitigationCard, Probe
from stereometer.training.mitigation.method import Fitted, Order
from stereometer.training.mitigation.probes import accuracy
from stereometer.training.mitigation.states import States

Parts = tuple[States, States]
"""What a probe is trained on, and what it is tested on."""


class Probing:
    def __init__(self, order: Order) -> None:
        self.order = order
        config = order.backend.model.config
        self.halfway = max(1, int(getattr(config, "num_hidden_layers", 2)) // 2)

    def noted(self, card: MitigationCard, fitted: Fitted, opened: LanguageModel) -> MitigationCard:
        """The card with probes of the last states as the head reads them, and of those halfway up.

        A projection changes the last states alone, a prompt none; an adapter may change all.
        """
        last, earlier = self._last, self._earlier
        if card.form == PROJECTION:
            projection = Projection(**fitted.tensors)
            training, test = (part.projected(projection) for part in last)
            last = training, test
        elif card.form == ADAPTER:
            last, earlier = self._read(opened, 0), self._read(opened, self.halfway)
        probe = self._probe(self._last, last, 0)
        return replace(card, probe=probe, earlier=self._probe(self._earlier, earlier, self.halfway))

    @cached_property
    def _last(self) -> Parts:
        return self._read(self.order.backend, 0)

    @cached_property
    def _earlier(self) -> Parts:
        return self._read(self.order.backend, self.halfway)

    def _read(self, backend: LanguageModel, layer: int) -> Parts:
        order, where = self.order, f", layer {layer}" if layer else ""
        reader = order.reader(backend, layer)
        training = reader.scored(order.sentences.probe, f"probe{where}")
        return training, reader.scored(order.sentences.test, f"held out{where}")

    def _probe(self, before: Parts, after: Parts, layer: int) -> Probe:
        first = accuracy(*before, self.order.seed)
        second = first if after is before else accuracy(*after, self.order.seed)
        return Probe(first, second, 100 / len(self.order.attribute.classes), layer)
