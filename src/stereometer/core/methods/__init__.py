"""Methods of the papers: how an item becomes requests, answers a score, and scores estimates."""
