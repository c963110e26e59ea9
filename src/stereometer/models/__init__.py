"""What answers requests. A backend knows nothing of stereotypes."""
