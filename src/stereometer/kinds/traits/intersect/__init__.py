"""Groups where they meet."""
