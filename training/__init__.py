"""Scripts that train weights which ship with the package."""
