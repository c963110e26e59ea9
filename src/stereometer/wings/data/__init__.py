"""Data sets found, fetched from their public places, and kept."""
