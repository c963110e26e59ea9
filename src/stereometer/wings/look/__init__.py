"""What there is: names, benchmarks with their cards, stored runs, values that papers published."""
