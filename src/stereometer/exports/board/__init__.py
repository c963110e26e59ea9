"""The leaderboard: ranked tables, bundles from strangers, and a hidden test that stays hidden.

`tables` and `pages` make the board from stored runs; `bundle`, `packed` and `signing` carry a run
to a host, whose `check` gives it a tier; `judge` runs a model on items that nobody has seen.
"""
