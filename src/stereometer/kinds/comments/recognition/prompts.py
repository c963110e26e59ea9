"""Prompts: ours in several wordings, the paper's as it has them, a user's own in a folder of text
files under the names of the settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from stereometer.core.asking.conversation import SLOT, filled_in, packaged
from stereometer.core.asking.wordings import FIRST, wording
from stereometer.core.errors import UnknownName, UsageError
from stereometer.core.files import read_text
from stereometer.core.types import Variant, digest_of
from stereometer.kinds.comments.items import MISSPELLING, NEITHER, STUDY, ZERO_SHOT, Setting
from stereometer.kinds.comments.recognition.questions import Question

SLOTS = ("category", "comment", "example", "examples", "labels", "numbered")


@dataclass(frozen=True)
class PromptTemplate:
    """A text with slots in braces; its last line break is the file's and not the prompt's."""

    name: str
    text: str

    def check(self, known: tuple[str, ...], needed: str) -> None:
        names = SLOT.findall(self.text)
        unknown = [name for name in names if name not in known]
        if unknown:
            raise UsageError(
                f"The template {self.name} has a slot {{{unknown[0]}}}. Its slots can be"
                f" {', '.join(known)}. Rename it, or write the text itself."
            )
        if needed not in names:
            raise UsageError(
                f"The template {self.name} has no slot {{{needed}}}. What is asked about would not"
                " be in the prompt. Add it."
            )


def check_folder(path: Path) -> None:
    """A file by another name would be passed over, and our prompt asked instead."""
    if not path.is_dir():
        raise UsageError(
            f"{path} is not a folder. --templates takes a folder of text files. "
            "They have names such as `zero-shot.txt`."
        )
    known = {f"{name}.txt" for name in ("example", *STUDY)}
    for own in sorted(path.glob("*.txt")):
        if own.name not in known:
            raise UnknownName("template", own.name, known, f"Rename it, or keep it outside {path}.")


@dataclass(frozen=True)
class Prompts:
    """The prompt of one setting and the line of one example."""

    setting: Setting
    variant: Variant
    folder: Path | None = None
    wording: str = FIRST

    @property
    def task(self) -> str:
        return ZERO_SHOT.name if self.setting is MISSPELLING else self.setting.name

    @cached_property
    def template(self) -> PromptTemplate:
        template = self._template(self.task)
        template.check(SLOTS, "comment")
        if self.setting.shows and not {"example", "examples"} & set(SLOT.findall(template.text)):
            raise UsageError(
                f"The template {template.name} has no slot {{examples}}. {self.setting.name} shows"
                " examples. Add it."
            )
        return template

    @cached_property
    def example(self) -> PromptTemplate:
        template = self._template("example")
        template.check(("example", "label"), "example")
        return template

    def _template(self, task: str) -> PromptTemplate:
        """A user's file where there is one, otherwise ours."""
        name = f"{task}.txt"
        own = self.folder / name if self.folder else None
        if own is not None and own.exists():
            return PromptTemplate(name, read_text(own).removesuffix("\n"))
        if self.variant == "paper":
            return PromptTemplate(name, packaged(__package__, "templates", name))
        return PromptTemplate(name, wording(task, self.wording, __package__).text)

    @property
    def digest(self) -> str:
        return digest_of([self.template.text, self.example.text])[:16]

    def prompt(self, question: Question) -> str:
        words, line = self.words(question), self.example.text
        shown = [
            filled_in(line, {"example": each.comment.text, "label": words[each.label]})
            for each in question.examples
        ]
        slots = {
            "category": question.category,
            "comment": question.shown,
            "example": question.examples[0].comment.text if question.examples else "",
            "examples": "".join(shown),
            "labels": listed(question.labels),
            "numbered": "\n".join(f"{word}) {label}" for label, word in words.items()),
        }
        return filled_in(self.template.text, slots)

    def words(self, question: Question) -> Mapping[str, str]:
        """What a model would write for each label: the label itself where a wording has no other
        word for it."""
        options = wording(self.task, self.wording, __package__).options or question.labels
        if len(options) < len(question.labels):
            raise UsageError(
                f"Wording {self.wording} numbers the categories, up to {len(options)} of them. "
                f"There are {len(question.labels)}. Choose another wording."
            )
        return dict(zip(question.labels, options, strict=False))

    def spelt(self, question: Question) -> Mapping[str, str]:
        """The label that each way to begin an answer stands for: a yes may have a capital."""
        words = self.words(question)
        capitals = {word.capitalize(): label for label, word in words.items() if label != word}
        return {word: label for label, word in words.items()} | capitals


def listed(labels: tuple[str, ...]) -> str:
    """'racist', 'sexist' or 'neither': categories by name, and what is none of them last."""
    ordered = [
        f"'{label}'" for label in sorted(labels, key=lambda label: (label == NEITHER, label))
    ]
    return f"{', '.join(ordered[:-1])} or {ordered[-1]}"
