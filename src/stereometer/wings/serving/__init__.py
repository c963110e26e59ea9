"""A local model behind an OpenAI-compatible server."""
