"""Tests of what is said of mitigations."""
