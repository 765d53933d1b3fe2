"""A study without its trainings: what its file says, its rows, and the page of both. It needs no torch."""
