"""A PDF whose bytes depend on its picture alone.

The converter numbers objects and orders the names of a page's resources by chance. Here resources
stand in the order of their names, and objects in the order in which they are first referred to.
"""

from __future__ import annotations

import re
from itertools import pairwise

ENTRY = re.compile(rb"(\d{10}) \d{5} n")
REFERENCE = re.compile(rb"\b(\d+) 0 R\b")
RESOURCES = re.compile(rb"(?:\n +/\w+ \d+ 0 R(?=\n))+")


def reproducible(pdf: bytes) -> bytes:
    if b"\nxref\n" not in pdf:
        return pdf  # another layout, of another version of the converter
    table = int(pdf.rpartition(b"startxref\n")[2].split()[0])
    trailer = pdf[pdf.rindex(b"trailer") : pdf.rindex(b"startxref")]
    objects = _objects(pdf, table)
    order = _references(trailer)
    for number in order:  # which grows by what each refers to
        order += [other for other in _references(objects[number][0]) if other not in order]
    numbers = {old: b"%d 0 R" % new for new, old in enumerate(order, 1)}
    written = pdf[: pdf.index(b" 0 obj")].rpartition(b"\n")[0] + b"\n"
    entries = b"xref\n0 %d\n0000000000 65535 f\r\n" % (len(order) + 1)
    for new, old in enumerate(order, 1):
        entries += b"%010d 00000 n\r\n" % len(written)
        head, stream = objects[old]
        written += b"%d 0 obj" % new + _renumbered(head, numbers) + stream
    size = re.sub(rb"/Size \d+", b"/Size %d" % (len(order) + 1), _renumbered(trailer, numbers))
    return written + entries + size + b"startxref\n%d\n%%%%EOF" % len(written)


def _objects(pdf: bytes, table: int) -> dict[int, tuple[bytes, bytes]]:
    """By number what may refer to others, resources in order, and the stream after it."""
    objects = {}
    starts = sorted(int(entry[1]) for entry in ENTRY.finditer(pdf, table))
    for start, end in pairwise((*starts, table)):
        number, _, body = pdf[start:end].partition(b" 0 obj")
        head, mark, stream = body.partition(b"\nstream\n")
        objects[int(number)] = RESOURCES.sub(_by_name, head), mark + stream
    return objects


def _by_name(resources: re.Match[bytes]) -> bytes:
    lines = resources[0].split(b"\n")[1:]
    return b"".join(b"\n" + line for line in sorted(lines, key=lambda line: line.split()[0]))


def _references(text: bytes) -> list[int]:
    return list(dict.fromkeys(map(int, REFERENCE.findall(text))))


def _renumbered(text: bytes, numbers: dict[int, bytes]) -> bytes:
    return REFERENCE.sub(lambda found: numbers[int(found[1])], text)
