"""Speed and memory, as counts and ratios measured in one run. `make bench` prints them and writes
bench/out/*.json."""
