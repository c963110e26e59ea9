"""ABC and SeT (Cao et al. 2022): associations between groups and traits."""
