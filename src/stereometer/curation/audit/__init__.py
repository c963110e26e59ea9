"""What is wrong with items, and what that does to the numbers."""
