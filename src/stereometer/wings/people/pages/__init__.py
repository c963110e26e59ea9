"""The pages of a study, served."""
