"""Comments and what a model that was asked about them answered."""
