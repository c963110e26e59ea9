"""Which comments are asked about, with which examples: `paper` takes the first ones, `sound` draws
at random."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from stereometer.core.errors import DataError
from stereometer.core.stats.intervals import generator
from stereometer.core.types import ItemDefaults, Slice, Variant
from stereometer.kinds.comments import items
from stereometer.kinds.comments.items import NEITHER, ONE_SHOT, Comment, Setting
from stereometer.kinds.comments.recognition.misspelling import edited, holds

EXAMPLE_SETS = 10
STUDY_SIZE = 30
"""Comments of each kind in the settings that ask one category at a time; twice as many, and four
times neither, in the mixed ones."""
SECOND_EXAMPLE = {"sexist": 50, "racist": 45}
"""Where the study's second example of a category begins (`paper`, few-shot single)."""


@dataclass(frozen=True)
class ShownExample:
    """A comment that is shown with its label."""

    comment: Comment
    label: str


@dataclass(frozen=True)
class Question(ItemDefaults):
    """One comment, asked about once: the item of the recognition measures."""

    comment: Comment
    gold: str
    """A category, `not-<category>` where one is asked at a time, or `neither`."""
    labels: tuple[str, ...]
    category: str = ""
    """The category asked about; empty where all are."""
    examples: tuple[ShownExample, ...] = ()
    example_set: str = ""
    """The number of the set, where there are several."""
    edit: str = ""
    """`original>edit` where the text was misspelt."""
    text: str = ""
    """The misspelt text."""
    twin: str = ""
    """Its gold, where the same comment is also asked about under another one (`paper`: of several
    categories)."""

    @property
    def id(self) -> str:
        number = f"set-{self.example_set}" if self.example_set else ""
        return ":".join(
            filter(None, (self.comment.id, self.category, number, self.edit, self.twin))
        )

    @property
    def shown(self) -> str:
        return self.text or self.comment.text

    @property
    def slices(self) -> Slice:
        named = {"category": self.category, "example_set": self.example_set, "edit": self.edit}
        return {"comment": self.comment.id, "gold": self.gold} | {
            name: value for name, value in named.items() if value
        }

    @property
    def texts(self) -> Mapping[str, str]:
        """Examples are named by their rows: the texts are in the user's own file."""
        shown = " ".join(f"{example.label}={example.comment.id}" for example in self.examples)
        return {"comment": self.shown} | ({"examples": shown} if shown else {})


@dataclass(frozen=True)
class CommentPool:
    """Comments by what they are taken for."""

    categories: Mapping[str, Sequence[Comment]]
    """By the word of each category, in the order of the file."""
    neither: Sequence[Comment]

    def __iter__(self) -> Iterator[str]:
        return iter(self.categories)


@dataclass(frozen=True)
class Sampling:
    """How a sample is drawn."""

    variant: Variant
    seed: int = 0
    size: int = STUDY_SIZE
    words: Mapping[str, str] = field(default_factory=dict)
    """The word of each category column."""
    threshold: float = 0.5


def pool(comments: Sequence[Comment], how: Sampling) -> CommentPool:
    """A comment is of a category from the threshold on, and of none where nobody saw anything in
    it; `sound` leaves out comments of several."""
    by_word: dict[str, list[Comment]] = {word: [] for word in how.words.values()}
    for comment in sorted(comments, key=lambda comment: comment.row):
        columns = {name for name, share in comment.scores.items() if share >= how.threshold}
        words = [word for column, word in how.words.items() if column in columns]
        for word in words if len(words) == 1 or how.variant == "paper" else ():
            by_word[word].append(comment)
    return CommentPool(by_word, [comment for comment in comments if comment.hate == 0])


def questions(
    setting: Setting,
    comments: Sequence[Comment],
    how: Sampling,
    edits: Sequence[tuple[str, str]] = (),
) -> list[Question]:
    """What a setting asks."""
    drawn_from = pool(comments, how)
    if setting is items.MISSPELLING:
        return list(_misspelt(drawn_from, edits, how.variant))
    if how.variant == "sound":
        drawn_from = _shuffled(drawn_from, how.seed)
    return list(_mixed(drawn_from, how) if setting.mixed else _single(setting, drawn_from, how))


def _shuffled(pool: CommentPool, seed: int) -> CommentPool:
    def drawn(name: str, comments: Sequence[Comment]) -> list[Comment]:
        order = generator(seed, {"category": name}, "sample").permutation(len(comments))
        return [comments[at] for at in order]

    categories = {word: drawn(word, comments) for word, comments in pool.categories.items()}
    return CommentPool(categories, drawn(NEITHER, pool.neither))


def _single(setting: Setting, pool: CommentPool, how: Sampling) -> Iterator[Question]:
    """One category at a time: as many comments of it as not."""
    size, shown, paper = how.size, _shown(setting), how.variant == "paper"
    for number, word in enumerate(pool):
        of = pool.categories[word]
        last = max((0, *_numbers(setting, word, size))) if paper else shown
        # `paper` asks about the same first comments for every category; `sound` about others each
        # time.
        start = 0 if paper else number * size
        _enough(of, size + last, f"called {word}", how.variant)
        _enough(pool.neither, start + size + (size if shown else 0), NO_CATEGORY, how.variant)
        for gold, comments in (word, of), (f"not-{word}", pool.neither[start:]):
            for at, comment in enumerate(comments[:size]):
                examples = _examples(setting, pool, word, at, how, number)
                yield Question(comment, gold, (word, f"not-{word}"), word, examples)


def _shown(setting: Setting) -> int:
    """Examples of the category that a question needs."""
    return 1 if setting is ONE_SHOT else 2 if setting is items.FEW_SHOT_SINGLE else 0


def _numbers(setting: Setting, word: str, size: int) -> tuple[int, ...]:
    """`paper`: the numbers of the examples of the category that the first question shows; the i-th
    shows those i after them."""
    return (size, SECOND_EXAMPLE.get(word, size + size // 2))[: _shown(setting)]


def _examples(
    setting: Setting, pool: CommentPool, word: str, at: int, how: Sampling, number: int
) -> tuple[ShownExample, ...]:
    """`paper`: the i-th question shows the examples numbered i + 30 and so on; `sound`: in turn
    from those that are not asked about."""
    if not _shown(setting):
        return ()
    of, size, before = pool.categories[word], how.size, len(pool.categories) * how.size
    if how.variant == "paper":
        first, third = (at + number for number in _numbers(items.FEW_SHOT_SINGLE, word, size))
        second = pool.neither[at + size]
    else:
        left = len(of) - size
        first, third = size + (2 * at) % left, size + (2 * at + 1) % left
        rest = pool.neither[before:] or pool.neither[: number * size] or pool.neither[size:]
        second = rest[at % len(rest)]
    example = ShownExample(of[first], word)
    if setting is ONE_SHOT:
        return (example,)
    return example, ShownExample(second, f"not-{word}"), ShownExample(of[third], word)


def _mixed(pool: CommentPool, how: Sampling) -> Iterator[Question]:
    """All categories at once, with ten sets of one example each; `neither` is one more where there
    are such comments."""
    size, paper = 2 * how.size, how.variant == "paper"
    kinds = [(word, pool.categories[word], size) for word in pool]
    if pool.neither or paper or len(kinds) < 2:
        kinds.append((NEITHER, pool.neither, len(pool.categories) * size))
    labels = tuple(label for label, _, _ in kinds)
    for label, of, wanted in kinds:
        called = NO_CATEGORY if label == NEITHER else f"called {label}"
        _enough(of, wanted + (1 if paper else EXAMPLE_SETS), called, how.variant)
    times = Counter(comment.id for _, of, wanted in kinds for comment in of[: wanted + 1])
    for number in range(EXAMPLE_SETS):
        examples = tuple(
            ShownExample(of[number if paper else wanted + number], label)
            for label, of, wanted in kinds
        )
        for label, of, wanted in kinds:
            # `paper`: the first n + 1 comments less the example; `sound`: examples are none of
            # those asked about.
            asked = [*of[:number], *of[number + 1 : wanted + 1]] if paper else of[:wanted]
            for comment in asked:
                twin = label if times[comment.id] > 1 else ""
                yield Question(comment, label, labels, "", examples, str(number + 1), twin=twin)


NO_CATEGORY = "of no category"


def _enough(comments: Sequence[Comment], wanted: int, called: str, variant: Variant) -> None:
    if not comments and called == NO_CATEGORY:
        raise DataError(
            "Every comment belongs to a category. Comments of a category are asked about beside "
            "comments of none. Say which label means none with --neither LABEL."
        )
    if len(comments) < wanted:
        other = ", or --sample sound, which needs fewer examples" if variant == "paper" else ""
        raise DataError(
            f"There are {len(comments)} comments {called}, and {wanted} are needed. The sample"
            f" would be too small. Choose a smaller --size{other}."
        )


# -------------------------------------------------------------------------------------- misspelling


def _misspelt(
    pool: CommentPool, edits: Sequence[tuple[str, str]], variant: Variant
) -> Iterator[Question]:
    """Every comment of a category that holds one of the strings, as it is and with each edit that
    changes it."""
    originals = list(dict.fromkeys(original for original, _ in edits))
    for word in pool:
        for comment in pool.categories[word]:
            if not any(holds(comment.text, original, variant) for original in originals):
                continue
            plain = Question(comment, word, (word, f"not-{word}"), word)
            yield plain
            seen = {comment.text}
            for original, edit in edits:
                text = edited(comment.text, original, edit, variant)
                if text not in seen:
                    seen.add(text)
                    yield replace(plain, edit=f"{original}>{edit}", text=text)
