"""Verbs that ask models: their signatures are what can be typed and what Python takes."""
