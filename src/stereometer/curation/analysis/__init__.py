"""What the items of a data set are like."""
