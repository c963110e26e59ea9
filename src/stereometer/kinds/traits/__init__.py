"""Groups and traits: how strongly a group is tied to a trait."""
