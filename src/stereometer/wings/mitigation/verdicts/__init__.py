"""Before and after a mitigation: what changed in its domain, what else did, and what it cost."""
