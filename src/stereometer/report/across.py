"""Several systems in one report: how many rows were tested, and what holds over all systems.

Nothing here changes a stored verdict: those know of the other rows of their own system alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stereometer.core.show import numbers
from stereometer.core.show.table import Table, number
from stereometer.core.stats.tests import holm
from stereometer.report.systems import Group

OVER = "Over systems: p of the overall row, Holm over all systems of the table; no verdict uses it."


def by_chance(groups: Sequence[Group]) -> str:
    """How many false claims to expect among the verdicts of several systems; empty for one."""
    runs = {id(system.result): system for group in groups for system in group.systems}
    if len({system.name for system in runs.values()}) < 2:
        return ""
    rows = [
        (at, row)
        for at, system in runs.items()
        for row in system.result.estimates
        if row.p_adjusted is not None
    ]
    if not rows:
        return ""
    families = {(at, row.name, row.correction, bool(row.slice)) for at, row in rows}
    beyond = sum(bool(row.beyond_noise) for _, row in rows)
    error = 1 - groups[0].settings.level
    return (
        f"{numbers.count(len(rows), 'row')} of {numbers.count(len(runs), 'run')} were tested, in "
        f"{numbers.count(len(families), 'family', 'families')}; {beyond:,} are beyond noise. By "
        f"chance alone, expect up to {numbers.number(error * len(families))} families to claim "
        "something: verdicts are not corrected over systems."
    )


def over_systems(group: Group, names: Sequence[str], table: Table) -> Table:
    """With a column per tested metric: p corrected over the overall rows of all systems."""
    for name in names:
        found = [system.find(name, {}) for system in group.systems]
        known = [row.p for row in found if row is not None and row.p is not None]
        if len(known) < 2:
            continue
        ps = iter(holm(known))
        cells = [
            number(numbers.p_value(next(ps)) if row is not None and row.p is not None else "")
            for row in found
        ]
        head = number(f"{group.shape.metric(name).label} over systems", f"Holm over {len(known)}")
        rows = tuple((*row, cell) for row, cell in zip(table.rows, cells, strict=True))
        table = replace(table, columns=(*table.columns, head), rows=rows)
    added = len(table.columns) > len(names) + 1
    return replace(table, foot=" ".join(filter(None, [table.foot, OVER]))) if added else table
