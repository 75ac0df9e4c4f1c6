"""Rules on the buffer assignment: numbers, sizes, purposes, memory spaces, overlaps."""
