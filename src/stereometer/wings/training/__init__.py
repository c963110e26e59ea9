"""What is fitted here: next-sentence heads and sentiment classifiers."""
