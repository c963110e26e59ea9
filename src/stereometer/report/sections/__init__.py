"""One file per kind of result: what the page says and shows of it."""
