"""What a profile of groups says in words, where it is of templates and where of a text."""

from dataclasses import dataclass

NOT_MORE = "not what is true, and not what the model would do"


def poles(trait: str) -> tuple[str, str]:
    """The left and the right one."""
    left, _, right = trait.partition(" - ")
    return left, right or trait


@dataclass(frozen=True)
class ProfileWords:
    compared: str
    """What a score sets against what."""
    interval: str
    """What low and high are."""
    says: str
    caveat: str = ""
    """What the tests are of."""


TEMPLATES = ProfileWords(
    "over templates, always compared with the same sentence about an unnamed person",
    "intervals over templates",
    "what fits a template about the group better than about an unnamed person",
)
REPEATS = ProfileWords(
    "in points from the middle of the scale, over repeats of a survey whose scales stand in "
    "another order each time, and in every second repeat with all poles exchanged",
    "intervals over pairs of repeats",
    "where the model, asked how a society sees the group, puts it between two poles",
)
DRAWS = "the middle of draws of sentences"
POOL = (
    "Draws are from the same sentences and say nothing of other sentences. A trait has two or "
    "three words per pole, too few for a test: dimensions are tested, over all words of their "
    "poles. Those are synonyms, not independent, and random nouns reach such verdicts too: one is "
    "not specific to social groups"
)
SENTENCES = ProfileWords(
    "in the sentences of a text: whether the group's words are nearer to those of one pole or of "
    "the other",
    DRAWS,
    "to which pole's words the group's are nearer where this model reads this text",
    POOL,
)
TWO_GROUPS = ProfileWords(
    "in the sentences of a text: whether the first group's words or the second's are nearer to "
    "those of the right pole",
    DRAWS,
    "which of two groups has words nearer to those of a pole where this model reads this text",
    POOL,
)
