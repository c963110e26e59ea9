"""What models say of groups beside what people say, and where two groups meet."""
