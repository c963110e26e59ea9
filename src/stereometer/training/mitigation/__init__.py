"""Fitting mitigations: one file a method, and what all of them share."""
