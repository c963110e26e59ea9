"""Mitigations put onto a loaded model: into its weights, or around it."""
