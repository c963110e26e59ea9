"""Self-Debias as a mitigation: a prompt and two numbers. Nothing is fitted."""

from dataclasses import replace
from typing import Any

from stereometer.core.errors import UsageError
from stereometer.wings.mitigation.card import PROMPT
from stereometer.wings.mitigation.methods.method import (
    MitigationFit,
    MitigationMethod,
    MitigationOrder,
    SelfDebiasOptions,
)

PROMPTS = {
    "gender": "What follows puts women or men down because of their gender:",
    "race": "What follows puts people down because of their race or the colour of their skin:",
}
"""Our own wording. The papers' prompts name the undesired in the same way, in other words."""
OTHER = "Here is a report about rain and snow in spring, with notes on gardens:"
"""Of the control: as many tokens, roughly, about something else, and in other words."""
CONTROL = "other-prompt"


class SelfDebias(MitigationMethod):
    name, form, options = "self-debias", PROMPT, SelfDebiasOptions

    def fit(self, order: MitigationOrder) -> MitigationFit:
        return _fit_of(order.options, _prompt(order))

    def control(self, order: MitigationOrder, fitted: MitigationFit) -> MitigationFit:
        control = _fit_of(order.options, OTHER)
        return replace(control, settings={**control.settings, "control": CONTROL})


METHOD = SelfDebias()


def _prompt(order: MitigationOrder) -> str:
    own, name = order.options.prompt.strip(), order.attribute.name
    if not own and name not in PROMPTS:
        raise UsageError(
            f"There is no prompt for the attribute {name}. Self-Debias needs a sentence that names "
            "what is not wanted. Write one with --prompt."
        )
    return own or PROMPTS[name]


def _fit_of(options: SelfDebiasOptions, prompt: str) -> MitigationFit:
    from stereometer.wings.mitigation.forms.self_debias import read

    settings: dict[str, Any] = {"prompt": prompt, "lambda": options.decay, "eps": options.eps}
    try:
        read(settings)
    except ValueError as error:
        raise UsageError(f"Self-Debias cannot be made: {error}. Change it.") from None
    return MitigationFit({}, None, settings, sentences={})
