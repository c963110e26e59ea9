"""The leaderboard: ranked tables, bundles from strangers, and a hidden test that stays hidden.

`tables` and `site` make the board from stored runs; `bundle` carries a run to a host, whose `check`
gives it a tier; `judge` runs a model on items that nobody has seen. `seals` show that nothing was
changed.
"""
