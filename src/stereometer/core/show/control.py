"""Control characters made visible: a text of a data set or a model must not steer a terminal, nor
turn what stands beside it around."""

from __future__ import annotations

PICTURES = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"}
BIDIRECTIONAL = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
"""Unicode's property Bidi_Control."""
UNSEEN = (*range(0x80, 0xA0), *BIDIRECTIONAL)
VISIBLE = PICTURES | {0x7F: "\u2421"} | dict.fromkeys(UNSEEN, "\ufffd")


def visible(text: str) -> str:
    """The text with a picture in the place of every control character but line break and tab."""
    return text.translate(VISIBLE)
