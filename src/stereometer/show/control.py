"""Control characters made visible: a text of a data set or a model must not steer a terminal."""

from __future__ import annotations

PICTURES = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\n\t"}
VISIBLE = PICTURES | {0x7F: "\u2421"} | dict.fromkeys(range(0x80, 0xA0), "\ufffd")


def visible(text: str) -> str:
    """The text with a picture in the place of every control character but line break and tab."""
    return text.translate(VISIBLE)
