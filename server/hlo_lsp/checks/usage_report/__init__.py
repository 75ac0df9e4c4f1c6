"""The rule on the memory usage report, which XLA computes only from the buffer assignment."""
