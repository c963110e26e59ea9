"""What an item of each shape is, and how its scores are counted, paired and shown."""
