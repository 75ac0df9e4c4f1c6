"""Floor 4: questions about a dump, answered by pure functions."""
