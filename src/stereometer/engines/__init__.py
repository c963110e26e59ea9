"""How requests reach a backend."""
