"""Scores and answers that were made elsewhere, counted as a run is."""
