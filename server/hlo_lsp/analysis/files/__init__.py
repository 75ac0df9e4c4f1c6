"""Whether a file is whole, in order, and of one compile with its siblings."""
