"""Where requests are answered."""
