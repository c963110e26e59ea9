"""One set of items under every admissible reading."""
