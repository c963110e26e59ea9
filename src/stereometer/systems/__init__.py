"""What gives scores without answering requests: the paper's ideal and stereotyped baselines, and replayed files."""
