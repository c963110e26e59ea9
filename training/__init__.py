"""Scripts that made the weights shipped with the package."""
