"""A survey put to a model that writes."""
