"""What is fitted here: next-sentence heads, sentiment classifiers and mitigations."""
