"""Studies with people: they write items, judge them, or rate groups, in the browser."""
