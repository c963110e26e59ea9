"""How far two texts are from each other, in characters."""

from __future__ import annotations


def is_farther(first: str, second: str, limit: int) -> bool:
    """Whether more than `limit` characters must be added, left out or changed (Levenshtein).

    Only the cells of the table that lie within the limit of its diagonal are filled in.
    """
    if abs(len(first) - len(second)) > limit:
        return True
    row = {at: at for at in range(min(limit, len(second)) + 1)}
    for number, letter in enumerate(first, 1):
        above, row = row, {}
        for at in range(max(0, number - limit), min(len(second), number + limit) + 1):
            steps = [above.get(at, limit) + 1, row.get(at - 1, limit) + 1]
            if at:
                steps.append(above.get(at - 1, limit + 1) + (letter != second[at - 1]))
            row[at] = min(steps)
        if min(row.values()) > limit:
            return True
    return row[len(second)] > limit
