"""What a mitigation is: its card, its attribute and words."""
