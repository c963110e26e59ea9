"""What a mitigation is: its card, its attribute and words, and how a model's spec names it."""
