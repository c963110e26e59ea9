"""Backends without weights: baselines and testing aids."""
