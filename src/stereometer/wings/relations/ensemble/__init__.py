"""One system made of the stored scores of several."""
