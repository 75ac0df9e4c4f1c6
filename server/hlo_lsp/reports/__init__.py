"""Reports on the memory of a program, as data and as text."""
