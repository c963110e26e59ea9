"""What people read, in one language: pages in Markdown, words of the forms, names of groups."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markupsafe import Markup

from stereometer.core.errors import DataError, UsageError, did_you_mean
from stereometer.core.files import read_text

if TYPE_CHECKING:
    from stereometer.wings.people.config import Pay

PARTS = ("consent", "warning", "instructions", "debriefing")
"""The pages that a study must have, one Markdown file each."""
WORDS = "words.toml"
SHIPPED = Path(__file__).with_name("texts")
PUT_IN = ("title", "contact", "minutes", "pay", "partial", "payment", "society")
"""What a page may leave to study.toml, in braces."""
GAP = re.compile(r"\{(\w+)\}")
MODEL_WORDS = ("model_cue", "model_scale", "model_page")
"""What a model reads that takes part; people do not."""


@dataclass(frozen=True, eq=False)
class StudyTexts:
    folder: Path
    pages: Mapping[str, str]
    words: Mapping[str, str]
    names: Mapping[str, str]
    """What the study, its groups and traits are called here, by their names in its files."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Other names of a group that people may type, with commas between them."""

    def word(self, key: str) -> str:
        return self.words[key]

    def filled(self, key: str, values: Mapping[str, object]) -> str:
        """A word or sentence with {size} and the like put in."""
        return _put_in(self.words[key], values)

    def money(self, amount: float, currency: str) -> str:
        return f"{amount:.2f} {currency}".replace(".", self.word("decimal_point"), 1)

    def name(self, name: str) -> str:
        return self.names.get(name, name)

    def payment(self, pay: Pay) -> str:
        """What people receive, as the consent page says it."""
        whole, part = (self.money(amount, pay.currency) for amount in (pay.complete, pay.left))
        key = "pay_both" if pay.left else "pay_complete" if pay.complete else "pay_nothing"
        return self.filled(key, {"pay": whole, "partial": part})

    def other_names(self, name: str) -> list[str]:
        """What a group may be called besides its name."""
        return _listed(self.also.get(name, ""))

    @cached_property
    def left_out(self) -> list[str]:
        """Words that people may leave out of a group's name."""
        return _listed(self.word("left_out"))

    @cached_property
    def direction(self) -> str:
        """Of the letters that people read, whatever the language is called."""
        kinds = Counter(map(unicodedata.bidirectional, self.pages.get("consent", "")))
        return "rtl" if kinds["R"] + kinds["AL"] > kinds["L"] else "ltr"

    def page(self, part: str, **values: object) -> Markup:
        """A page as HTML, with {title} and the like put in. Markdown only: HTML in it is shown."""
        return _rendered(_put_in(self.pages[part], values))

    def aside(self, part: str, **values: object) -> Markup:
        """A page beside another, whose heading stays the first."""
        html = self.page(part, **values)
        return Markup(re.sub(r"(</?)h1>", r"\1h2>", html))

    def check(self) -> None:
        for part in PARTS:
            if not self.pages.get(part, "").strip():
                raise DataError(
                    f"{self.folder / part}.md is missing or empty. Everybody who takes part reads "
                    "it. Write it, or take it from a new folder of `stereometer study new`."
                )


@lru_cache(1024)
def _rendered(text: str) -> Markup:
    """Few: what is put in is the study's, never a person's."""
    return Markup(MarkdownIt("commonmark", {"html": False}).disable("image").render(text))


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _put_in(text: str, values: Mapping[str, object]) -> str:
    for key, value in values.items():
        text = text.replace(f"{{{key}}}", str(value))
    return text


def read_texts(folder: Path, kind: str) -> StudyTexts:
    """A study's texts; a word that its folder leaves out is the one that ships."""
    if not folder.is_dir():
        raise DataError(
            f"{folder} does not exist. The study's languages include {folder.name}. Write its "
            "texts there, or take the language out of study.toml."
        )
    pages = {path.stem: read_text(path) for path in sorted(folder.glob("*.md"))}
    for part, text in pages.items():
        _check_gaps(folder / f"{part}.md", text, PUT_IN)
    shipped, own = _words(SHIPPED / "en" / WORDS), _words(folder / WORDS)
    names, also = own.pop("names", {}), own.pop("also", {})
    _check_words(folder / WORDS, own, shipped, {**names, **also})
    shipped_also = shipped.pop("also")
    also = {**(shipped_also if folder.name == "en" else {}), **also}
    return StudyTexts(folder, pages, {**shipped, "language": folder.name, **own}, names, also)


def _check_words(
    path: Path, own: Mapping[str, Any], known: Mapping[str, Any], named: Mapping[str, Any]
) -> None:
    """A word that no page asks for is a misspelt one, and would be shown in English."""
    for key, text in {**named, **own}.items():
        if not isinstance(text, str) or not text.strip():
            raise DataError(
                f"{path}: {key} is {text!r}. It is shown to people, and must be a text. Write it "
                "in quotation marks."
            )
    for key, text in own.items():
        if key not in known and key not in MODEL_WORDS:
            hint = did_you_mean(key, {each: each for each in known})
            raise DataError(
                f"{path}: there is no word {key!r}. No page asks for it. {hint or 'Leave it out.'}"
            )
        _check_gaps(path, text, GAP.findall(known.get(key, text)))


def _check_gaps(path: Path, text: str, known: Sequence[str]) -> None:
    unknown = [gap for gap in GAP.findall(text) if gap not in known]
    if unknown:
        hint = did_you_mean(unknown[0], {each: each for each in known})
        raise DataError(
            f"{path}: nothing is known to put in for {{{unknown[0]}}}. People would read it as it "
            f"stands there. {hint or 'Leave it out.'}"
        )


def _words(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        return tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{path} is not valid TOML: {error}. Fix that line.") from None


def copy_texts(kind: str, language: str, folder: Path) -> None:
    """The texts that ship for a kind of study: those of the kind, and those of all."""
    source = SHIPPED / language
    if not (source / kind).is_dir():
        raise UsageError(
            f"No texts ship for {kind} in {language!r}. A language is a folder of texts. Start "
            "with --language en and translate the files in texts/en."
        )
    folder.mkdir(parents=True)
    for path in [*source.glob("*.md"), *(source / kind).glob("*.md"), source / WORDS]:
        (folder / path.name).write_text(read_text(path), encoding="utf-8")
