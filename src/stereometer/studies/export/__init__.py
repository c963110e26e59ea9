"""What a study leaves behind: files that other commands read, and what to publish with them."""
