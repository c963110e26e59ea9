"""The verbs of `train`: next-sentence heads and sentiment classifiers."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

from stereometer.core.options import InFullPrecision, Option, check_known, verb
from stereometer.core.runs.open import open_model
from stereometer.core.runs.progress import Phases, phases
from stereometer.core.show.view import View, line
from stereometer.core.types.document import UNSTORED, Document
from stereometer.core.types.shown import Shown
from stereometer.wings.training import recipe as recipes
from stereometer.wings.training.articles import ARTICLES

if TYPE_CHECKING:
    from stereometer.models.local.next_sentence import HeadCard

RecipeName = Annotated[str, "`paper`: what the StereoSet paper prints. Other options change it."]


@dataclass(frozen=True, repr=False)
class TrainedHead(Shown, Document):
    file: str
    card: "HeadCard"
    remarks: tuple[str, ...] = field(default=(), metadata=UNSTORED)
    schema: str = "head@1"

    def view(self) -> View:
        accuracy, trained = self.card.accuracy, self.card.training
        return _lines(
            f"{self.file}: next-sentence head for {self.card.base}, pooling {self.card.pooling}",
            f"held-out accuracy {_share(accuracy)} on {accuracy['n']} pairs of "
            f"{accuracy['groups']} groups of articles",
            f"trained on {trained['training_pairs']} pairs; {trained['training_articles']} "
            f"articles in {trained['training_groups']} groups, {trained['held_out_articles']} in "
            f"{trained['held_out_groups']} held out; {trained['too_long']} pairs were longer than "
            f"{trained['longest']} tokens",
            *trained["notes"],
        )


@dataclass(frozen=True, repr=False)
class TrainedClassifier(Shown, Document):
    folder: str
    training: Mapping[str, Any]
    """What it was trained on, how, and how well it does."""
    schema: str = "classifier@1"

    def view(self) -> View:
        record = self.training
        return _lines(
            f"{self.folder}: {record['base']} as a classifier, from {record['reviews']} reviews",
            f"held-out accuracy {_share(record['accuracy'])} on {record['accuracy']['n']} reviews",
            f"use it: --model sentiment:{self.folder}",
        )


def _lines(*lines: str) -> View:
    return View(parts=tuple(line(words, whole=True) for words in lines))


def _share(accuracy: Mapping[str, Any]) -> str:
    value, low, high = (100 * accuracy[name] for name in ("value", "low", "high"))
    return f"{value:.1f} % [{low:.1f}, {high:.1f}]"


@verb
def nsp(
    *,
    model: Annotated[str, Option("The model the head is for.", flags=("--model", "-m"))],
    text: Annotated[str | Path, ARTICLES],
    out: Annotated[str | Path, "The head's file."],
    recipe: RecipeName = "",
    progress: Phases | bool = True,
    **options: Annotated[Any, recipes.Recipe, InFullPrecision],
) -> TrainedHead:
    """Train a head that says whether one sentence follows another. A stopped run can resume."""
    check_known(options, nsp)
    own, loading = _divide(options, recipes.Recipe)
    chosen, file = recipes.recipe_for(recipe, own), Path(out)
    recipes.check_order(chosen, file)
    backend = recipes.trainable(open_model(model, chosen.seed, loading))
    from stereometer.wings.training.next_sentence import train

    started = perf_counter()
    with phases(progress) as report:
        card = train(backend, Path(text), file, chosen, report)
    done = f"Trained in {perf_counter() - started:.0f} s."
    return TrainedHead(str(file), card, (done,))


@verb
def sentiment(
    *,
    model: Annotated[str, Option("The model that is fine-tuned.", flags=("--model", "-m"))],
    reviews: Annotated[
        str | Path,
        "A table or JSON lines with `text` and `label` (positive or negative), or a folder of "
        "text files in `pos` and `neg`.",
    ],
    out: Annotated[str | Path, "The classifier's folder."],
    recipe: RecipeName = "",
    progress: Phases | bool = True,
    **options: Annotated[Any, recipes.Tuning, InFullPrecision],
) -> TrainedClassifier:
    """Fine-tune a sentiment classifier on reviews; `sentiment:FOLDER` is then a model."""
    check_known(options, sentiment)
    own, loading = _divide(options, recipes.Tuning)
    tuning = recipes.changed_from(recipe, recipes.PAPER_TUNING, recipes.Tuning(), own)
    folder = Path(out)
    backend = recipes.trainable(open_model(model, tuning.seed, loading))
    from stereometer.wings.training.sentiment import train

    with phases(progress) as report:
        record = train(backend, Path(reviews), folder, tuning, report)
    return TrainedClassifier(str(folder), record)


def _divide(options: Mapping[str, Any], recipe: type[Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """What changes a recipe, and how the model is loaded."""
    own = {each.name: options[each.name] for each in fields(recipe) if each.name in options}
    loading = {name: value for name, value in options.items() if name not in own}
    return own, {**loading, "dtype": "float32"}
