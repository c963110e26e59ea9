"""Recognising categories of speech by prompting (Chiu, Collins, Alexander 2021): settings, samples,
prompts, readers, metrics."""
