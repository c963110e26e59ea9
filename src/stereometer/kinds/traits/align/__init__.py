"""A run on groups and traits beside people's ratings."""
