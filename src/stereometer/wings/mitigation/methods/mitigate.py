"""A mitigation from a method, a model, an attribute and a text: fitted, written, and measured on
the model as a user will open it."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from inspect import Parameter, Signature, signature
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, Unpack, get_type_hints

from stereometer.core import catalog
from stereometer.core.errors import UsageError
from stereometer.core.files import make_room
from stereometer.core.options import InFullPrecision, Option, verb
from stereometer.core.runs.open import open_model
from stereometer.core.runs.progress import Phases, phases
from stereometer.core.show.view import View, line
from stereometer.core.types import NoOptions
from stereometer.core.types.packages import check_packages
from stereometer.core.types.shown import Shown
from stereometer.wings.mitigation import attribute as attributes
from stereometer.wings.mitigation.card import ADAPTER, PROMPT, MitigationCard
from stereometer.wings.mitigation.methods.method import (
    CdaOptions,
    InlpOptions,
    MitigationFit,
    MitigationMethod,
    MitigationOrder,
    SelfDebiasOptions,
    SentenceDebiasOptions,
)
from stereometer.wings.mitigation.methods.sentences import TrainingSentences, read
from stereometer.wings.mitigation.swapping import Swaps
from stereometer.wings.training.articles import ARTICLES
from stereometer.wings.training.recipe import Draws, check_seed, trainable, with_states

if TYPE_CHECKING:
    from stereometer.models.local.language_model import LanguageModel


NEEDED = ("torch", "transformers", "safetensors", "sentencex")
"""Packages of every method."""
CONTROL = ".control"
"""In the name of a control's file, before the suffix."""


Part = tuple[MitigationCard, MitigationFit, Path]
"""What was fitted with its card, and where it goes."""


class Mitigations(Shown, list[MitigationCard]):
    """The cards of a mitigation and of its control."""

    __repr__ = list.__repr__
    model: str
    out: Path
    remarks: Sequence[str] = ()

    def view(self) -> View:
        beside = [self.out.with_name(card.control) for card in self if card.control]
        changed = "".join(f" --model {self.model}+{place}" for place in (self.out, *beside))
        use = line(f"use it: --model {self.model}{changed}", whole=True)
        return View(parts=(*(card.view() for card in self), use))

    def as_json(self) -> dict[str, Any]:
        cards = [card.as_json() for card in self]
        return {"schema": "mitigations@1", "file": str(self.out), "cards": cards}


@verb
def mitigate_model(
    method: Annotated[str, "leace, inlp, sentence-debias, self-debias or cda."],
    *,
    model: Annotated[
        str | Path, Option("The model that is changed.", words=str, flags=("--model", "-m"))
    ],
    attribute: Annotated[
        str | Path,
        Option("What is to be taken away: gender, race, or a file of your own.", words=str),
    ],
    text: Annotated[str | Path | None, ARTICLES] = None,
    out: Annotated[str | Path, "The mitigation's file, which ends in .safetensors."],
    variant: Annotated[
        str, "`sound`, or `paper`, which follows the code of Meade et al. 2022."
    ] = "sound",
    settings: Annotated[
        Mapping[str, Any] | None,
        'Of the method, by the names of the command\'s options, such as {"rounds": 20}.',
    ] = None,
    seed: Draws = 0,
    control: Annotated[bool, "Also make the control to compare it with."] = True,
    against: Annotated[
        Sequence[str | Path],
        "A file of items of your own that the text must share no sentence with, besides the "
        "benchmarks on this machine; may be repeated.",
    ] = (),
    states: Annotated[
        str | Path | None,
        "Keep the model's states in this folder, to reuse for other methods or after a stop.",
    ] = None,
    sentences: Annotated[
        int, "Fit on at most this many sentences of each class, drawn at random."
    ] = 1000,
    progress: Phases | bool = True,
    **loading: Unpack[InFullPrecision],
) -> Mitigations:
    """Fit a mitigation to a model and write it, with its control beside it: the cards of both.

    The mitigated model is then `f"{model}+{out}"`, in float32. Only self-debias needs no text, and
    the `out` of cda is a folder. `progress` gets what is done, how far, of how much, and a note; by
    default it is a bar for each, with False nothing.
    """
    check_packages("Mitigations", NEEDED, "mitigate")
    started, own = perf_counter(), catalog.find("mitigation", method)
    place, articles = Path(out), Path(text) if text else None
    _check(own, place, articles, seed, control, against)
    words, how = attributes.load(str(attribute)), {**loading, "dtype": "float32"}
    backend = with_states(open_model(str(model), seed, how))
    own.check(backend.checkpoint.family, variant, str(model))
    _check_own_states(backend, articles is not None)
    drawn = TrainingSentences(Swaps(words))
    if articles is not None:
        files = tuple(map(Path, against))
        drawn = read(articles, words, sentences, seed, files, own.form != PROMPT)
    options, keep = _options(own, settings or {}), Path(states) if states else None
    with phases(progress) as report:
        order = MitigationOrder(backend, words, drawn, variant, options, seed, report, keep)
        parts = list(_fit(order, own, place, control, articles.name if articles else ""))
        made = Mitigations(_measure(order, parts, str(model), how))
    made.model, made.out = str(model), place
    made.remarks = [f"Made in {perf_counter() - started:.0f} s."]
    return made


def _fit(
    order: MitigationOrder, method: MitigationMethod, out: Path, has_control: bool, text: str
) -> Iterator[Part]:
    """The mitigation, and its control if there is one."""
    fitted = method.fit(order)
    control = method.control(order, fitted) if has_control else None
    card = _card(order, method, fitted, text)
    if control is None:
        yield card, fitted, out
        return
    beside, name = control_path(out), str(control.settings["control"])
    yield replace(card, control=beside.name), fitted, out
    ours = _card(order, method, control, text)
    yield replace(ours, method=name, control_of=card.method), control, beside


def control_path(out: Path) -> Path:
    """Where the control of a mitigation lies: beside it."""
    return out.with_name(f"{out.stem}{CONTROL}{out.suffix}")


def _check(
    method: MitigationMethod,
    out: Path,
    text: Path | None,
    seed: int,
    has_control: bool,
    against: Sequence[str | Path],
) -> None:
    """Raises at once for what would fail after the work."""
    check_seed(seed)
    _check_out(out, method.form, has_control)
    if text is None and method.form != PROMPT:
        raise UsageError(
            f"{method.name} is fitted on text, and none is named. Give articles with --text."
        )
    if text is None and against:
        raise UsageError(
            "There is no text to check against the items. Give one with --text, or leave out "
            "--against."
        )
    make_room(out)


def _check_out(out: Path, form: str, has_control: bool) -> None:
    """What is there already is only written over where it is a mitigation itself."""
    from stereometer.wings.mitigation.forms.stored import has_card

    is_folder, named_as_file = form == ADAPTER, out.suffix == ".safetensors"
    if is_folder == named_as_file or (out.is_file() if is_folder else out.is_dir()):
        kind = "a folder with an adapter" if is_folder else "a file that ends in .safetensors"
        raise UsageError(
            f"{out} is not the name of such a mitigation. It is {kind}. Name another with --out."
        )
    for path in (out, control_path(out))[: 1 + has_control]:
        if path.exists() and not has_card(path):
            raise UsageError(
                f"{path} already exists and is not a mitigation. It would be overwritten, as a "
                "mitigation or as its control. Name another with --out."
            )


def _options(method: MitigationMethod, settings: Mapping[str, Any]) -> Any:
    known = [field.name for field in fields(method.options)]
    if unknown := sorted(set(settings) - set(known)):
        raise UsageError(
            f"{method.name} has no setting {unknown[0]}. It has {', '.join(known) or 'none'}."
        )
    return method.options(**settings)


def _check_own_states(backend: "LanguageModel", are_read: bool) -> None:
    """A mitigation that is there already must not be left out of what is fitted or probed."""
    from stereometer.wings.mitigation.forms.apply import is_wrapped

    if is_wrapped(backend):
        raise UsageError(
            f"{backend.checkpoint.name} has a mitigation that wraps the model. What is fitted on "
            "its weights would leave that out. Name the model without it."
        )
    if are_read:
        trainable(backend)


def _card(
    order: MitigationOrder, method: MitigationMethod, fitted: MitigationFit, text: str
) -> MitigationCard:
    attribute = order.attribute
    return MitigationCard(
        method=str(fitted.settings.get("method", method.name)),
        form=method.form,
        base=order.backend.checkpoint.name,
        base_digest=order.backend.weights,
        variant=order.variant,
        attribute=attribute.name,
        domains=attribute.domains,
        words=attribute.words,
        words_digest=attribute.digest,
        text=text,
        text_digest=order.sentences.text_digest,
        sentences=fitted.sentences,
        rank=fitted.rank,
        seed=order.seed,
        leaks=order.sentences.leaks,
        settings=fitted.settings,
        notes=fitted.notes,
    )


@contextmanager
def _work_folder(out: Path) -> Iterator[Path]:
    """A folder beside a mitigation: what a kill leaves there, the next run removes."""
    folder = out.with_name(f".{out.name}.unmeasured")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _measure(
    order: MitigationOrder, parts: Sequence[Part], model: str, loading: Mapping[str, Any]
) -> list[MitigationCard]:
    """What a user opens is measured, under another name: what stands under its own was measured."""
    from stereometer.wings.mitigation.forms.stored import save
    from stereometer.wings.mitigation.methods import probing

    passages = order.sentences.passages
    probes = probing.Probing(order) if passages else None
    before = probing.likelihoods(order.backend, passages)
    noted: list[Part] = []
    with _work_folder(parts[0][2]) as folder:
        for card, fitted, path in parts:
            first = folder / path.name
            save(card, fitted.tensors, first)
            opened = with_states(open_model(f"{model}+{first}", order.seed, loading))
            if probes is not None:
                after = probing.likelihoods(opened, passages)
                how = list(passages.values()), probing.is_pseudo(opened)
                ratio = probing.compared(before, after, *how)
                card = replace(probes.noted(card, fitted, opened), perplexity=ratio)
            noted.append((card, fitted, path))
    return [save(card, fitted.tensors, path) for card, fitted, path in noted]


# ---------------------------------- by one method each: `stereometer mitigate leace` and the others

KEYWORD = Parameter.KEYWORD_ONLY
TEXT = Parameter("text", KEYWORD, annotation=Annotated[str | Path, ARTICLES])
MEASURED = Option("What probes and perplexity are measured on; nothing is fitted.", words=Path)
MEASURED_TEXT = Parameter(
    "text", KEYWORD, default=None, annotation=Annotated[str | Path | None, MEASURED]
)
FOLDER = Option("A new folder for the adapter.", words=Path)
ADAPTER_FOLDER = Parameter("out", KEYWORD, annotation=Annotated[str | Path, FOLDER])


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
                    how = {"default": field.default, "annotation": hints[field.name]}
                    yield Parameter(field.name, KEYWORD, **how)
            elif name not in ("method", *without):
                yield others.get(name, each)

    every = list(parameters())
    mitigated.__signature__ = Signature(every)  # type: ignore[attr-defined]
    mitigated.__annotations__ = {each.name: each.annotation for each in every}
    return verb(mitigated)


leace = _by("leace", NoOptions, TEXT, without=("variant",))
inlp = _by("inlp", InlpOptions, TEXT)
sentence_debias = _by("sentence-debias", SentenceDebiasOptions, TEXT)
self_debias = _by("self-debias", SelfDebiasOptions, MEASURED_TEXT, without=("variant", "sentences"))
cda = _by("cda", CdaOptions, TEXT, ADAPTER_FOLDER, without=("variant",))
