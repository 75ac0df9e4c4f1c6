"""The memory usage report."""
