"""The rule on the memory usage report, which XLA makes of the buffer assignment alone."""
