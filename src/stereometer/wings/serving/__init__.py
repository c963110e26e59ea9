"""A local model behind an OpenAI-compatible server."""

from stereometer.wings.serving.server import ModelServer, running

__all__ = ["ModelServer", "running"]
