"""What is known to go wrong in sets of stereotypes, found by machine, and what it does to the numbers."""
