"""Groups and traits in the report: profiles, agreement with people, and groups where they meet."""
