"""`mitigate` by one method each: the verbs of `stereometer mitigate leace` and the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from stereometer.options import Option, verb
from stereometer.training.articles import ARTICLES
from stereometer.training.mitigation import options
from stereometer.training.mitigation.mitigate import Mitigations, mitigate_model
from stereometer.types import NoOptions

KEYWORD = Parameter.KEYWORD_ONLY
TEXT = Parameter("text", KEYWORD, annotation=Annotated[str | Path, ARTICLES])
MEASURED = Option("What probes and perplexity are measured on; nothing is fitted.", words=Path)
MEASURED_TEXT = Parameter(
    "text", KEYWORD, default=None, annotation=Annotated[str | Path | None, MEASURED]
)
FOLDER = Option("A new folder for the adapter.", words=Path)
ADAPTER = Parameter("out", KEYWORD, annotation=Annotated[str | Path, FOLDER])


def _by(
    method: str, own: type[Any], *changed: Parameter, without: tuple[str, ...] = ()
) -> Callable[..., Mitigations]:
    """Takes what `mitigate` takes, with the method's own options in place of `settings`."""

    def mitigated(**given: Any) -> Mitigations:
        """Fit a mitigation to a model and write it, with its control beside it."""
        settings = {each.name: given.pop(each.name) for each in fields(own) if each.name in given}
        return mitigate_model(method, settings=settings, **given)

    def parameters() -> Iterator[Parameter]:
        others = {each.name: each for each in changed}
        for name, each in signature(mitigate_model, eval_str=True).parameters.items():
            if name == "settings":
                hints = get_type_hints(own, include_extras=True)
                for field in fields(own):
                    hint = hints[field.name]
                    yield Parameter(field.name, KEYWORD, default=field.default, annotation=hint)
            elif name not in ("method", *without):
                yield others.get(name, each)

    every = list(parameters())
    mitigated.__signature__ = Signature(every)  # type: ignore[attr-defined]
    mitigated.__annotations__ = {each.name: each.annotation for each in every}
    return verb(mitigated)


leace = _by("leace", NoOptions, TEXT, without=("variant",))
inlp = _by("inlp", options.InlpOptions, TEXT)
sentence_debias = _by("sentence-debias", options.SentenceDebiasOptions, TEXT)
self_debias = _by(
    "self-debias", options.SelfDebiasOptions, MEASURED_TEXT, without=("variant", "sentences")
)
cda = _by("cda", options.CdaOptions, TEXT, ADAPTER, without=("variant",))
