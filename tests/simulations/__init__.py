"""How often intervals, tests and verdicts are right, by simulation on the package's own functions.

Target terms have effects as in the released predictions: a standard deviation of ss of 4.7 points
over terms and of lms of 3, besides what 53 items a term leave open. `python -m
tests.simulations.figures` prints the figures that docs/uncertainty.md holds.
"""
