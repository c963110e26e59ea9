"""Stored runs in formats of other programs."""
