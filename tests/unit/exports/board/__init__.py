"""The leaderboard."""
