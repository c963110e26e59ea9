"""Joins benchmark, method and model: plan, ask, store."""
