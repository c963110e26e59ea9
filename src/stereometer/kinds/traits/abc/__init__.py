"""Social groups, traits and templates (Cao et al. 2022): data files, their grammar, and the items
made of them."""
