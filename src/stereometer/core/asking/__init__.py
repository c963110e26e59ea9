"""The bridge to models that only talk: two candidates, both orders, a letter for an answer."""
