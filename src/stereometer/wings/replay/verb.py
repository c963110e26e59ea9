"""The verb `replay`: measure from scores, or read answers, that were made elsewhere."""

from pathlib import Path
from typing import Annotated, Any

from stereometer.core import options
from stereometer.core.files import UTF8
from stereometer.core.gate.early_stop import holding
from stereometer.core.runs.execute import execute
from stereometer.core.runs.store import place_of
from stereometer.core.tables import Layout
from stereometer.core.types import Settings
from stereometer.core.types.results import Results
from stereometer.kinds.comments.items import setting_of
from stereometer.wings.asking.ask import AnswersInWords
from stereometer.wings.asking.jobs import words_of
from stereometer.wings.replay.runs import answers_job, replay_job


class ReplayedScores(Results):
    """The one result of a file of scores."""

    def as_json(self) -> dict[str, Any]:
        return self[0].as_json()


@options.verb
def replay(
    file: Annotated[
        str | Path,
        "StereoSet predictions, the CSV of the CrowS-Pairs script, or JSONL of "
        "log-probabilities; with --setting, a table of answers.",
    ],
    *,
    benchmark: Annotated[str | Path, options.Option("The benchmark that was measured.", words=str)],
    data: options.Data = None,
    name: Annotated[str | None, "Name of the system; by default from the file's name."] = None,
    measure: Annotated[
        str | None, "The measure the scores are of, so that runs of it can be compared."
    ] = None,
    setting: Annotated[
        str | None, "Read the file as answers to this setting: zero-shot, one-shot ..."
    ] = None,
    harness: Annotated[
        str | None,
        options.Option("Whose per-item file it is: lm-eval, inspect or eee.", flags=("--format",)),
    ] = None,
    out: options.Out = None,
    column: options.Column = None,
    encoding: options.Encoding = UTF8,
    category: options.Category = (),
    neither: options.Neither = "neither",
    seed: options.Seed = 0,
    resamples: options.Resamples = 10_000,
    variant: options.VariantName = "sound",
    coverage: options.Coverage = 0.90,
    delta: options.Delta = 5.0,
    require: options.Require = (),
) -> Results:
    """Measure from scores, or read answers, that were made elsewhere."""
    bound, path = holding(require), Path(file)
    settings = Settings(variant, seed, resamples, coverage=coverage, delta=delta)
    layout = Layout(encoding, column or {})
    if setting:
        asked, words = setting_of(setting), words_of(category) or None
        job = answers_job(path, asked, settings, layout, str(benchmark), words, name, neither)
    else:
        job = replay_job(path, str(benchmark), data, settings, name, measure, harness, layout)
    bound.jobs([job])
    done = [execute(job, place_of(job, out)).result]
    return bound.hold(AnswersInWords(done) if setting else ReplayedScores(done))
