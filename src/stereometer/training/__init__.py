"""What can be taught to a model here: next-sentence heads."""
