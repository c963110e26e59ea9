"""Checkpoints on this machine (torch and transformers)."""
