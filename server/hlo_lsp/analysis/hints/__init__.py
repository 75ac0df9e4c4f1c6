"""Short notes between the words of a dump: sizes, allocations, sources, shapes, names, steps."""
