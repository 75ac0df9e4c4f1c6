"""Compile the module text of a dump again, with the compiler of another Python."""
