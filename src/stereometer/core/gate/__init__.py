"""Bars held against stored runs: met, missed or undecided."""
