"""What people may be asked about themselves: every question can be left out."""

from __future__ import annotations

NO_ANSWER = "prefer-not-to-say"
CHOICES = {
    "gender": ("woman", "man", "non-binary", "another"),
    "race": ("asian", "black", "hispanic", "indigenous", "middle-eastern", "white", "another"),
    "education": ("school", "some-college", "college", "postgraduate"),
    "area": ("city", "suburb", "country"),
}
NUMBERS = {"age": (18, 110), "years": (0, 110)}
TEXTS = {"state": 60}
QUESTIONS = (*CHOICES, *NUMBERS, *TEXTS)
