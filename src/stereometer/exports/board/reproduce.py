"""Running some of a bundle's items again, on the weights it names.

The items are drawn by a seed that did not exist when the scores were written. Who forged a share f
of them passes with probability (1 - f) ** n: of 50 items, a forgery of 6 % is seen in 95 of 100.
"""

from __future__ import annotations

import random
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from stereometer.errors import DataError, ModelError, UsageError
from stereometer.runs.execute import execute, opened_cache
from stereometer.runs.measure import job_for
from stereometer.runs.open import open_model
from stereometer.types import Backend, Item, Job, Score

if TYPE_CHECKING:
    from stereometer.exports.board.check import Claim

TOLERANCE = 0.01
"""By which a score may differ: other hardware rounds differently, by far less."""


@dataclass(frozen=True)
class Reproduced:
    """Items that were run again, all with the scores of the bundle."""

    items: int
    seed: int
    tolerance: float
    largest: float
    """The largest difference that was seen."""


def reproduce(claim: Claim, model: str, options: Mapping[str, Any], count: int) -> Reproduced:
    if count < 1:
        raise UsageError(
            f"{count} items are too few to reproduce anything. The default is 50. Choose more."
        )
    backend = _named_weights(claim, model, options)
    seed = secrets.randbits(53)
    drawn = random.Random(seed).sample(list(claim.items), min(count, len(claim.items)))
    with TemporaryDirectory() as folder, opened_cache(keep=False) as cache:
        run = execute(_job(claim, backend, drawn), Path(folder) / "run", cache)
        again = {score.item: score for score in run.scores}
    return Reproduced(len(drawn), seed, TOLERANCE, _compared(claim, again))


def _named_weights(claim: Claim, model: str, options: Mapping[str, Any]) -> Backend:
    """A system that reads labels or a file has no weights that anybody could run."""
    card = claim.result.model_card
    if claim.result.scoring != "computed":
        raise ModelError(
            f"The scores are {claim.result.scoring}, not computed by a model here. Nothing can be "
            "run again, so the bundle stays `reported`. Leave out --model."
        )
    backend = open_model(model, options=options)
    if not isinstance(backend, Backend):
        raise ModelError(
            f"{model} is not a model but a rule. It has no weights to run. The bundle stays "
            "`reported`."
        )
    digests = backend.card.digest, backend.card.tokenizer_digest
    if digests != (card.get("digest"), card.get("tokenizer_digest")):
        raise ModelError(
            f"{model} has the digest {digests[0][:12]}, the bundle names "
            f"{str(card.get('digest'))[:12]}. These are other weights or another tokenizer. Get "
            "the ones that the bundle names."
        )
    return backend


def _job(claim: Claim, backend: Backend, drawn: Sequence[Item]) -> Job:
    """The bundle's own measure; an option that makes it another stands in its name."""
    kind, measure = claim.result.kind, claim.result.measure
    few = replace(claim.benchmark, shapes={kind: drawn})
    named = claim.result.measured_by
    chat = {"chat": claim.result.settings["chat"]} if claim.result.asked_as else {}
    options = {**named.settings, **chat}
    job = job_for(few, kind, [named.name], backend, claim.settings, None, options)
    if job.plan["measure"] == measure:
        return job
    raise DataError(
        f"{measure} cannot be run here: this version makes {job.plan['measure']}. Other versions "
        "give other numbers. The bundle stays `reported`."
    )


def _compared(claim: Claim, again: Mapping[str, Score]) -> float:
    """The largest difference; raises where one is too large."""
    theirs = {score.item: score for score in claim.bundle.scores if score.item in again}
    gaps = {id_: _gap(theirs[id_], score) for id_, score in again.items()}
    wrong = [id_ for id_, gap in gaps.items() if gap is None or gap > TOLERANCE]
    if wrong:
        raise DataError(
            f"{len(wrong)} of {len(again)} items have other scores when they are run again. The "
            "scores are not of these weights, or were changed. The bundle stays `reported`."
        )
    return max((gap or 0.0 for gap in gaps.values()), default=0.0)


def _gap(theirs: Score, ours: Score) -> float | None:
    """None where one of the two has no score, or not of the same candidates."""
    if theirs.values.keys() != ours.values.keys():
        return None
    return max((abs(theirs.values[name] - ours.values[name]) for name in ours.values), default=0.0)
