"""What a host finds out about a bundle, and the tier that it gives it.

`reported`: the digests hold, the items are the host's, and the numbers follow from the scores.
`reproduced`: the host also ran some of the items, drawn now, on weights with the named digest.
"""

import random
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Unpack

from stereometer.core import catalog
from stereometer.core.benchmarks.benchmark import Benchmark
from stereometer.core.errors import DataError, ModelError, UsageError
from stereometer.core.files import replacing, to_json
from stereometer.core.options import Data, Loading, Option, verb
from stereometer.core.runs.execute import execute, opened_cache
from stereometer.core.runs.job import Measurement, limited, with_ties
from stereometer.core.runs.measure import job_for
from stereometer.core.runs.open import open_benchmark, open_model
from stereometer.core.runs.store import RUN_SCHEMA, folder_name, keep
from stereometer.core.types import (
    Backend,
    Estimate,
    Item,
    Job,
    ModelCard,
    Result,
    Score,
    Settings,
    digest_of_file,
)
from stereometer.core.types.document import UNSTORED, Document, typed
from stereometer.wings.board.bundle import RESULT, SCORES, Bundle, read_bundle
from stereometer.wings.board.seals import Ledger, signer
from stereometer.wings.board.tables import REPORTED, REPRODUCED

CHECKS = "checks.jsonl"
SCORINGS = ("computed", "replayed", "constructed", "combined")
SAME = 1e-6
"""Points by which a claimed value may differ from the one that its scores give."""
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


@dataclass(frozen=True)
class BundleCheck(Document):
    """What `board check` says, and what the host's ledger of checks keeps."""

    bundle: str
    """Digest of the manifest."""
    benchmark: str
    measure: str
    variant: str
    model: str
    model_digest: str
    tier: str
    signer: str | None
    reproduced: Reproduced | None
    run: str | None = None
    """The folder that it was taken into."""
    digests: Mapping[str, str] | None = None
    """Of the files in that folder."""
    schema: str = "check@1"
    into: Path | None = field(default=None, metadata=UNSTORED)

    @property
    def remarks(self) -> list[str]:
        by = f"Signed by {self.signer}." if self.signer else "Not signed."
        place = f" Taken into {self.into / self.run}." if self.into and self.run else ""
        return [f"{self.model} on {self.benchmark}: {self.tier}. {by}{place}"]


@dataclass(frozen=True)
class Claim:
    """A bundle beside the items that it is about."""

    bundle: Bundle
    benchmark: Benchmark
    items: Sequence[Item]

    @property
    def result(self) -> Result:
        return self.bundle.result

    @property
    def settings(self) -> Settings:
        """The host's own: a submitter does not choose how surely something is said."""
        method = catalog.method(self.result.measure)
        return with_ties(Settings(self.result.variant), self.result.scoring, method)

    def recounted(self) -> Result:
        """The result as the host counts and describes it; only the model is as submitted."""
        result, shape = self.result, catalog.shape(self.result.kind)
        card = _card(result)
        measurement = Measurement(
            self.benchmark,
            self.items,
            result.measure,
            card,
            result.scoring,
            self.settings,
            result.settings["limit"],
            of=len(self.benchmark.items(result.kind)),
        )
        counted = shape.summarize(self.bundle.scores, self.settings)
        _check_claims(result.estimates, counted)
        scores_digest = self.bundle.manifest.digests[SCORES]
        return replace(measurement.result(shape, counted), scores_digest=scores_digest)


def _card(result: Result) -> ModelCard:
    try:
        return replace(typed(ModelCard, result.model_card), name=result.model)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"The bundle does not say what was measured: {error}. A model has a card. Ask for it "
            "again."
        ) from None


def claim_of(bundle: Bundle, data: str | Path | None) -> Claim:
    """The bundle beside the host's items; raises where it is not about them."""
    result = bundle.result
    if result.scoring not in SCORINGS or not catalog.has("benchmark", result.benchmark):
        raise DataError(
            f"The bundle is of {result.benchmark!r}, scores {result.scoring!r}. This host knows no "
            "such benchmark or scores. Refuse it, or install what adds them."
        )
    benchmark = open_benchmark(result.benchmark, data)
    if benchmark.digest != result.data["digest"]:
        raise DataError(
            f"The bundle is about items with digest {str(result.data['digest'])[:12]}, those of "
            f"{result.benchmark} here have {benchmark.digest[:12]}. Numbers of other items cannot "
            "stand beside yours. Name the right data with --data, or refuse it."
        )
    if result.kind not in benchmark.shapes:
        raise DataError(
            f"{result.benchmark} has no items of kind {result.kind}. The scores are of something "
            "else. Refuse it."
        )
    limit = result.settings["limit"]
    if limit is not None and limit < 1:
        raise DataError(
            f"The bundle is limited to {limit} items. There is nothing to count. Refuse it."
        )
    items = limited(benchmark.items(result.kind), limit)
    _check_items(bundle, items)
    return Claim(bundle, benchmark, items)


def _check_items(bundle: Bundle, items: Sequence[Item]) -> None:
    """Every item once, and under the slices it is in."""
    expected = {item.id: dict(item.slices) for item in items}
    scored = {score.item: dict(score.slices) for score in bundle.scores}
    if len(scored) != len(bundle.scores) or scored != expected:
        wrong = [id_ for id_ in {*expected, *scored} if expected.get(id_) != scored.get(id_)]
        raise DataError(
            f"The bundle does not score each of the {len(expected)} items once, as what they are: "
            f"{len(wrong)} are missing, foreign or filed elsewhere. Leaving items out changes the "
            "score. Refuse it."
        )


def _check_claims(claimed: Sequence[Estimate], counted: Sequence[Estimate]) -> None:
    """A value that the scores do not give was written by hand."""
    claims = {_place(estimate): estimate for estimate in claimed}
    for estimate in counted:
        claim = claims.get(_place(estimate))
        if claim is None or not _agree(claim, estimate):
            stated = "no such value" if claim is None else f"{claim.value} ({claim.n} items)"
            raise DataError(
                f"The bundle claims {stated} for {estimate.name} in {dict(estimate.slice) or 'all'}"
                f", its scores give {estimate.value} ({estimate.n} items). The numbers do not "
                "follow from the scores. Refuse it."
            )


def _place(estimate: Estimate) -> tuple[object, ...]:
    return estimate.name, frozenset(estimate.slice.items())


def _agree(claim: Estimate, counted: Estimate) -> bool:
    if (claim.n, claim.asked) != (counted.n, counted.asked):
        return False
    if claim.value is None or counted.value is None:
        return claim.value is counted.value
    return abs(claim.value - counted.value) <= SAME


@verb
def check(
    bundle: Annotated[str | Path, "A bundle from `stereometer submit`: a folder or a .zip."],
    *,
    data: Data = None,
    signers: Annotated[
        str | Path | None,
        "OpenSSH's file of allowed signers; the bundle must be signed by one of them.",
    ] = None,
    model: Annotated[
        str | None,
        Option("The weights that the bundle names: run some items again.", flags=("--model", "-m")),
    ] = None,
    items: Annotated[int, Option("Items that are run again.", least=1)] = 50,
    into: Annotated[
        str | Path | None, "Take the run into this folder, with an entry in its ledger of checks."
    ] = None,
    **loading: Unpack[Loading],
) -> BundleCheck:
    """Check a bundle from somebody else, and give it a tier: reported or reproduced."""
    sent = read_bundle(Path(bundle))
    by = _signed_by(sent, signers)
    claim = claim_of(sent, data)
    result = claim.recounted()
    again = reproduce(claim, model, loading, items) if model else None
    checked = BundleCheck(
        bundle=sent.digest,
        benchmark=result.benchmark,
        measure=result.measure,
        variant=result.variant,
        model=result.model,
        model_digest=str(result.model_card["digest"]),
        tier=REPRODUCED if again else REPORTED,
        signer=by,
        reproduced=again,
    )
    return checked if into is None else _taken_in(checked, claim, result, Path(into))


def _signed_by(bundle: Bundle, signers: str | Path | None) -> str | None:
    if bundle.signature is None:
        if signers is not None:
            raise DataError(
                "The bundle is not signed. Only those in the file of allowed signers may submit. "
                "Ask for it again, with `stereometer submit --sign`."
            )
        return None
    return signer(bundle.signed, bundle.signature, Path(signers) if signers else None)


def _taken_in(checked: BundleCheck, claim: Claim, result: Result, into: Path) -> BundleCheck:
    """The host's own count in a folder of its own, named after what it is and its bundle. What may
    still be refused is looked at before anything is written."""
    lines = "".join(to_json(score.as_json(), indent=None) + "\n" for score in claim.bundle.scores)
    if sha256(lines.encode()).hexdigest() != result.scores_digest:
        raise DataError(
            "The bundle's scores are not written as `stereometer submit` writes them. It was made "
            "by something else. Ask for it again."
        )
    ledger = Ledger(into / CHECKS)
    ledger.entries()
    name = folder_name(result.benchmark, result.model[-60:], checked.bundle[:12])
    folder = into / name
    with replacing(folder / SCORES) as file:
        file.write(lines)
    keep(folder, result, {"schema": RUN_SCHEMA, "plan": {"bundle": checked.bundle}})
    digests = {each: digest_of_file(folder / each) for each in (RESULT, SCORES)}
    kept = replace(checked, run=name, digests=digests, into=into)
    ledger.append(kept.as_json())
    return kept


def tiers_in(folders: Sequence[Path]) -> dict[Path, str]:
    """Tiers of runs by the ledger beside them; raises where a checked run was changed since."""
    tiers: dict[Path, str] = {}
    for home in dict.fromkeys(folder.parent for folder in folders):
        for entry in Ledger(home / CHECKS).entries("run", "digests", "tier"):
            folder = home / str(entry["run"])
            if folder in folders:
                _check_unchanged(folder, entry["digests"])
                known = tiers.get(folder, REPORTED)
                tiers[folder] = REPRODUCED if REPRODUCED in (known, entry["tier"]) else REPORTED
    return tiers


def _check_unchanged(folder: Path, digests: Mapping[str, str]) -> None:
    for name, digest in digests.items():
        if digest_of_file(folder / name) != digest:
            raise DataError(
                f"{folder / name} is not the file that was checked. It was changed since. Check "
                "the bundle again."
            )


def reproduce(claim: Claim, model: str, options: Mapping[str, Any], count: int) -> Reproduced:
    """Some of the items again, on the weights that the bundle names.

    They are drawn by a seed that did not exist when the scores were written. Who forged a share f
    of them passes with probability (1 - f) ** n: of 50, a forgery of 6 % is seen in 95 of 100.
    """
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
    # None where one of the two has no score, or not of the same candidates.
    gaps = [
        max((abs(known[name] - value) for name, value in score.values.items()), default=0.0)
        if (known := theirs[id_].values).keys() == score.values.keys()
        else None
        for id_, score in again.items()
    ]
    wrong = [gap for gap in gaps if gap is None or gap > TOLERANCE]
    if wrong:
        raise DataError(
            f"{len(wrong)} of {len(again)} items have other scores when they are run again. The "
            "scores are not of these weights, or were changed. The bundle stays `reported`."
        )
    return max((gap or 0.0 for gap in gaps), default=0.0)
