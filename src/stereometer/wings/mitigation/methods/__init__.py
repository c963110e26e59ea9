"""Fitting mitigations: one file per method, and what all of them share."""
