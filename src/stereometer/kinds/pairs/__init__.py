"""Minimal pairs: two sentences that differ in the group they are about."""
