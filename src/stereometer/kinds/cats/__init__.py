"""Context association tests: a context and its three candidates."""
