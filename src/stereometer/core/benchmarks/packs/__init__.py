"""Sets in other languages as data: a folder with `pack.toml`, and how it becomes a benchmark."""
