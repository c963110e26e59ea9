"""Prompts are text files: ours in the package, a user's own in a folder under the same names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from stereometer.core.asking.conversation import SLOT, filled_in, packaged
from stereometer.core.errors import UnknownName, UsageError
from stereometer.core.files import read_text
from stereometer.core.types import Variant, digest_of
from stereometer.kinds.comments.items import MISSPELLING, NEITHER, STUDY, ZERO_SHOT, Setting
from stereometer.kinds.comments.recognition.questions import Question


@dataclass(frozen=True)
class PromptTemplate:
    """A text with slots in braces; its last line break is the file's and not the prompt's."""

    name: str
    text: str

    def filled(self, slots: Mapping[str, str]) -> str:
        """In one pass: braces in a comment stay as they are."""
        return filled_in(self.text, slots)

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

    @cached_property
    def template(self) -> PromptTemplate:
        named = ZERO_SHOT.name if self.setting is MISSPELLING else self.setting.name
        template = PromptTemplate(f"{named}.txt", self._read(f"{named}.txt"))
        template.check(("category", "comment", "example", "examples", "labels"), "comment")
        if self.setting.shows and not {"example", "examples"} & set(SLOT.findall(template.text)):
            raise UsageError(
                f"The template {template.name} has no slot {{examples}}. {self.setting.name} shows"
                " examples. Add it."
            )
        return template

    @cached_property
    def example(self) -> PromptTemplate:
        template = PromptTemplate("example.txt", self._read("example.txt"))
        template.check(("example", "label"), "example")
        return template

    def _read(self, name: str) -> str:
        """A user's file where there is one, otherwise ours."""
        own = self.folder / name if self.folder else None
        if own is not None and own.exists():
            return read_text(own).removesuffix("\n")
        return packaged(__package__, "templates", self.variant, name)

    @property
    def digest(self) -> str:
        return digest_of([self.template.text, self.example.text])[:16]

    def prompt(self, question: Question) -> str:
        shown = [
            self.example.filled({"example": example.comment.text, "label": example.label})
            for example in question.examples
        ]
        slots = {
            "category": question.category,
            "comment": question.shown,
            "example": question.examples[0].comment.text if question.examples else "",
            "examples": "".join(shown),
            "labels": listed(question.labels),
        }
        return self.template.filled(slots)

    def words(self, question: Question) -> Mapping[str, str]:
        """What a model would write for each label."""
        if self.setting.words:
            return {label: label for label in question.labels}
        return dict(zip(question.labels, ("yes", "no"), strict=True))


def listed(labels: tuple[str, ...]) -> str:
    """'racist', 'sexist' or 'neither': categories by name, and what is none of them last."""
    ordered = [
        f"'{label}'" for label in sorted(labels, key=lambda label: (label == NEITHER, label))
    ]
    return f"{', '.join(ordered[:-1])} or {ordered[-1]}"
