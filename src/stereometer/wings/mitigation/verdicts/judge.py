"""From stored runs to what is said of the mitigations among them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stereometer.core import catalog
from stereometer.core.addendum import Addendum
from stereometer.core.errors import UsageError
from stereometer.core.runs.stored import Side
from stereometer.core.shapes.sentences import plain_name
from stereometer.core.shapes.verdicts import NULL_VALUE
from stereometer.core.show.figure import Figure
from stereometer.core.show.numbers import slice_name
from stereometer.core.types import Result, Settings, Slice
from stereometer.report.systems import Group
from stereometer.wings.mitigation.card import ADAPTER, PROMPT, MitigationCard, card_of
from stereometer.wings.mitigation.verdicts import sides as trios
from stereometer.wings.mitigation.verdicts.judged import (
    MARGIN,
    Effect,
    KeptMetric,
    Mitigated,
    verdict_of,
)
from stereometer.wings.mitigation.verdicts.sides import Held, Trio, mitigation_of

# --------------------------------------------------------------------------- what belongs together

ALIKE = ("lambda", "eps", "tokens", "rate", "trained_texts", "mean")
"""Settings that a control has from its mitigation, where the method has them."""


def is_base(result: Result, card: MitigationCard) -> bool:
    """Whether a mitigation was fitted on this model; one that wraps a model has the digest of its
    base too, and is nobody's base."""
    own = card_of(result.model_card)
    wrapped = own is not None and own.base_digest == result.model_card["digest"]
    return result.model_card["digest"] == card.base_digest and not wrapped


def why_no_control(of: MitigationCard, card: MitigationCard | None) -> str | None:
    """Why a mitigation cannot be judged by this."""
    if card is None or not card.control_of:
        return "it is not the control of a mitigation"
    tuned = card.form == of.form == ADAPTER  # one control for all: tuning without any aim
    if card.control_of != of.method and not tuned:
        return f"it is a control of {card.control_of}, the mitigation is {of.method}"
    if card.base_digest != of.base_digest:
        return f"it was made for {card.base}, the mitigation for {of.base}, with other weights"
    if card.rank != of.rank:
        return f"its rank is {card.rank}, that of the mitigation {of.rank}"
    if card.variant != of.variant:
        return f"it is of the variant {card.variant}, the mitigation of {of.variant}"
    if card.form != PROMPT and card.text_digest != of.text_digest:
        return f"it was made with {card.text}, the mitigation with {of.text}, which is another text"
    if card.words_digest != of.words_digest:
        return "its word lists are not those of the mitigation"
    for name in ALIKE:
        if (own := card.settings.get(name)) != (wanted := of.settings.get(name)):
            return f"its setting {name} is {own}, that of the mitigation {wanted}"
    return None


def check_control(results: Sequence[Result], control: Result) -> None:
    """Raises where a control was named and it, or what it stands beside, is something else."""
    first, *others = results
    cards = [
        card for other in others if (card := card_of(other.model_card)) and not card.control_of
    ]
    if not cards:
        raise UsageError(
            f"A control is named, but none of {', '.join(other.model for other in others)} is "
            "mitigated. It shows what an untargeted change does. Leave --control out."
        )
    for card in cards:
        if not is_base(first, card):
            raise UsageError(
                f"{first.model} is not the model that {card.method} was fitted on: the digest of "
                f"{card.base} is {card.base_digest[:12]}, here it is "
                f"{first.model_card['digest'][:12]}. Name the run of {card.base} first."
            )
        if why := why_no_control(card, card_of(control.model_card)):
            raise UsageError(
                f"{control.model} is not the control of {card.method}: {why}. Name the run of "
                f"{card.control or 'the control that was made beside it'}."
            )


Controls = Sequence[tuple[Side, MitigationCard]]


def together(sides: Sequence[Side]) -> Iterator[tuple[Trio, Controls]]:
    """Every mitigated system beside its base, and the controls that were made for that base."""
    cards = [(side, card) for side in sides if (card := mitigation_of(side))]
    for base in sides:
        of_base = [(side, card) for side, card in cards if is_base(base.result, card)]
        controls = [(side, card) for side, card in of_base if card.control_of]
        yield from (
            (Trio(base, side, card), controls) for side, card in of_base if not card.control_of
        )


def targets(trio: Trio) -> list[Slice]:
    """What it is meant to change: its domains, or all items of a benchmark about one of them."""
    side, wanted = trio.after, {plain_name(domain) for domain in trio.card.domains}
    key, name = side.run.shape.domains, side.result.benchmark
    known = {score.slices[key] for score in side.scores if key in score.slices}
    slices: list[Slice] = [{key: of} for of in sorted(known) if plain_name(of) in wanted]
    about = catalog.find("benchmark", name).about if catalog.has("benchmark", name) else ""
    return slices or ([{}] if str(about) in wanted else [])


def planned(sides: Sequence[Side]) -> list[Slice]:
    """The slices whose tests are a family apart."""
    return [slice_ for trio, _ in together(sides) for slice_ in targets(trio)]


def notes(sides: Sequence[Side]) -> list[str]:
    """Why a mitigated system has no verdict."""
    judged = {trio.after.label for trio, _ in together(sides)}
    return [
        f"{side.label} has a mitigation of {card.base}, which is not compared with it: "
        "there is no verdict on the mitigation."
        for side in sides
        if (card := mitigation_of(side)) and not card.control_of and side.label not in judged
    ]


# ----------------------------------------------------------------------------------------- judging


def mitigated(
    sides: Sequence[Side], settings: Settings, controls: Sequence[Side] = ()
) -> Iterator[Mitigated]:
    """Every mitigated system whose base is among the runs, with the control that was named, or the
    one among the runs; only where items have domains and scores. Each is judged by itself: what
    else is compared changes no verdict."""
    known = [side for side in sides if side.run.shape.domains and side.scores]
    named = [(side, card) for side in controls if (card := mitigation_of(side))]
    for trio, others in together(known):
        control = _control(trio.card, named) or _control(trio.card, others)
        yield _judge(replace(trio, control=control), settings)


def _control(of: MitigationCard, controls: Controls) -> Side | None:
    """That of the same seed, if there are several."""
    fitting = [(side, card) for side, card in controls if not why_no_control(of, card)]
    seeds_differ = [card.seed != of.seed for _, card in fitting]
    return fitting[seeds_differ.index(min(seeds_differ))][0] if fitting else None


def _judge(trio: Trio, settings: Settings) -> Mitigated:
    base, after, card, slices = trio.base, trio.after, trio.card, targets(trio)
    shared = trios.shared_sentences(card, after.result)
    held = trio.held(settings, slices)
    targeted = tuple(effect for effect in held.effects if effect.slice in slices)
    elsewhere = (effect for effect in held.effects if effect.slice not in slices)
    lms = trios.own_lms(base, held.pair) or trios.other_lms(trio, settings)
    return Mitigated(
        *(base.label, after.label, trio.control.label if trio.control else None),
        *(card.method, card.attribute, card.domains),
        verdict_of(lms, targeted, trio.control is not None),
        targeted,
        tuple(each for each in elsewhere if tuple(each.slice) == (base.run.shape.domains,)),
        *(MARGIN, lms, trios.fact_agreement(trio, settings)),
        *(card.perplexity, card.probe, card.earlier),
        tuple(trios.item_parts(trio, held, slices, settings)),
        shared,
        (*_why_none(card, held, slices, targeted), *_notes(trio, targeted, lms, shared)),
    )


def why_neither(effect: Effect) -> str:
    """Why a value that moved is called neither nearer nor farther."""
    base = effect.from_base
    if (base.first - NULL_VALUE) * (base.second - NULL_VALUE) < 0:
        return "its distance from 50 did not: going past 50 is no gain."
    return "which of the two values is nearer to 50 cannot be told."


def _why_none(
    card: MitigationCard, held: Held, slices: Sequence[Slice], targeted: Sequence[Effect]
) -> Iterator[str]:
    """Why there is no verdict, where there is none: no item of the domain, or too few answers."""
    if targeted:
        return
    if not slices:
        domains = ", ".join(card.domains) or "none"
        yield f"No item is of a domain that {card.method} is about ({domains}): no verdict."
    for slice_ in slices:
        reasons = dict.fromkeys(row.why for row in held.pair.withheld if row.slice == slice_)
        said = "; ".join(filter(None, reasons)) or "no item that both answered"
        yield f"{slice_name(slice_)} cannot be compared: {said}: no verdict."


def _notes(
    trio: Trio, targeted: Sequence[Effect], lms: KeptMetric | None, shared: int | None
) -> Iterator[str]:
    """What the verdict leaves open."""
    card = trio.card
    if lms is None:
        yield (
            "Nothing says whether the model still models language: these items have no lms. "
            "Run CATs, such as stereoset, into the same folders."
        )
    if trio.control is None:
        beside = f" Add the run of {card.control} with --control." if card.control else ""
        yield f"No control was compared, so an untargeted change might do the same.{beside}"
    for effect in targeted:
        if effect.moved and effect.from_base.closer == "neither":
            yield f"{effect.name} changed beyond noise, but {why_neither(effect)}"
    if shared is None and card.text_digest:
        yield (
            "The training text was not checked for sentences of these items. That is done when a "
            "mitigation is made, if the data are there; for files of your own with --against."
        )


class MitigationAddendum(Addendum):
    about = "Before and after a mitigation, beside its control."
    field = "mitigations"
    takes_control = True
    check_control = staticmethod(check_control)
    planned = staticmethod(planned)
    notes = staticmethod(notes)
    findings = staticmethod(mitigated)

    def leading_figures(self, group: Group) -> Iterator[Figure]:
        from stereometer.wings.mitigation.figure import mitigation

        if judged := group.findings[self.field]:
            yield mitigation(group, [each for each in judged if isinstance(each, Mitigated)])


ADDENDUM = MitigationAddendum()
