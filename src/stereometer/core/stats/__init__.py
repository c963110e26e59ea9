"""Intervals and tests. Nothing here knows of stereotypes or models."""
