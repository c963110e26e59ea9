"""What gives scores without answering requests: gold baselines and replayed files."""
