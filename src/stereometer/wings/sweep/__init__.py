"""The same items under every admissible reading."""
